package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
)

// ReturnFile is the name of the file with the configuration that comes back unless a commit is confirmed. It is on the disk
// before that commit changes anything and goes when it is confirmed or undone.
const ReturnFile = "return.xml"

const brokenReturn = ReturnFile + ".broken"

// ErrUnconfirmed is the answer to a save while a commit waits to be confirmed: the startup configuration must not be one
// that may have cut the operator off.
var ErrUnconfirmed = errors.New("Operation not permitted [save ns config]: a commit waits to be confirmed; give commit to keep it, or wait until it is undone")

// Return is a way back.
type Return struct {
	Config  *schema.Config
	Version uint64        // of the running configuration that it is
	Until   time.Duration // since the machine has started: clocks that are set do not move it
	By      string        // user who has made the commit
	At      time.Time     // of the commit
}

// SinceStart is the time since the machine has started (CLOCK_BOOTTIME).
func SinceStart() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		return 0 // every kernel of the last decade has it
	}
	return time.Duration(t.Nano())
}

// KeepReturn puts the way back onto the disk; it outlives a power cut. Until DropReturn nothing is saved.
func (s *Store) KeepReturn(r *Return) error {
	boot, err := s.boot()
	if err != nil {
		return err
	}
	text, err := s.writer.Text(r.Config, nil, Meta{})
	if err != nil {
		return err
	}
	head := fmt.Sprintf("<?sluice-return boot=%q until=\"%d\" version=\"%d\" by=%q at=%q sum=%q?>\n", boot, r.Until, r.Version, plainWord(r.By),
		r.At.UTC().Format(time.RFC3339), sumOfText(text[1:]))
	s.saving.Lock()
	defer s.saving.Unlock()
	if err := s.put(ReturnFile, slices.Insert(text, 1, []byte(head))); err != nil {
		return err
	}
	s.returning = true
	return s.disk.syncDir(s.dir)
}

// plainWord keeps a user's name from ending the instruction that it stands in.
func plainWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '.' || r == '-' || r == '@' || r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z') {
			return r
		}
		return '_'
	}, s)
}

// sealed are the words of a head that stands in a file behind the first line, and what follows it. The last of them is the sum of
// that; without such a head or with another sum there are none.
func sealed(data []byte, head *regexp.Regexp) (words []string, body []byte) {
	rest, _ := bytes.CutPrefix(data, []byte(render.Head))
	m := head.FindSubmatch(rest)
	if m == nil {
		return nil, nil
	}
	body = rest[len(m[0]):]
	if sumOf(body) != string(m[len(m)-1]) {
		return nil, nil
	}
	for _, word := range m {
		words = append(words, string(word))
	}
	return words, body
}

// DropReturn removes the way back. Without one it does nothing.
func (s *Store) DropReturn() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	was, err := s.drop(ReturnFile)
	if err != nil {
		return fmt.Errorf("the way back cannot be removed: %w", err)
	}
	s.returning = false
	if !was {
		return nil
	}
	return s.disk.syncDir(s.dir)
}

var returnHead = regexp.MustCompile(`^<\?sluice-return boot="([^"]*)" until="(\d+)" version="(\d+)" by="([^"]*)" at="([^"]*)" sum="([^"]*)"\?>\n`)

// ReturnPoint is the way back that an earlier run of management has left, or nil: there is none, or the machine was started
// again since, which has undone the commit as nothing was saved. Load must have been called before.
func (s *Store) ReturnPoint() (*Return, []Problem, error) {
	name := filepath.Join(s.dir, ReturnFile)
	data, err := readLimited(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	boot, bootErr := s.boot()
	if err == nil {
		err = bootErr
	}
	if err != nil {
		return nil, nil, fmt.Errorf("the way back %s cannot be read: %w", name, err)
	}
	m, _ := sealed(data, returnHead)
	if m == nil {
		aside := filepath.Join(s.dir, brokenReturn)
		if err := os.Rename(name, aside); err != nil {
			return nil, nil, fmt.Errorf("the way back %s is damaged and cannot be put aside: %w", name, err)
		}
		return nil, nil, fmt.Errorf("the way back of a commit that was not confirmed is damaged, the commit stays in force; it is put aside as %s", aside)
	}
	if m[1] != boot {
		return nil, nil, s.DropReturn()
	}
	until, _ := strconv.ParseInt(m[2], 10, 64)
	version, _ := strconv.ParseUint(m[3], 10, 64)
	at, _ := time.Parse(time.RFC3339, m[5])
	r := render.ReadXML(data, render.Options{Check: s.Check, Own: true})
	if r.Newer != nil {
		return nil, nil, fmt.Errorf("the way back of a commit that was not confirmed is not used, the commit stays in force: %w", r.Newer)
	}
	s.saving.Lock()
	s.returning = true
	s.saving.Unlock()
	return &Return{r.Config, version, time.Duration(until), m[4], at}, r.Problems, nil
}
