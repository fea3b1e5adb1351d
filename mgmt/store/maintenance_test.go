package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKeptBackup: maintenance outlives management, not the machine's run; a damaged file says so once.
func TestKeptBackup(t *testing.T) {
	dir := t.TempDir()
	boot := filepath.Join(t.TempDir(), "boot_id")
	open := func(run string) *Store {
		t.Helper()
		if err := os.WriteFile(boot, []byte(run+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		s.journal.path = boot
		return s
	}
	is := func(s *Store, want ...uint8) {
		t.Helper()
		if got, err := s.KeptBackup(); err != nil || !slices.Equal(got, want) {
			t.Errorf("kept backup: %v, %v; want %v", got, err, want)
		}
	}
	name := filepath.Join(dir, MaintenanceFile)
	s := open("one")
	is(s)
	for _, ids := range [][]uint8{{7}, {255, 1, 7}, nil, nil, {5, 60}} {
		if err := s.KeepBackup(ids); err != nil {
			t.Fatal(err)
		}
		slices.Sort(ids)
		is(open("one"), ids...)
	}
	if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", st.Mode(), err)
	}
	is(open("two"))
	is(open("one"), 5, 60)
	for _, bad := range []string{"one\n5\n0\n", "one\n5\n256\n", "one\n5\n-1\n", "one\n5\nx", "one\n5\n6", "one\n5\n\n"} {
		if err := os.WriteFile(name, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := open("one").KeptBackup()
		if err == nil || !strings.Contains(err.Error(), "damaged; give force vrID N -backup again") || !slices.Equal(got, []uint8{5}) {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
		is(open("one"))
	}
	for _, void := range []string{"", "one", "\n5\n", "ONE\n5\n"} {
		if err := os.WriteFile(name, []byte(void), 0o600); err != nil {
			t.Fatal(err)
		}
		is(open("one"))
	}
	// Where nothing can be written the operator hears of it.
	s.journal.path = filepath.Join(dir, "nothing")
	if err := s.KeepBackup([]uint8{5}); err == nil || !strings.Contains(err.Error(), "would not survive a restart of management") {
		t.Errorf("%v", err)
	}
}
