package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"sluice/cli/grammar"
)

// talker is an appliance on which ping says something until it is ended.
type talker struct {
	*appliance
	attended bool
	fail     error
}

func (a *talker) Stream(ctx context.Context, _ string, op *grammar.Op, out io.Writer, attended bool) error {
	a.attended = attended
	fmt.Fprint(out, "first\x1b[2J\nsecond\n")
	if attended {
		<-ctx.Done()
		fmt.Fprint(out, "summary\n")
	}
	return a.fail
}

// TestTextComesWhileACommandRuns: at a terminal until Ctrl-C; without one the command knows that nobody ends it. A filter sees the
// whole of it, and control characters nobody.
func TestTextComesWhileACommandRuns(t *testing.T) {
	a := &talker{appliance: newAppliance()}
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("ping 10.2.0.11\r")
	c.sees("first[2J\r\nsecond\r\n")
	c.types("\x03")
	c.sees("summary\r\n Done\r\n> ")
	c.types("ping 10.2.0.11 | grep -c s\r")
	c.types("\x03")
	c.sees("3\r\n Done\r\n> ")
	c.types("exit\r")
	c.ends()

	var out, errs strings.Builder
	if code := Exec(t.Context(), a, "nsroot", "ping 10.2.0.11; whoami", &out, &errs); code != 0 || a.attended || out.String() != "first[2J\nsecond\n Done\nUserName: nsroot\n Done\n" {
		t.Errorf("code %d, attended %v\n%s%s", code, a.attended, out.String(), errs.String())
	}
	a.fail = errors.New("No answer")
	out.Reset()
	if code := Exec(t.Context(), a, "nsroot", "ping 10.2.0.11", &out, &errs); code != 1 || out.String() != "first[2J\nsecond\n" || errs.String() != "ERROR: No answer\n" {
		t.Errorf("code %d\n%s%s", code, out.String(), errs.String())
	}
}
