package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFilesComeInForceByThemselves: what is put into apply.d is applied, saved, and answered beside the file.
func TestFilesComeInForceByThemselves(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.do("add server old 10.1.0.11")
	into := filepath.Join(dir, applyDir)
	if err := os.MkdirAll(into, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, into, "a.xml", aServer) // before anybody watches
	ctx, end := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { d.o.watchFiles(ctx); close(done) }()
	defer func() { end(); <-done }()
	result := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(into, name+".result"))
		return string(b)
	}
	answered := func(name, want string) {
		t.Helper()
		eventually(t, name+": "+want, func() bool { return strings.Contains(result(name), want) })
	}
	answered("a.xml", "Done\n")
	if d.has("old") || !d.has("s9") {
		t.Error("the file is the whole configuration")
	}
	d.is("diff ns config saved running", "are the same")
	put(t, into, "b.merge.conf", "add server s2 10.1.0.12\n")
	answered("b.merge.conf", "Done\n")
	if !d.has("s9") || !d.has("s2") {
		t.Error("the file is merged")
	}
	before := d.version()
	put(t, into, "c.json", `{"sluice:sluice":{"server":[{"name":"x","ip-address":"x"}]}}`)
	answered("c.json", "ERROR: ")
	put(t, into, "c.json", `{"sluice:sluice":{"server":[{"name":"x"`)
	put(t, into, "c.json", `{"sluice:sluice":{"server":[{"name":"x","ip-address":"10.9.9.9","colour":"blue"}]}}`)
	answered("c.json", "colour")
	if err := unix.Mkfifo(filepath.Join(into, "pipe.xml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(into, "new.tmp")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(into, "new.tmp"), filepath.Join(into, "link.conf")); err != nil {
		t.Fatal(err)
	}
	answered("link.conf", "ERROR: it is a link, which is not followed")
	if d.version() != before {
		t.Error("bad files have changed something")
	}
	d.do("add ns ip 192.168.77.1 255.255.255.0 -type NSIP")
	put(t, into, "a.xml", aServer+"\n")
	answered("a.xml", "ERROR: it holds no NSIP")
	d.do("load config apply.d/b.merge.conf")
	d.do("commit confirmed")
	put(t, into, "d.merge.conf", "add server s4 10.1.0.14\n")
	answered("d.merge.conf", "ERROR: a commit waits to be confirmed")
}
