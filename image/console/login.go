package console

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"

	"sluice/cli/remote"
)

// rescue is the name that leads to the menu although management answers: for who has lost the password and is at the machine.
const rescue = "rescue"

// errWrong says that the one password of a connection was not the right one.
var errWrong = errors.New("the password is wrong")

// slowest is the longest delay after a failed login.
const slowest = 30 * time.Second

var userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,126}$`)

// login lets one operator in. Management asks for the password, and decides; it counts failures here as it does those of any address.
func (c *Console) login() error {
	name, err := c.line("login: ")
	if err != nil {
		return err
	}
	switch {
	case name == "":
		return nil
	case name == rescue:
		return c.menu(false)
	case !userName.MatchString(name):
		c.say("That is no name of a user.")
		return nil
	}
	if err := c.vouch(); err != nil {
		return err
	}
	asked := false
	client, err := remote.Dial(remote.Options{User: name, Address: c.Door, KnownHosts: c.KnownHosts, Password: func(string) (string, error) {
		if asked { // one try a connection: the delay below is between them
			return "", errWrong
		}
		asked = true
		return c.secret("Password: ")
	}})
	if err != nil {
		return c.refused(err)
	}
	defer client.Close()
	c.failed = 0
	if _, err := remote.Shell(client); err != nil {
		return err
	}
	return nil
}

// refused says why nobody is let in, and holds the next try back.
func (c *Console) refused(err error) error {
	if errors.Is(err, errGone) || strings.Contains(err.Error(), errGone.Error()) {
		return errGone
	}
	if !errors.Is(err, errWrong) && !strings.Contains(err.Error(), "unable to authenticate") {
		return fmt.Errorf("management lets nobody in just now: %w", err)
	}
	wait := c.Delay
	if wait == 0 {
		wait = time.Second
	}
	wait <<= min(c.failed, 5)
	c.failed++
	time.Sleep(min(wait, slowest))
	c.say("Login incorrect")
	return nil
}

// vouch writes down the key that management must show: the machine has it itself, so that nobody else on it can take its place.
func (c *Console) vouch() error {
	text, err := os.ReadFile(filepath.Join(c.Config, "ssh_host_key"))
	if err != nil {
		return fmt.Errorf("management's key is not there: %w", err)
	}
	key, err := ssh.ParsePrivateKey(text)
	if err != nil {
		return fmt.Errorf("management's key cannot be read: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.KnownHosts), 0o755); err != nil {
		return err
	}
	line := knownhosts.Line([]string{knownhosts.Normalize(c.Door)}, key.PublicKey()) + "\n"
	return os.WriteFile(c.KnownHosts, []byte(line), 0o600)
}
