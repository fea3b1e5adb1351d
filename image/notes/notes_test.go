package notes

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestNotes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	if all := All(dir); len(all) > 0 {
		t.Error(all)
	}
	for _, put := range []struct {
		part string
		say  []string
	}{{"start", []string{"three"}}, {"disks", []string{"one", "tw\no"}}, {"start", nil}, {"none", nil}} {
		if err := Put(dir, put.part, put.say); err != nil {
			t.Fatal(err)
		}
	}
	if all := All(dir); !slices.Equal(all, []string{"one", "tw o"}) {
		t.Errorf("%q", all)
	}
}
