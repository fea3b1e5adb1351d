package monitor

import "sluice/mgmt/compile"

// talkSMTP is a monitor of type SMTP (RFC 5321): the server must greet and answer EHLO, or HELO as old ones do.
func talkSMTP(s *session, p *compile.Probe) (string, error) {
	r, err := readReply(s.in)
	if err == nil {
		err = r.wants("SMTP server does not greet", 220)
	}
	if err != nil {
		return "", err
	}
	name := "[127.0.0.1]" // an address in place of a name: section 4.1.3
	if p.Source.IsValid() {
		name = "[" + p.Source.Unmap().String() + "]"
	}
	if r, err = s.say("EHLO " + name); err == nil && r.code >= 500 {
		r, err = s.say("HELO " + name)
	}
	if err == nil {
		err = r.wants("SMTP server does not answer HELO", 250)
	}
	s.Write([]byte("QUIT\r\n"))
	return "SMTP server greets", err
}
