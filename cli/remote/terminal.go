package remote

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/term"
)

// Shell is an interactive session on this program's terminal, or a script read from its input if there is none.
func Shell(c *ssh.Client) (int, error) {
	s, err := c.NewSession()
	if err != nil {
		return Lost, err
	}
	defer s.Close()
	s.Stdin, s.Stdout, s.Stderr = os.Stdin, os.Stdout, os.Stderr
	if fd := int(os.Stdin.Fd()); term.IsTerminal(fd) {
		back, err := attach(s, fd)
		if err != nil {
			return Lost, err
		}
		defer back()
	}
	if err := s.Shell(); err != nil {
		return Lost, err
	}
	return code(s.Wait())
}

// attach makes the terminal the session's; back gives it back.
func attach(s *ssh.Session, fd int) (back func(), err error) {
	width, height, err := term.GetSize(fd)
	if err != nil {
		width, height = 80, 24
	}
	kind := os.Getenv("TERM")
	if kind == "" {
		kind = "vt100"
	}
	if err := s.RequestPty(kind, height, width, ssh.TerminalModes{}); err != nil {
		return nil, err
	}
	before, err := term.MakeRaw(fd)
	if err != nil {
		return nil, err
	}
	resized := make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	go func() {
		for range resized {
			if w, h, err := term.GetSize(fd); err == nil {
				_ = s.WindowChange(h, w) // a session that is gone needs none
			}
		}
	}()
	return func() {
		signal.Stop(resized)
		close(resized)
		_ = term.Restore(fd, before)
	}, nil
}
