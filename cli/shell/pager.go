package shell

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"
)

const more = "--More--"

// pager writes text to a terminal screen by screen.
type pager struct {
	w      io.Writer // the terminal itself: lines end in CR LF
	keys   func() (byte, error)
	size   func() (width, height int)
	paging bool
}

// chunk is how many bytes are written at once, so that a long text is neither a write a line nor one that Ctrl-C
// cannot stop.
const chunk = 4096

// write writes the text; it ends early when ctx does or the operator quits.
func (p *pager) write(ctx context.Context, text string) {
	used := 0 // rows of the screen that are filled
	var ready strings.Builder
	flush := func() bool {
		_, err := io.WriteString(p.w, ready.String())
		ready.Reset()
		return err == nil && ctx.Err() == nil
	}
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		width, height := p.size()
		rows := max(1, (utf8.RuneCountInString(line)+width-1)/width)
		if p.paging && used > 0 && used+rows > height-1 {
			if !flush() {
				return
			}
			switch p.ask() {
			case 'q':
				return
			case '\r':
				used = max(0, height-1-rows)
			case 'G':
				p.paging = false
			default:
				used = 0
			}
		}
		ready.WriteString(line + "\r\n")
		if ready.Len() >= chunk && !flush() {
			return
		}
		used += rows
		text = rest
	}
	flush()
}

// ask shows --More-- and returns what the operator wants: ' ' a screen, '\r' a line, 'G' all, 'q' no more.
func (p *pager) ask() byte {
	io.WriteString(p.w, "\x1b[7m"+more+"\x1b[0m")
	defer io.WriteString(p.w, "\r\x1b[K")
	for {
		switch key, err := p.keys(); {
		case err != nil || key == 'q' || key == 'Q' || key == ctrlC:
			return 'q'
		case key == '\r' || key == '\n':
			return '\r'
		case key == 'G':
			return 'G'
		case key == ' ' || key == 'f':
			return ' '
		}
	}
}

// clean removes control characters, so that no name or text of the configuration plays with the terminal.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, text)
}

// whole ends a text with a line end, unless it is empty.
func whole(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
