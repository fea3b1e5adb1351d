package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDrafts: the candidate is kept with what it began from, until there is none; a damaged one is put aside.
func TestDrafts(t *testing.T) {
	s := open(t)
	if d, err := s.LastDraft(); d != nil || err != nil {
		t.Fatal(d, err)
	}
	s.NoteDraft(draft("x"))
	s.NoteDraft(draft("x", "y"))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(s.dir, DraftFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	again := &Store{dir: s.dir}
	d, err := again.LastDraft()
	want := draft("x", "y")
	if err != nil || names(d.Config) != "x y" || names(d.Base) != "a b" || d.Version != want.Version || d.By != want.By || !d.At.Equal(want.At) {
		t.Fatalf("%+v %v", d, err)
	}
	s.NoteDraft(nil)
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if d, err := again.LastDraft(); d != nil || err != nil {
		t.Fatal(d, err)
	}
	s.NoteDraft(draft("x"))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.dir, DraftFile)
	whole, _ := os.ReadFile(path)
	for cut := 0; cut < len(whole); cut += 7 {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := again.LastDraft(); d != nil || err == nil || !strings.Contains(err.Error(), "put aside as candidate.xml.unused: it is damaged") {
			t.Fatalf("cut at %d: %+v %v", cut, d, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatal("it is not put aside")
		}
	}
}
