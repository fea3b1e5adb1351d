package shell

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// DefaultIdle is how long a session may be without a key before it ends.
const DefaultIdle = 900 * time.Second

// mode is how a session prints: `set cli mode` and `set cli prompt`.
type mode struct {
	page, color bool
	idle        time.Duration // 0: never
	prompt      string
}

// defaultMode: paging is off, as on the reference product, where tools rely on it.
func defaultMode() mode { return mode{idle: DefaultIdle} }

// change executes set, unset, clear and show of the session's own objects; the text is for show.
func (m *mode) change(op *grammar.Op) (string, error) {
	if op.Object == schema.Of[schema.CLIPrompt]() {
		return m.changePrompt(op), nil
	}
	if op.Verb == "show" {
		onOff := map[bool]string{true: "ON", false: "OFF"}
		return fmt.Sprintf("Page: %s\nColor: %s\nTimeout: %d\n", onOff[m.page], onOff[m.color], int(m.idle.Seconds())), nil
	}
	for _, a := range op.Args {
		switch a.Field.CLI {
		case "page":
			m.page = a.Value == "ON"
		case "color":
			m.color = a.Value == "ON"
		case "timeout":
			m.idle = DefaultIdle
			if op.Verb == "set" {
				seconds, err := strconv.Atoi(a.Value)
				if err != nil {
					return "", schema.Refuse(schema.BadNumber, a.Field.CLI, a.Value)
				}
				m.idle = time.Duration(seconds) * time.Second
			}
		}
	}
	return "", nil
}

func (m *mode) changePrompt(op *grammar.Op) string {
	switch op.Verb {
	case "set":
		m.prompt, _ = op.Arg("promptString")
	case "clear":
		m.prompt = ""
	case "show":
		return "CLI prompt is: " + m.promptOrNone() + "\n"
	}
	return ""
}

func (m *mode) promptOrNone() string {
	if m.prompt == "" {
		return "not set"
	}
	return `"` + m.prompt + `"`
}

// promptText expands the codes of the prompt. Tools look for a > at its end.
func (m *mode) promptText(user, host string, number int, now time.Time) string {
	codes := strings.NewReplacer("%!", strconv.Itoa(number), "%u", user, "%h", host, "%t", now.Format("03:04"),
		"%T", now.Format("15:04"), "%d", now.Format("Mon Jan 02 2006"), "%%", "%")
	return codes.Replace(m.prompt) + "> "
}
