package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// restoreAt makes a backup and restores another one, in the order in which management does it, and is killed on the way.
func restoreAt(dir string) {
	s, err := Open(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	if _, _, err = s.Load(); err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	var a *Archive
	did := s.deadly()
	fast := os.Getenv("STORE_TEST_JOURNAL") != "" // the journal is written while files are not yet in their places
	for _, w := range []struct {
		name string
		do   func() error
	}{
		{"create", func() error {
			_, err := s.Backup("before", servers("z"), Manifest{Level: "full"}, []string{"banner"})
			return err
		}},
		{"read", func() (err error) { a, err = s.ReadBackup("b", []string{"banner"}); return err }},
		{"stage", func() error { return s.Stage(a) }},
		{"commit", func() error {
			if s.Record(servers("a"), at(2)); fast {
				return s.Flush()
			}
			return nil
		}},
		{"place", func() error { return s.Place() }},
		{"save", func() error { return s.Save(servers("a"), Meta{By: "x"}) }},
		{"unstage", func() error { return s.Unstage() }},
		{"flush", func() error { return s.Flush() }},
	} {
		fmt.Println(w.name)
		did(w.do())
	}
	os.Exit(0)
}

// finishAt is the beginning of a start of management that is killed on the way.
func finishAt(dir string) {
	s, err := Open(dir)
	if err == nil {
		fmt.Println("finish")
		did := s.deadly()
		_, err = s.FinishRestore()
		did(err)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	os.Exit(0)
}

// TestBackupKilledAtEveryStep: management is killed at each step of making a backup and of restoring one, and its next start at
// one of the steps of finishing that, where there are any. The start after it has all that was before or all of the backup, files and configuration,
// and every backup that has a name is whole.
func TestBackupKilledAtEveryStep(t *testing.T) {
	commit := 0 // the first step at which it matters when the journal is written
	for _, journal := range []string{"", "early"} {
		steps, again, n := 0, 0, max(commit, 1)
		for ; ; n++ {
			dir := restorable(t)
			during, killed := killedAt(t, "restore", dir, n, "STORE_TEST_JOURNAL="+journal)
			if !killed {
				break
			}
			if steps++; commit == 0 && during != "create" && during != "read" && during != "stage" {
				commit = n
			}
			if n%3 == 0 {
				if _, killed := killedAt(t, "finish", dir, 1+n/3%9); killed {
					again++
				}
			}
			oneOfBoth(t, dir, fmt.Sprintf("step %d, %s", n, during), during)
		}
		if steps < 15 || again == 0 || journal == "" && steps < 60 {
			t.Errorf("killed at %d steps, %d of them twice", steps, again)
		}
		t.Logf("killed at %d steps, %d of them twice", steps, again)
	}
}

// restorable is a directory with a backup "b" of the configuration a and of files that hold "old"; they hold "new" by now, and the
// configuration is z.
func restorable(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := func(text string) {
		for _, name := range restoredFiles {
			putFile(t, dir, name, text, 0o755)
		}
	}
	files("old")
	if _, err := s.Backup("b", servers("a"), Manifest{Level: "full"}, []string{"banner"}); err != nil {
		t.Fatal(err)
	}
	files("new")
	s.Record(servers("z"), at(1))
	if err := errors.Join(s.Save(servers("z"), Meta{By: "x"}), s.Flush()); err != nil {
		t.Fatal(err)
	}
	return dir
}

var restoredFiles = []string{"ssl/a.pem", "ssl/deep/b.pem", "monitors/m.sh", "banner"}

// oneOfBoth looks at all there is after a kill.
func oneOfBoth(t *testing.T, dir, where, during string) {
	t.Helper()
	s, err := Open(dir)
	if err == nil {
		_, err = s.FinishRestore()
	}
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	c, problems, err := s.Load()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%s: the startup file: %v %v", where, err, problems)
	}
	startup := names(c)
	if j, problems, err := s.Restore(); err != nil && !errors.Is(err, ErrReplaced) || len(problems) > 0 {
		t.Fatalf("%s: the journal: %v %v", where, err, problems)
	} else if j != nil {
		c = j
	}
	want := map[string]string{"z": "new", "a": "old"}[startup]
	if want == "" || names(c) != startup {
		t.Fatalf("%s: %q is in force, saved is %q", where, names(c), startup)
	}
	if before := during == "create" || during == "read"; before && want != "new" || !before && during != "stage" && want != "old" {
		t.Fatalf("%s: %q is in force", where, startup)
	}
	for _, name := range restoredFiles {
		holds(t, dir, name, want)
	}
	for _, pattern := range []string{".restore*", File + ".tmp-*"} {
		if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
			t.Errorf("%s: left behind: %v", where, left)
		}
	}
	list, err := s.Backups("")
	if err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	for _, b := range list {
		if _, err := s.ReadBackup(b.Name, []string{"banner"}); err != nil {
			t.Fatalf("%s: the backup %s: %v", where, b.Name, err)
		}
	}
	kept := slices.ContainsFunc(list, func(b Backup) bool { return b.Name == "before" })
	if !slices.ContainsFunc(list, func(b Backup) bool { return b.Name == "b" }) || during != "create" && !kept {
		t.Fatalf("%s: a backup is lost: %v", where, list)
	}
	if len(s.versionFiles()) != len(s.History()) {
		t.Fatalf("%s: a version of the history is damaged", where)
	}
	if err := s.Save(servers("q"), Meta{}); err != nil {
		t.Fatalf("%s: the next save: %v", where, err)
	}
}

// TestStagingMayFail: whichever step of laying a backup ready fails, nothing has changed, and it works when there is room again.
func TestStagingMayFail(t *testing.T) {
	for n := 1; ; n++ {
		dir := restorable(t)
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.ReadBackup("b", []string{"banner"})
		if err != nil {
			t.Fatal(err)
		}
		step, failed := 0, ""
		s.disk = failing(s.disk, func(name string) error {
			if step++; step == n {
				failed = name
				return errDisk
			}
			return nil
		})
		err = s.Stage(a)
		if s.disk = realDisk; failed == "" {
			if err != nil || n < 30 {
				t.Fatalf("%d steps, %v", n, err)
			}
			return
		}
		if err == nil || !strings.HasPrefix(err.Error(), "The backup is not restored, nothing has changed: no space left") || strings.Contains(err.Error(), "\n") {
			t.Fatalf("step %d, %s: %v", n, failed, err)
		}
		if done, err := s.FinishRestore(); done || err != nil {
			t.Fatalf("step %d, %s: the next start: %v %v", n, failed, done, err)
		}
		for _, name := range restoredFiles {
			holds(t, dir, name, "new")
		}
		if err := errors.Join(s.Stage(a), s.Place()); err != nil {
			t.Fatalf("step %d, %s: with room again: %v", n, failed, err)
		}
		for _, name := range restoredFiles {
			holds(t, dir, name, "old")
		}
	}
}
