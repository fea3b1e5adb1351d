package monitor

import "sluice/mgmt/compile"

// talkFTP is a monitor of type FTP (RFC 959): the server must greet and, with a userName, let that user in.
func talkFTP(s *session, p *compile.Probe) (string, error) {
	if err := ftpLogin(s, p.Ask.UserName, p.Ask.Password); err != nil {
		return "", err
	}
	s.Write([]byte("QUIT\r\n"))
	if p.Ask.UserName == "" {
		return "FTP server greets", nil
	}
	return "FTP login completed", nil
}

func ftpLogin(s *session, user, password string) error {
	r, err := readReply(s.in)
	if err == nil && r.code == 120 { // ready in a moment
		r, err = readReply(s.in)
	}
	if err != nil {
		return err
	}
	if err := r.wants("FTP server does not greet", 220); err != nil || user == "" {
		return err
	}
	if r, err = s.say("USER " + user); err != nil {
		return err
	}
	if r.code == 331 {
		if r, err = s.say("PASS " + password); err != nil {
			return err
		}
	}
	return r.wants("FTP login of user "+user+" refused", 230, 202)
}
