package machine

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// Console is a machine's serial console: all that it has said so far, and a place up to which somebody has read it.
type Console struct {
	mu     sync.Mutex
	text   []byte
	read   int           // up to here what was waited for has come
	news   chan struct{} // closed and replaced when something is said
	closed chan struct{}
	in     io.WriteCloser
}

// keyPause is between two keys: the UART of a machine that is starting has a short queue.
const keyPause = 5 * time.Millisecond

func newConsole(out io.Reader, in io.WriteCloser) *Console {
	c := &Console{news: make(chan struct{}), closed: make(chan struct{}), in: in}
	go c.listen(out)
	return c
}

func (c *Console) listen(out io.Reader) {
	defer close(c.closed)
	buf := make([]byte, 4096)
	for {
		n, err := out.Read(buf)
		if n > 0 {
			c.mu.Lock()
			c.text = append(c.text, buf[:n]...)
			close(c.news)
			c.news = make(chan struct{})
			c.mu.Unlock()
		}
		if err != nil {
			return
		}
	}
}

// Wait waits until the console says one of the texts after what was waited for before, and returns which: the one that comes
// first. What follows it can be waited for next.
func (c *Console) Wait(most time.Duration, texts ...string) (string, error) {
	deadline := time.After(most)
	for {
		c.mu.Lock()
		rest, news := string(c.text[c.read:]), c.news
		at, which := -1, ""
		for _, t := range texts {
			if i := strings.Index(rest, t); i >= 0 && (at < 0 || i < at) {
				at, which = i, t
			}
		}
		if at >= 0 {
			c.read += at + len(which)
			c.mu.Unlock()
			return which, nil
		}
		c.mu.Unlock()
		select {
		case <-news:
		case <-c.closed:
			c.mu.Lock()
			more := len(c.text) > c.read+len(rest)
			c.mu.Unlock()
			if !more {
				return "", fmt.Errorf("the machine has ended before its console said %q; at last it said:\n%s", texts, c.Tail())
			}
		case <-deadline:
			return "", fmt.Errorf("the console has not said %q within %v; at last it said:\n%s", texts, most, c.Tail())
		}
	}
}

// Type types a text, key by key. A line ends with \r.
func (c *Console) Type(text string) error {
	for i := range len(text) {
		if _, err := io.WriteString(c.in, text[i:i+1]); err != nil {
			return fmt.Errorf("the console takes no more keys: %w", err)
		}
		time.Sleep(keyPause)
	}
	return nil
}

// Text is all that the console has said.
func (c *Console) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.text)
}

// Tail is the end of what the console has said.
func (c *Console) Tail() string {
	lines := strings.Split(strings.ReplaceAll(c.Text(), "\r", ""), "\n")
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// Copy writes all that the console has said and goes on with what it says, until the machine ends. Nothing of it counts as read.
func (c *Console) Copy(to io.Writer) error {
	for at := 0; ; {
		c.mu.Lock()
		text, news := c.text[at:len(c.text):len(c.text)], c.news
		c.mu.Unlock()
		if _, err := to.Write(text); err != nil {
			return err
		}
		at += len(text)
		select {
		case <-news:
		case <-c.closed:
			c.mu.Lock()
			rest := c.text[at:]
			c.mu.Unlock()
			_, err := to.Write(rest)
			return err
		}
	}
}
