// Package remote is the client side of the shell: it logs in to an appliance by SSH, runs commands or an interactive session
// there, and sends files along. What a command means only the appliance knows.
package remote

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Exit codes of the program.
const (
	OK     = 0
	Failed = 1   // the appliance has refused a command
	Lost   = 255 // there is no session: no connection, no login, or it has ended in the middle
)

// patience is how long a connection may take.
const patience = 15 * time.Second

// Options are how to reach an appliance.
type Options struct {
	User       string
	Address    string                              // host:port
	Identities []string                            // files of private keys
	KnownHosts string                              // file of host keys
	AcceptNew  bool                                // write the key of a host that is not known into KnownHosts
	Password   func(prompt string) (string, error) // asks for one; nil: there is nobody to ask
	Timeout    time.Duration                       // of the connection; 15 s when 0
}

// Dial logs in.
func Dial(o Options) (*ssh.Client, error) {
	check, err := hostKeys(o)
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	auth, done := methods(o)
	defer done()
	conn, err := net.DialTimeout("tcp", o.Address, o.Timeout)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be reached: %w", o.Address, err)
	}
	_ = conn.SetDeadline(time.Now().Add(o.Timeout)) // one that accepts and says nothing
	config := &ssh.ClientConfig{User: o.User, Auth: auth, HostKeyCallback: func(host string, addr net.Addr, key ssh.PublicKey) error {
		_ = conn.SetDeadline(time.Time{}) // people type passwords slowly
		return check(host, addr, key)
	}}
	c, channels, requests, err := ssh.NewClientConn(conn, o.Address, config)
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("no login as %s at %s: %w", o.User, o.Address, err)
	}
	return ssh.NewClient(c, channels, requests), nil
}

// methods are the ways to log in: the agent's keys, files, a password. done closes the agent.
func methods(o Options) (all []ssh.AuthMethod, done func()) {
	done = func() {}
	var signers []ssh.Signer
	for _, path := range o.Identities {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if s, err := ssh.ParsePrivateKey(text); err == nil {
			signers = append(signers, s)
		}
	}
	if socket := os.Getenv("SSH_AUTH_SOCK"); socket != "" {
		if conn, err := net.Dial("unix", socket); err == nil {
			done = func() { conn.Close() }
			if more, err := agent.NewClient(conn).Signers(); err == nil {
				signers = append(signers, more...)
			}
		}
	}
	if len(signers) > 0 {
		all = append(all, ssh.PublicKeys(signers...))
	}
	if o.Password != nil {
		all = append(all, ssh.RetryableAuthMethod(ssh.PasswordCallback(func() (string, error) {
			return o.Password(fmt.Sprintf("%s@%s's password: ", o.User, o.Address))
		}), 3))
	}
	return all, done
}

// hostKeys is the check of the host's key against the file of known ones, as OpenSSH has it.
func hostKeys(o Options) (ssh.HostKeyCallback, error) {
	if err := os.MkdirAll(filepath.Dir(o.KnownHosts), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(o.KnownHosts, os.O_RDONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the file of known hosts cannot be opened: %w", err)
	}
	f.Close()
	known, err := knownhosts.New(o.KnownHosts)
	if err != nil {
		return nil, fmt.Errorf("the file of known hosts %s cannot be read: %w", o.KnownHosts, err)
	}
	return func(host string, addr net.Addr, key ssh.PublicKey) error {
		err := known(host, addr, key)
		var unknown *knownhosts.KeyError
		switch {
		case !errors.As(err, &unknown):
			return err
		case len(unknown.Want) > 0:
			return fmt.Errorf("the key of the host is another one than in %s: it is %s now", o.KnownHosts, ssh.FingerprintSHA256(key))
		case !o.AcceptNew:
			return fmt.Errorf("the host is not known, its key is %s: give -accept-new if it is the right one", ssh.FingerprintSHA256(key))
		}
		f, err := os.OpenFile(o.KnownHosts, os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, knownhosts.Line([]string{knownhosts.Normalize(host)}, key))
		return errors.Join(err, f.Close())
	}, nil
}

// Run executes one command line there with input, which may be nil, and returns the exit code.
func Run(c *ssh.Client, line string, in io.Reader, out, errs io.Writer) (int, error) {
	s, err := c.NewSession()
	if err != nil {
		return Lost, err
	}
	defer s.Close()
	s.Stdin, s.Stdout, s.Stderr = in, out, errs
	return code(s.Run(line))
}

// code is the exit code of what was run.
func code(err error) (int, error) {
	var exit *ssh.ExitError
	switch {
	case err == nil:
		return OK, nil
	case errors.As(err, &exit):
		return exit.ExitStatus(), nil
	}
	return Lost, fmt.Errorf("the session has ended: %w", err)
}
