package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// writes are the operations that write to the disk, in the order in which a life of management does them.
var writes = []struct {
	name string
	do   func(s *Store) error
}{
	{"save", func(s *Store) error { return s.Save(servers("a"), Meta{By: "x"}) }},
	{"change", func(s *Store) error { s.Record(servers("a", "b"), at(1)); return s.Flush() }},
	{"save again", func(s *Store) error { return s.Save(servers("a", "b"), Meta{By: "x"}) }},
	{"way back", func(s *Store) error { return s.KeepReturn(wayBack("a", "b")) }},
	{"commit", func(s *Store) error { s.Record(servers("c"), at(2)); return s.Flush() }},
	{"longer wait", func(s *Store) error { return s.KeepReturn(wayBack("a", "b")) }},
	{"undo", func(s *Store) error { s.Record(servers("a", "b"), at(3)); return s.Flush() }},
	{"done", func(s *Store) error { return s.DropReturn() }},
	{"addresses", func(s *Store) error { return s.KeepAddresses([]Addresses{{Server: "a"}}) }},
	{"draft", func(s *Store) error { s.NoteDraft(draft("d")); return s.Flush() }},
	{"draft again", func(s *Store) error { s.NoteDraft(draft("d", "e")); return s.Flush() }},
	{"draft in force", func(s *Store) error { s.Record(servers("d", "e"), at(4)); s.NoteDraft(nil); return s.Flush() }},
	{"last save", func(s *Store) error { return s.Save(servers("z"), Meta{By: "x"}) }},
}

func draft(names ...string) *Draft {
	return &Draft{Config: servers(names...), Base: servers("a", "b"), Version: 3, By: "nsroot", At: time.Unix(1, 0).UTC()}
}

func wayBack(names ...string) *Return {
	return &Return{Config: servers(names...), Version: 1, Until: time.Hour, By: "nsroot", At: time.Unix(1, 0)}
}

// dieAt does the writes and kills the program at the n-th step on the disk.
func dieAt(dir string) {
	s, err := Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	doing := s.deadly()
	for _, w := range writes {
		fmt.Println(w.name)
		doing(w.do(s))
	}
	os.Exit(0)
}

// deadly kills the program at the step that its environment names: before it or, of what may be done by halves, in its middle.
// What it returns takes the error of each operation.
func (s *Store) deadly() (did func(error)) {
	n, _ := strconv.Atoi(os.Getenv("STORE_TEST_FROM"))
	step := 0
	die := errors.New("now")
	s.disk = failing(s.disk, func(name string) error {
		if step++; step != n {
			return nil
		}
		if name == "write" || name == "clear" {
			return die // half of it is then done
		}
		kill()
		return nil
	})
	return func(err error) {
		if errors.Is(err, die) || step >= n && err != nil {
			kill()
		} else if err != nil {
			fmt.Println(err)
			os.Exit(2)
		}
	}
}

func kill() {
	_ = unix.Kill(os.Getpid(), unix.SIGKILL)
	select {}
}

// TestKilledAtEveryStep: management is killed at each of the steps that writing consists of. The next one finds every file
// whole, as it was before the step or after it.
func TestKilledAtEveryStep(t *testing.T) {
	steps := 0
	for n := 1; ; n++ {
		dir := t.TempDir()
		during, killed := killedAt(t, "die-at", dir, n)
		if !killed {
			steps = n - 1
			break
		}
		whole(t, dir, fmt.Sprintf("step %d, %s", n, during), during)
	}
	if steps < 40 {
		t.Errorf("only %d steps", steps)
	}
	t.Logf("killed at %d steps", steps)
}

// killedAt lets a program of that role be killed at its n-th step; it tells during which operation that was, or that it came to
// its end before.
func killedAt(t *testing.T, role, dir string, n int, more ...string) (during string, killed bool) {
	t.Helper()
	out, err := child(t, role, dir, append(more, "STORE_TEST_FROM="+strconv.Itoa(n))...).Output()
	if err == nil {
		return "", false
	}
	doing := strings.Fields(strings.ReplaceAll(string(out), " ", "-"))
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 || len(doing) == 0 {
		t.Fatalf("step %d: %v: %s", n, err, out)
	}
	return doing[len(doing)-1], true
}

// whole looks at all files after a kill during the operation.
func whole(t *testing.T, dir, where, during string) {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	c, problems, err := s.Load()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%s: the startup file: %v %v", where, err, problems)
	}
	startup := map[string][]string{"save": {"", "a"}, "change": {"a"}, "save-again": {"a", "a b"}, "last-save": {"a b", "z"}}
	want, ok := startup[during]
	if !ok {
		want = []string{"a b"}
	}
	if !slices.Contains(want, names(c)) {
		t.Fatalf("%s: the startup file holds %q", where, names(c))
	}
	c, problems, err = s.Restore()
	if err != nil && !errors.Is(err, ErrReplaced) || len(problems) > 0 {
		t.Fatalf("%s: the journal: %v %v", where, err, problems)
	}
	if c != nil && !slices.Contains([]string{"a b", "c", "d e"}, names(c)) {
		t.Fatalf("%s: the journal holds %q", where, names(c))
	}
	undo, problems, err := s.ReturnPoint()
	if err != nil || len(problems) > 0 || undo != nil && names(undo.Config) != "a b" {
		t.Fatalf("%s: the way back: %v %v %v", where, undo, problems, err)
	}
	must := slices.Contains([]string{"commit", "longer-wait", "undo"}, during)
	if must && undo == nil {
		t.Fatalf("%s: there is no way back", where)
	}
	d, err := s.LastDraft()
	if err != nil || d != nil && (names(d.Base) != "a b" || names(d.Config) != "d" && names(d.Config) != "d e" || d.Version != 3 || d.By != "nsroot") {
		t.Fatalf("%s: the candidate: %+v %v", where, d, err)
	}
	switch must := slices.Contains([]string{"draft-again", "draft-in-force"}, during); {
	case must && d == nil && (c == nil || names(c) != "d e"):
		t.Fatalf("%s: the candidate is lost, and is not in force", where)
	case d != nil && !must && during != "draft" && during != "addresses" && during != "last-save":
		t.Fatalf("%s: there is a candidate already", where)
	}
	files := s.versionFiles()
	if len(files) != len(s.History()) {
		t.Fatalf("%s: a version of the history is damaged", where)
	}
	for _, f := range files {
		if _, problems, err := s.AtVersion(f.number); err != nil || len(problems) > 0 {
			t.Fatalf("%s: version %d: %v %v", where, f.number, err, problems)
		}
	}
	if _, err := s.LastAddresses(); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	if err := s.DropReturn(); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(servers("q"), Meta{}); err != nil {
		t.Fatalf("%s: the next save: %v", where, err)
	}
}
