package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/netconf"
	"sluice/mgmt/store"
)

// netconfSession begins a session and returns what asks in it and what ends it.
func netconfSession(t *testing.T, d *desk, id uint32) (ask func(operation string), end func()) {
	t.Helper()
	server := netconf.New(datastores{d.o.appliance}, d.o.log)
	d.o.locks = server
	ours, theirs := net.Pipe()
	gone := make(chan struct{})
	go func() {
		server.Serve(t.Context(), netconf.Peer{ID: id, User: "nsroot", May: func(string) error { return nil }}, theirs)
		close(gone)
	}()
	end = func() { ours.Close(); <-gone }
	t.Cleanup(end)
	read := func() string {
		var text []byte
		for b := make([]byte, 1); !strings.HasSuffix(string(text), "]]>]]>"); {
			_ = ours.SetReadDeadline(time.Now().Add(30 * time.Second))
			if _, err := ours.Read(b); err != nil {
				t.Fatalf("%v after %s", err, text)
			}
			text = append(text, b...)
		}
		return string(text)
	}
	write := func(text string) {
		if _, err := ours.Write([]byte(text + "]]>]]>")); err != nil {
			t.Fatal(err)
		}
	}
	const base = "urn:ietf:params:xml:ns:netconf:base:1.0"
	read()
	write(`<hello xmlns="` + base + `"><capabilities><capability>urn:ietf:params:netconf:base:1.0</capability></capabilities></hello>`)
	return func(operation string) {
		t.Helper()
		write(`<rpc message-id="1" xmlns="` + base + `">` + operation + `</rpc>`)
		if got := read(); !strings.Contains(got, "<ok/>") {
			t.Fatalf("%s: %s", operation, got)
		}
	}, end
}

const lockCandidate = "<lock><target><candidate/></target></lock>"

const editCandidate = "<edit-config><target><candidate/></target>" + aServer + "</edit-config>"

// TestLockedCandidateGoesWithItsSession: what is edited under a lock of NETCONF is never on the disk, a kill of management loses it as
// the end of the session does (RFC 6241, 7.5), and the candidate that follows is kept again.
func TestLockedCandidateGoesWithItsSession(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	draft := func(want bool) {
		t.Helper()
		d.flush()
		if _, err := os.Stat(filepath.Join(dir, store.DraftFile)); (err == nil) != want {
			t.Errorf("the candidate's file: %v, is there to be one: %t", err, want)
		}
	}
	ask, end := netconfSession(t, d, 7)
	ask(lockCandidate)
	ask(editCandidate)
	d.is("show ns config -candidate", "server s9")
	d.is("discard", "locked by nsroot in NETCONF session 7")
	draft(false)
	end()
	d.is("show ns config -candidate", "There is no candidate")
	put(t, dir, "new.xml", aServer)
	d.is("load config new.xml", "")
	draft(true)
	d.is("discard", "")

	ask, _ = netconfSession(t, d, 8)
	ask(editCandidate) // without a lock it is everybody's
	draft(true)
	ask("<discard-changes/>")
	ask(lockCandidate)
	ask(editCandidate)
	draft(false)
	d.kill()
	d = newDesk(t, dir)
	d.is("show ns config -candidate", "There is no candidate")
}
