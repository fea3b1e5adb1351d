package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/render"
)

// at is the n-th version by nsroot.
func at(n uint64) Version {
	return Version{Number: n, At: time.Unix(int64(n), 0), Changes: []Change{{User: "nsroot", Source: "192.0.2.7", Line: fmt.Sprint("add server v", n)}}}
}

// record keeps a configuration as the n-th version and waits until it is written.
func record(t *testing.T, s *Store, n uint64, rows ...string) {
	t.Helper()
	s.Record(servers(rows...), at(n))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestHistory(t *testing.T) {
	s := open(t)
	if all := s.History(); len(all) != 0 || s.LastVersion() != 0 {
		t.Fatal(all)
	}
	record(t, s, 5, "a")
	record(t, s, 6, "a", "b")
	record(t, s, 7, "a", "b") // nothing has changed
	record(t, s, 8, "c")
	all := s.History()
	var got []uint64
	for _, v := range all {
		got = append(got, v.Number)
	}
	if fmt.Sprint(got) != "[8 6 5]" || s.LastVersion() != 8 || all[1].Changes[0].Line != "add server v6" || !all[1].At.Equal(time.Unix(6, 0)) {
		t.Fatalf("%+v", all)
	}
	again, err := Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	again.journal.path = s.journal.path
	record(t, again, 9, "c") // as after a restart
	for n, want := range map[uint64]string{5: "a", 6: "a b", 8: "c"} {
		c, problems, err := again.AtVersion(n)
		if err != nil || len(problems) > 0 || names(c) != want {
			t.Errorf("version %d: %v %v %v", n, names(c), problems, err)
		}
	}
	for _, n := range []uint64{0, 4, 7, 9, 1 << 63} {
		if _, _, err := again.AtVersion(n); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("No such resource [version, %d]: the oldest that is kept is 5", n)) {
			t.Errorf("version %d: %v", n, err)
		}
	}
	if info, err := os.Stat(filepath.Join(s.dir, HistoryDir, "8.xml.gz")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a configuration may hold secrets: %v %v", info.Mode(), err)
	}
}

// TestHistoryIsBounded: in files, in changes of a version and in their length.
func TestHistoryIsBounded(t *testing.T) {
	s := open(t)
	for n := range uint64(historyFiles + 5) {
		record(t, s, n+1, fmt.Sprint("s", n))
	}
	if all := s.History(); len(all) != historyFiles || all[len(all)-1].Number != 6 {
		t.Fatalf("%d versions, the oldest %d", len(all), all[len(all)-1].Number)
	}
	v := at(500)
	for range 1000 {
		v.Changes = append(v.Changes, Change{User: "u", Line: strings.Repeat("\x01", 5000)})
	}
	s.Record(servers("long"), v)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	all := s.History()
	if got := all[0]; got.Number != 500 || len(got.Changes)+got.More != 1001 || got.More < 900 || len(got.Changes[1].Line) > historyLine+3 {
		t.Fatalf("%d changes and %d more", len(all[0].Changes), all[0].More)
	}
}

// TestHistoryOfAFlood: what comes faster than it can be written is kept as one, and says so.
func TestHistoryOfAFlood(t *testing.T) {
	s := open(t)
	for n := range uint64(500) {
		s.Record(servers(fmt.Sprint("s", n)), at(n+1))
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	all := s.History()
	if len(all) != historyApart || all[0].Number != 500 || all[0].First != historyApart || len(all[0].Changes)+all[0].More != 500-historyApart+1 {
		t.Fatalf("%d versions, the last %d to %d with %d changes", len(all), all[0].First, all[0].Number, len(all[0].Changes)+all[0].More)
	}
	if _, _, err := s.AtVersion(250); err == nil || !strings.Contains(err.Error(), "versions 16 to 500 came within a moment and are kept as 500") {
		t.Fatal(err)
	}
}

// TestDamagedHistory: a damaged file is told when it is asked for, and never stands in the way of the others.
func TestDamagedHistory(t *testing.T) {
	s := open(t)
	record(t, s, 1, "a")
	record(t, s, 2, "b")
	path := filepath.Join(s.dir, HistoryDir, "2.xml.gz")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other, err := pack(render.Text{[]byte(doc(server("x")))}, at(2)) // whole, and not what it says
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{"empty": nil, "cut": good[:len(good)-9], "text": []byte("hello"), "head": good[:20], "other": other} {
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.AtVersion(2); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%s: %v", name, err)
		}
		if c, _, err := s.AtVersion(1); err != nil || names(c) != "a" {
			t.Errorf("%s: version 1: %v", name, err)
		}
		if all := s.History(); all[len(all)-1].Number != 1 {
			t.Errorf("%s: %v", name, all)
		}
	}
}

// TestHistoryMeetsAFullDisk: the versions wait, bounded, and are written when there is room.
func TestHistoryMeetsAFullDisk(t *testing.T) {
	s := open(t)
	disk := s.disk
	s.disk = failing(disk, func(string) error { return errDisk })
	for n := range uint64(40) {
		s.Record(servers(fmt.Sprint("s", n)), at(n+1))
		if err := s.Flush(); err == nil || len(s.journal.versions) > historyApart {
			t.Fatalf("%v, %d wait", err, len(s.journal.versions))
		}
	}
	s.disk = disk
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	c, _, err := s.AtVersion(40)
	if err != nil || names(c) != "s39" || len(s.History()) != historyApart {
		t.Fatalf("%v %v", err, s.History())
	}
}
