package remote

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Shell is an interactive session on this program's terminal, or a script read from its input if there is none.
func Shell(c *ssh.Client) (int, error) {
	s, err := c.NewSession()
	if err != nil {
		return Lost, err
	}
	defer s.Close()
	s.Stdout, s.Stderr = os.Stdout, os.Stderr
	if fd := int(os.Stdin.Fd()); !term.IsTerminal(fd) {
		s.Stdin = os.Stdin
	} else {
		end, err := keys(s, fd)
		if err != nil {
			return Lost, err
		}
		defer end()
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

// keys brings what is typed to the session until end: what is typed after it is for whoever has the terminal then.
func keys(s *ssh.Session, fd int) (end func(), err error) {
	to, err := s.StdinPipe()
	if err != nil {
		return nil, err
	}
	stop, stopped, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer to.Close()
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(stop.Fd()), Events: unix.POLLIN}}
		for buf := make([]byte, 4096); ; {
			if _, err := unix.Poll(fds, -1); err != nil && !errors.Is(err, unix.EINTR) || fds[1].Revents != 0 {
				return
			}
			if fds[0].Revents == 0 {
				continue
			}
			n, err := unix.Read(fd, buf)
			if n <= 0 && !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
				return
			}
			if n > 0 {
				if _, err := to.Write(buf[:n]); err != nil {
					return
				}
			}
		}
	}()
	return func() {
		stopped.Close()
		<-ended
		stop.Close()
	}, nil
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
