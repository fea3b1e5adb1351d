// Package console is what the appliance says on its serial line and its screen: the questions of the first boot, the login into the
// appliance's own shell, and a menu for when management does not answer. It never opens a shell of the system.
package console

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"sluice/image/firstboot"
	"sluice/image/notes"
	"sluice/image/record"
)

// Machine is what the console has the machine do.
type Machine interface {
	Apply() error     // the box's record has changed: settings anew, management restarted
	Restart() error   // management and dataplane
	Hold() error      // management ends, until Restart
	Reboot() error    // of the machine
	PowerOff() error  // of the machine
	Address() string  // what the management port has now, or ""
	Wrong() []string  // what is wrong with the programs, a sentence each
	InMemory() bool   // the configuration is in memory, for its partition is damaged
	NewVolume() error // makes that partition anew
}

// Options are what the console works with.
type Options struct {
	Config, Data, Notes string // folders
	Door                string // of management: address and port
	KnownHosts          string // file that is written before each login
	Release             string // what is shown above the login
	Machine             Machine
	Patience            time.Duration // until management counts as not answering
	Delay               time.Duration // after a failed login, doubled with each; 1 s when 0
}

// Console is one terminal, the program's standard input and output.
type Console struct {
	Options
	in     *os.File
	out    io.Writer
	fd     int
	rest   []byte // read and not yet asked for
	failed int    // logins in a row
}

// errGone says that nobody is at the other end of the line any more.
var errGone = errors.New("the terminal is gone")

// Run keeps the console until its terminal goes away.
func Run(o Options) error {
	c := &Console{Options: o, in: os.Stdin, out: os.Stdout, fd: int(os.Stdin.Fd())}
	if !term.IsTerminal(c.fd) {
		return errors.New("standard input is no terminal")
	}
	signal.Ignore(syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTSTP)        // keys that end programs end none here
	if w, h, err := term.GetSize(c.fd); err == nil && (w == 0 || h == 0) { // a serial line does not tell
		_ = unix.IoctlSetWinsize(c.fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	for {
		if err := c.turn(); errors.Is(err, errGone) {
			return nil
		} else if err != nil {
			c.say("%v", err)
		}
	}
}

// turn is one screen.
func (c *Console) turn() error {
	c.greet()
	r, err := record.Read(c.record())
	if err != nil {
		c.say("%v", err)
	}
	if !r.Reachable() {
		return c.setUp(r)
	}
	if !c.await() {
		return c.menu(true)
	}
	return c.login()
}

func (c *Console) greet() {
	c.say("\n%s", c.Release)
	for _, s := range notes.All(c.Notes) {
		c.say("! %s", s)
	}
}

// answers tells whether management is there: it greets whoever connects (RFC 4253, 4.2).
func (c *Console) answers() bool {
	conn, err := net.DialTimeout("tcp", c.Door, 2*time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	head := make([]byte, 4)
	_, err = io.ReadFull(conn, head)
	return err == nil && string(head) == "SSH-"
}

// await waits for management. A key ends it earlier.
func (c *Console) await() bool {
	for end, told := time.Now().Add(c.Patience), false; ; {
		if c.answers() {
			return true
		}
		if time.Now().After(end) {
			return false
		}
		if !told {
			c.say("Management is starting. Press Enter for a menu.")
			told = true
		}
		if c.typed(time.Second) {
			_, err := c.line("")
			return err == nil && c.answers()
		}
	}
}

// typed waits for a key.
func (c *Console) typed(for_ time.Duration) bool {
	if len(c.rest) > 0 {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, int(for_.Milliseconds()))
	return n > 0 && err == nil
}

func (c *Console) say(format string, args ...any) {
	fmt.Fprintln(c.out, clean(fmt.Sprintf(format, args...)))
}

// clean is a text that moves nothing on a terminal: lines of logs and files are shown here.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, s)
}

// longest is the longest line that is taken.
const longest = 1024

// line asks for a line.
func (c *Console) line(prompt string) (string, error) {
	fmt.Fprint(c.out, clean(prompt))
	for {
		if i := strings.IndexByte(string(c.rest), '\n'); i >= 0 {
			line := string(c.rest[:i])
			c.rest = c.rest[i+1:]
			return strings.TrimSpace(clean(line)), nil
		}
		if len(c.rest) > longest {
			c.rest = nil
		}
		buf := make([]byte, 512)
		n, err := c.in.Read(buf)
		if n == 0 || err != nil { // also Ctrl-D on an empty line, as at any login
			return "", errGone
		}
		c.rest = append(c.rest, buf[:n]...)
	}
}

// secret asks for a word that is not shown.
func (c *Console) secret(prompt string) (string, error) {
	fmt.Fprint(c.out, clean(prompt))
	c.rest = nil
	word, err := term.ReadPassword(c.fd)
	fmt.Fprintln(c.out)
	if err != nil {
		return "", errGone
	}
	return string(word), nil
}

// ask asks until the answer is accepted; an empty one is what stands in brackets.
func (c *Console) ask(question, otherwise string, take func(string) error) error {
	for {
		prompt := question + ": "
		if otherwise != "" {
			prompt = fmt.Sprintf("%s [%s]: ", question, otherwise)
		}
		s, err := c.line(prompt)
		if err != nil {
			return err
		}
		if s == "" {
			s = otherwise
		}
		if err := take(s); err == nil {
			return nil
		} else {
			c.say("%v", err)
		}
	}
}

// Root is who is set up here.
const Root = firstboot.Root
