package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTechSupport: one file has what those need who help, without secrets, for the owner alone; one that cannot be written says so.
func TestTechSupport(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server web 10.1.0.9")
	d.do("add lb monitor login RADIUS -userName u -password topsecret -radKey hidden-key")
	d.is("show lb monitor login", "login")
	for range 2 {
		d.is("show techsupport", "Written to /config/techsupport.txt")
	}
	path := filepath.Join(dir, supportFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n## show version\n", "State: DEGRADED: device db is not there", "add server web 10.1.0.9", "login RADIUS", "\n## show arp\n", "\n## stat ns\n", "The dataplane is not connected"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, secret := range []string{"topsecret", "hidden-key", "command not", "No such"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is in it", secret)
		}
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil { // which no file takes the place of
		t.Fatal(err)
	}
	got := d.do("show techsupport")
	left, _ := filepath.Glob(filepath.Join(dir, "*.tmp-*"))
	if !strings.HasPrefix(got, "ERROR: The file cannot be written") || len(left) != 0 {
		t.Errorf("%s, left behind %v", got, left)
	}
}
