package monitor

import (
	"bufio"
	"errors"
	"slices"
	"strings"
)

// textLineMax is the longest line of FTP, SMTP and POP3 that is accepted, in bytes (RFC 5321 section 4.5.3.1.5 asks for 512).
const textLineMax = 4096

// textLine reads a line up to CR LF, without it.
func textLine(b *bufio.Reader) (string, error) {
	raw, err := b.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || len(raw) > textLineMax {
		return "", malformedf("a line is longer than %d bytes", textLineMax)
	}
	if err != nil {
		return "", err
	}
	text, ok := strings.CutSuffix(string(raw), "\r\n")
	if !ok {
		return "", malformedf("line %.40q does not end with CR LF", string(raw))
	}
	return text, nil
}

// reply is a code and the text of its last line.
type reply struct {
	code int
	text string
}

// readReply reads a reply of FTP (RFC 959 section 4.2) or SMTP (RFC 5321 section 4.2.1). Of several lines the first and the
// last bear the code, with a dash behind the first; what stands between is not looked at, as FTP servers put anything there.
func readReply(b *bufio.Reader) (reply, error) {
	first, err := textLine(b)
	if err != nil {
		return reply{}, err
	}
	r, more, ok := replyLine(first)
	if !ok {
		return reply{}, malformedf("it is %.40q in place of a code and a text", first)
	}
	for more {
		text, err := textLine(b)
		if err != nil {
			return reply{}, err
		}
		if last, goesOn, ok := replyLine(text); ok && last.code == r.code && !goesOn {
			return last, nil
		}
	}
	return r, nil
}

// replyLine parses "220 ready" or, with more to come, "220-ready".
func replyLine(s string) (r reply, more, ok bool) {
	if len(s) < 3 || s[0] < '1' || s[0] > '5' || s[1] < '0' || s[1] > '9' || s[2] < '0' || s[2] > '9' {
		return r, false, false
	}
	if len(s) > 3 && s[3] != ' ' && s[3] != '-' {
		return r, false, false
	}
	r = reply{int(s[0]-'0')*100 + int(s[1]-'0')*10 + int(s[2]-'0'), strings.TrimSpace(s[min(4, len(s)):])}
	return r, len(s) > 3 && s[3] == '-', true
}

// say sends a line and reads the reply to it.
func (s *session) say(line string) (reply, error) {
	if _, err := s.Write([]byte(line + "\r\n")); err != nil {
		return reply{}, err
	}
	return readReply(s.in)
}

// wants is the reply that must come, or what the server said in its place to what.
func (r reply) wants(what string, codes ...int) error {
	if slices.Contains(codes, r.code) {
		return nil
	}
	return refusedf("%s: %d %.80s", what, r.code, printable(r.text))
}

// printable is text of a server that may stand in a sentence to the operator.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '\uFFFD' {
			return '?'
		}
		return c
	}, s)
}
