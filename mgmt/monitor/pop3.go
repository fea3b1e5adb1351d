package monitor

import (
	"bufio"
	"strings"

	"sluice/mgmt/compile"
)

// talkPOP3 is a monitor of type POP3 (RFC 1939): the server must greet and, with a userName, let that user in.
func talkPOP3(s *session, p *compile.Probe) (string, error) {
	err := pop3Answer(s.in, "POP3 server does not greet")
	user := p.Ask.UserName
	if err == nil && user != "" {
		for _, line := range []string{"USER " + user, "PASS " + p.Ask.Password} {
			if _, err = s.Write([]byte(line + "\r\n")); err == nil {
				err = pop3Answer(s.in, "POP3 login of user "+user+" refused")
			}
			if err != nil {
				return "", err
			}
		}
	}
	s.Write([]byte("QUIT\r\n"))
	if user == "" {
		return "POP3 server greets", err
	}
	return "POP3 login completed", err
}

// pop3Answer reads one line that must begin with +OK.
func pop3Answer(b *bufio.Reader, what string) error {
	text, err := textLine(b)
	if err != nil {
		return err
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "+OK":
		return nil
	case "-ERR":
		return refusedf("%s: %.80s", what, printable(rest))
	}
	return malformedf("it is %.40q in place of +OK or -ERR", text)
}
