package shell

import (
	"golang.org/x/term"
)

// renewals is how often a new password is asked for.
const renewals = 3

// renew asks for another password until there is one; false ends the session.
func (s *Session) renew(t *term.Terminal) bool {
	s.print("Your password must be changed before anything else works.\n")
	for range renewals {
		plain, err := t.ReadPassword("New password: ")
		if err != nil {
			s.end(err)
			return false
		}
		if plain == "" { // Ctrl-C as well
			break
		}
		again, err := t.ReadPassword("New password again: ")
		if err != nil {
			s.end(err)
			return false
		}
		if again != plain {
			s.print("ERROR: The two are not the same\n")
			continue
		}
		if err := s.o.Renew(plain); err != nil {
			s.print("ERROR: " + sentence(err) + "\n")
			continue
		}
		s.print("The password is changed. It outlives a restart of the appliance once the configuration is saved.\n")
		return true
	}
	s.print("The password is not changed: session closed\n")
	return false
}
