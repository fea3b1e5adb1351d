// Package notify plays systemd's part for tests of programs that tell it how they are (sd_notify(3)).
package notify

import (
	"net"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Listener hears what a program tells.
type Listener struct {
	t    testing.TB
	path string
	told chan string
}

// Listen has this process believe that systemd has started it and watches it, until the test ends.
func Listen(t *testing.T, watchdog time.Duration) *Listener {
	t.Helper()
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	t.Setenv("WATCHDOG_USEC", strconv.FormatInt(watchdog.Microseconds(), 10))
	l := &Listener{t: t, path: path, told: make(chan string, 10000)}
	go func() {
		b := make([]byte, 100)
		for n, err := c.Read(b); err == nil; n, err = c.Read(b) {
			l.told <- string(b[:n])
		}
	}()
	return l
}

// Hear waits for the next word, which must be this.
func (l *Listener) Hear(want string) {
	l.t.Helper()
	select {
	case got := <-l.told:
		if got != want {
			l.t.Fatalf("systemd hears %q, want %q", got, want)
		}
	case <-time.After(30 * time.Second):
		l.t.Fatalf("systemd hears nothing for 30 s, want %q", want)
	}
}

// HearAtLast waits for a word, whatever comes before it.
func (l *Listener) HearAtLast(want string) {
	l.t.Helper()
	for end := time.After(30 * time.Second); ; {
		select {
		case got := <-l.told:
			if got == want {
				return
			}
		case <-end:
			l.t.Fatalf("systemd does not hear %q within 30 s", want)
		}
	}
}

// mark is a word of ours: what was told before it is heard before it.
const mark = "MARK"

func (l *Listener) mark() {
	l.t.Helper()
	c, err := net.Dial("unixgram", l.path)
	if err == nil {
		defer c.Close()
		_, err = c.Write([]byte(mark))
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

// Forget drops what has been told so far.
func (l *Listener) Forget() {
	l.t.Helper()
	l.mark()
	l.HearAtLast(mark)
}

// Silent fails the test if something has been told that was not heard yet.
func (l *Listener) Silent(while string) {
	l.t.Helper()
	l.mark()
	select {
	case got := <-l.told:
		if got != mark {
			l.t.Fatalf("systemd hears %q %s", got, while)
		}
	case <-time.After(30 * time.Second):
		l.t.Fatalf("nothing is heard for 30 s")
	}
}
