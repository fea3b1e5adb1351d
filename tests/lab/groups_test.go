package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// pool makes a group of the three servers behind a vserver of its own.
func pool(t *testing.T) {
	t.Helper()
	shell(t, "add serviceGroup pool HTTP; bind serviceGroup pool s[1-3] 8080; bind serviceGroup pool -monitorName web-check")
	shell(t, "add lb vserver pool HTTP "+topology.VIP+" 8090 -lbMethod ROUNDROBIN; bind lb vserver pool pool")
	t.Cleanup(func() { shell(t, "rm lb vserver pool; rm serviceGroup pool") })
	if err := lab.Basic().Settled(15*time.Second, "pool"); err != nil {
		t.Fatal(err)
	}
}

// slowly fetches the file www/slow through the group in about four seconds; it returns what became of it.
func slowly() <-chan string {
	said := make(chan string, 1)
	cmd := client("sh", "-c", "curl -sS -m 60 --limit-rate 2M http://"+topology.VIP+":8090/slow | sha256sum")
	go func() { b, _ := cmd.CombinedOutput(); said <- string(b) }()
	return said
}

// member waits until the member of the group on a server shows a state; it returns the whole of its lines.
func member(t *testing.T, server, state string, most time.Duration) string {
	t.Helper()
	var lines string
	err := topology.Eventually(most, func() error {
		out, err := lab.Basic().Shell("show serviceGroup pool")
		at := strings.Index(out, "Server Name: "+server)
		if err != nil || at < 0 {
			return fmt.Errorf("%w: no member on %s:\n%s", err, server, out)
		}
		at = strings.LastIndex(out[:at], "\n") + 1
		lines, _, _ = strings.Cut(out[at:], "Monitor Name")
		if !strings.Contains(lines, "State: "+state) {
			return fmt.Errorf("the member on %s is not %s:\n%s", server, state, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestGroupMemberLeavesGracefully: under load no request fails, connections that it has go on to their end, and it is empty
// within the delay.
func TestGroupMemberLeavesGracefully(t *testing.T) {
	mustSettle(t)
	leavesGracefully(t)
}

// leavesGracefully has a member leave while clients ask, and come back.
func leavesGracefully(t *testing.T) {
	t.Helper()
	pool(t)
	want := bigFile(t, lab.Path("www/slow"), 8<<20)
	defer os.Remove(lab.Path("www/slow"))
	load := background(t, "-n", "240", "-rate", "40", "http://"+topology.VIP+":8090/")
	var downloads []<-chan string
	for range 9 { // among the other requests' turns: of so many each server has some
		downloads = append(downloads, slowly())
	}
	time.Sleep(time.Second)
	shell(t, "disable serviceGroup pool s2 8080 -delay 40 -graceFul YES")
	if got := member(t, "s2", "GOING OUT OF SERVICE", time.Second); !strings.Contains(got, "Graceful: YES\tSeconds left: ") {
		t.Errorf("no word about how far it is:\n%s", got)
	}
	begin := time.Now()
	if got := shell(t, "show lb vserver pool"); !strings.Contains(got, "2 (Active)") {
		t.Errorf("the vserver still counts on it:\n%s", got)
	}
	member(t, "s2", "OUT OF SERVICE", 40*time.Second)
	t.Logf("out of service after %.1f s", time.Since(begin).Seconds())
	if got := shell(t, "stat serviceGroupMember pool s2 8080"); !strings.Contains(got, "Current connections                                      --                    0\n") {
		t.Errorf("it is not empty:\n%s", got)
	}
	for i, d := range downloads {
		if got := <-d; !strings.HasPrefix(got, want) {
			t.Errorf("download %d has SHA-256 %s, want %s", i, got, want)
		}
	}
	if r := load(); r.Failed != 0 || r.OK != 240 || r.By["s2"] == 0 || r.By["s2"] > 60 {
		t.Errorf("while a member left: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	if r := tool(t, "load", "-n", "30", "http://"+topology.VIP+":8090/"); r.Failed != 0 || r.By["s2"] != 0 {
		t.Errorf("after it has left: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	shell(t, "enable serviceGroup pool s2 8080")
	member(t, "s2", "UP", 10*time.Second)
}

// TestGroupLeavesOverRestart: a restart of management neither ends connections of what leaves nor forgets that it does;
// what is still open when a delay is over ends.
func TestGroupLeavesOverRestart(t *testing.T) {
	mustSettle(t)
	pool(t)
	want := bigFile(t, lab.Path("www/slow"), 8<<20)
	defer os.Remove(lab.Path("www/slow"))
	goesOn := slowly()
	time.Sleep(500 * time.Millisecond)
	shell(t, "disable serviceGroup pool -graceFul YES")
	time.Sleep(500 * time.Millisecond) // the journal is written by then
	kill(t, lab.Basic(), "mgmt")
	if err := lab.Basic().Ready(); err != nil {
		t.Fatal(err)
	}
	if got := <-goesOn; !strings.HasPrefix(got, want) {
		t.Errorf("the download of before has SHA-256 %s, want %s", got, want)
	}
	for _, s := range topology.Servers {
		member(t, s, "OUT OF SERVICE", 15*time.Second)
	}
	shell(t, "enable serviceGroup pool")
	if err := lab.Basic().Settled(15*time.Second, "pool"); err != nil {
		t.Fatal(err)
	}
	bigFile(t, lab.Path("www/slow"), 64<<20)
	ends := slowly()
	time.Sleep(500 * time.Millisecond)
	shell(t, "disable server s1 1; disable server s2 1; disable server s3 1")
	for _, s := range topology.Servers {
		defer shell(t, "enable server "+s)
	}
	select {
	case got := <-ends:
		if strings.HasPrefix(got, want) || !strings.Contains(got, "curl: (56)") {
			t.Errorf("what is open at the end of the delay: %s, want a reset connection", got)
		}
	case <-time.After(20 * time.Second):
		t.Error("what is open at the end of the delay goes on")
	}
}
