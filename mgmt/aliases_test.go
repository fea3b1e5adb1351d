package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestAliasesAreKept: over sessions and restarts, for each user his own, bounded, and not where a name leads.
func TestAliasesAreKept(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	var all sync.WaitGroup
	for i := range aliasesMost {
		all.Go(func() {
			if err := d.o.Alias("ann", "a"+strconv.Itoa(i), "show version"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := d.o.Alias("ann", "more", "show version"); err == nil || !strings.Contains(err.Error(), "a user has 100 at most") {
		t.Error(err)
	}
	if err := d.o.Alias("ann", "a7", "show ns ip"); err != nil {
		t.Error(err)
	}
	if err := d.o.Alias("ann", "a8", ""); err != nil {
		t.Error(err)
	}
	if err := d.o.Alias("../ann", "x", "show version"); err == nil {
		t.Error("a name leads out of the folder")
	}
	d.end()
	d = newDesk(t, dir)
	got, err := d.o.Aliases("ann")
	if err != nil || len(got) != aliasesMost-1 || got["a7"] != "show ns ip" || got["a8"] != "" {
		t.Errorf("%d aliases, %v", len(got), err)
	}
	if got, err := d.o.Aliases("bob"); err != nil || len(got) > 0 {
		t.Error(got, err)
	}
	file := filepath.Join(dir, aliasFile("ann"))
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := d.o.Alias("ann", "x", "show version"); err == nil || !strings.Contains(err.Error(), "remove /config/aliases/ann.json") {
		t.Error(err)
	}
}
