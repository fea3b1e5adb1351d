package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestPersistence: with SOURCEIP every client address stays with the server of its first connection, over changes of the
// configuration and a restart of management. Who loses it, or has it unbound, gets another one and stays there.
func TestPersistence(t *testing.T) {
	mustSettle(t)
	from := clientAddresses(t, 6)
	shell(t, "set lb vserver web -persistenceType SOURCEIP -timeout 5")
	defer shell(t, "set lb vserver web -persistenceType NONE -timeout 2")
	home := servers(t, from, 3)
	if distinct(home) != 3 {
		t.Fatalf("%d servers serve all addresses by turns, want 3: %v", distinct(home), home)
	}
	remembered(t, home)

	shell(t, "set lb vserver web -lbMethod LEASTCONNECTION -timeout 6 -comment x")
	shell(t, "set lb vserver web -lbMethod ROUNDROBIN -comment \"\"")
	same(t, "after changes", servers(t, from, 1), home)
	kill(t, lab.Basic(), "mgmt")
	same(t, "while management is dead", servers(t, from, 1), home)
	if err := lab.Basic().Ready(); err != nil {
		t.Fatal(err)
	}
	mustSettle(t)
	same(t, "with a new management", servers(t, from, 1), home)
	remembered(t, home)

	if err := lab.Stop("s2-nginx"); err != nil {
		t.Fatal(err)
	}
	waitState(t, "web-s2", "DOWN", 15*time.Second)
	moved := servers(t, from, 2)
	if err := lab.WebServer(1); err != nil {
		t.Fatal(err)
	}
	waitState(t, "web-s2", "UP", 30*time.Second)
	for a, s := range moved {
		if s == "s2" || home[a] != "s2" && s != home[a] {
			t.Errorf("with s2 DOWN %s is served by %s, before by %s", a, s, home[a])
		}
	}
	same(t, "with s2 back", servers(t, from, 1), moved)

	shell(t, "unbind lb vserver web web-s1")
	defer shell(t, "bind lb vserver web web-s1")
	kept := maps.Clone(moved)
	maps.DeleteFunc(kept, func(_, s string) bool { return s == "s1" })
	remembered(t, kept)
	for a, s := range servers(t, from, 2) {
		if s == "s1" || moved[a] != "s1" && s != moved[a] {
			t.Errorf("with web-s1 unbound %s is served by %s, before by %s", a, s, moved[a])
		}
	}
	shell(t, "clear lb persistentSessions web")
	remembered(t, nil)
}

// same compares who serves whom with before.
func same(t *testing.T, when string, now, before map[string]string) {
	t.Helper()
	for a, s := range now {
		if s != before[a] {
			t.Errorf("%s %s is served by %s, before by %s", when, a, s, before[a])
		}
	}
}

// remembered compares the sessions of web that are shown and counted with who serves whom.
func remembered(t *testing.T, home map[string]string) {
	t.Helper()
	out := shell(t, "show lb persistentSessions web")
	for a, s := range home {
		if !strings.Contains(strings.Join(strings.Fields(out), " "), fmt.Sprintf("SOURCEIP %s * web web-%s 10.2.0.1%s:80", a, s, s[1:])) {
			t.Errorf("no session of %s at %s in\n%s", a, s, out)
		}
	}
	if n := strings.Count(out, "SOURCEIP"); n != len(home) {
		t.Errorf("%d sessions are shown, want %d:\n%s", n, len(home), out)
	}
	if out, want := shell(t, "stat lb vserver web"), fmt.Sprintf("Current Persistence Sessions -- %d ", len(home)); !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
		t.Errorf("the statistics do not say %q:\n%s", want, out)
	}
}

// sharedPersistence: connections of one client that belong to different workers go to one server.
func sharedPersistence(t *testing.T) {
	from := clientAddresses(t, 6)
	shell(t, "set lb vserver web -persistenceType SOURCEIP")
	defer shell(t, "set lb vserver web -persistenceType NONE")
	before := counted(t)
	if home := servers(t, from, 8); distinct(home) != len(topology.Servers) {
		t.Errorf("%d servers serve all addresses, want %d: %v", distinct(home), len(topology.Servers), home)
	}
	for i, w := range counted(t).Workers {
		if w.Packets == before.Workers[i].Packets {
			t.Errorf("worker %d had no packets", i)
		}
	}
}

// TestSpillover: who comes while the only connection that the vserver may have is open goes to the backup and, with -soPersistence,
// stays there when that has ended; others do not.
func TestSpillover(t *testing.T) {
	mustSettle(t)
	from := clientAddresses(t, 3)
	shell(t, "add service first s1 HTTP 8080; add service second s2 HTTP 8080; add lb vserver spare HTTP 0.0.0.0 0; bind lb vserver spare second")
	shell(t, "add lb vserver spills HTTP "+topology.VIP+" 8092 -backupVServer spare -soMethod CONNECTION -soThreshold 1 -soPersistence ENABLED; bind lb vserver spills first")
	defer shell(t, "rm lb vserver spills; rm lb vserver spare; rm service first; rm service second")
	waitState(t, "first", "UP", 30*time.Second)
	waitState(t, "second", "UP", 30*time.Second)
	open := func(n int) {
		t.Helper()
		if err := topology.Eventually(30*time.Second, func() error {
			out, err := lab.Basic().Shell("stat lb vserver spills")
			if want := fmt.Sprintf("Current connections -- %d ", n); err == nil && !strings.Contains(strings.Join(strings.Fields(out), " "), want) {
				err = fmt.Errorf("the statistics do not say %q:\n%s", want, out)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	goes := func(when, a, want string) {
		t.Helper()
		out, err := client("curl", "-sS", "-m", "30", "--interface", a, "http://"+topology.VIP+":8092/").CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s %s is served by %q (%v), want %s", when, a, got, err, want)
		}
	}
	hold := client("nc", "-s", from[0], topology.VIP, "8092")
	if _, err := hold.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := hold.Start(); err != nil {
		t.Fatal(err)
	}
	open(1)
	goes("beyond the threshold", from[1], "s2")
	hold.Process.Kill()
	hold.Wait()
	open(0)
	goes("with room again, spilled before,", from[1], "s2")
	goes("with room again", from[2], "s1")
	open(0)
	if out := strings.Join(strings.Fields(shell(t, "show lb persistentSessions spills")), " "); !strings.Contains(out, "SPILLOVER "+from[1]+" * spills spare (backup vserver)") || strings.Contains(out, "2)") {
		t.Errorf("the sessions are not that of %s alone:\n%s", from[1], out)
	}
	shell(t, "clear lb persistentSessions spills")
	goes("when its session is cleared", from[1], "s1")
}
