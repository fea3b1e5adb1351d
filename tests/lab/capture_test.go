package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// captured is the file of a capture of basic's appliance, as Debian's tcpdump reads it with a filter of its own.
func captured(t *testing.T, file string, filter ...string) string {
	t.Helper()
	cmd := exec.Command("tcpdump", append([]string{"-nn", "-e", "-r", file}, filter...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || strings.Contains(errs.String(), "truncated") {
		t.Fatalf("tcpdump: %v: %s", err, errs.String())
	}
	return string(out)
}

// TestTcpdumpReadsNSTrace: a request is captured at the port of its client as it came and was answered, and nothing that was not
// asked for; then both sides of a connection without a filter. OpenSSH's sftp fetches the file.
func TestTcpdumpReadsNSTrace(t *testing.T) {
	mustSettle(t)
	const port = 22500
	name := fmt.Sprintf("lab-%d", time.Now().UnixNano())
	shell(t, fmt.Sprintf("start nstrace -srcIP %s -srcPort %d -destIP %s -destPort 80 -protocol TCP -size 0 -time 120 -fileName %s", topology.ClientIP, port, topology.VIP, name))
	defer lab.Basic().Shell("stop nstrace")
	if out, err := lab.Basic().Shell("start nstrace"); err == nil || !strings.Contains(err.Error(), "a capture is running") {
		t.Errorf("a second capture: %s %v", out, err)
	}
	get(t, 3) // other flows
	if out, err := client("curl", "-sS", "-m", "30", "--local-port", fmt.Sprint(port), "http://"+topology.VIP+"/").CombinedOutput(); err != nil {
		t.Fatalf("curl: %v: %s", err, out)
	}
	contains(t, "show nstrace", shell(t, "show nstrace"), "State: RUNNING", "File: /traces/"+name+".pcapng")
	shell(t, "stop nstrace")
	contains(t, "show nstrace", shell(t, "show nstrace"), "State: STOPPED", "Lost for want of room: 0", "Ended: stopped")
	local := filepath.Join(t.TempDir(), "capture.pcapng")
	sftpGet(t, "/traces/"+name+".pcapng", local)
	all := captured(t, local)
	request := fmt.Sprintf("%s.%d > %s.80:", topology.ClientIP, port, topology.VIP)
	reply := fmt.Sprintf("%s.80 > %s.%d:", topology.VIP, topology.ClientIP, port)
	contains(t, "tcpdump", all, request+" Flags [S]", reply+" Flags [S.]", "GET / HTTP/1.1", "HTTP/1.1 200 OK", request+" Flags [F.]")
	for line := range strings.Lines(all) {
		if !strings.Contains(line, request) && !strings.Contains(line, reply) {
			t.Errorf("captured what was not asked for: %s", line)
		}
	}
	// Without a filter both sides are there, each at its port, up to the count.
	shell(t, "start nstrace -count 40 -fileName "+name+"-all")
	if err := topology.Eventually(30*time.Second, func() error {
		get(t, 3)
		if out := shell(t, "show nstrace"); !strings.Contains(out, "Ended: done") {
			return fmt.Errorf("the capture does not end by its count:\n%s", out)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	sftpGet(t, "/traces/"+name+"-all.pcapng", local)
	if n := strings.Count(captured(t, local), "\n"); n != 40 {
		t.Errorf("%d packets, want 40", n)
	}
	if out := captured(t, local, "net 10.2.0.0/16"); out == "" {
		t.Error("nothing of the servers' side was captured")
	}
}

// sftpGet copies a file from the appliance by OpenSSH's sftp.
func sftpGet(t *testing.T, remote, local string) {
	t.Helper()
	cmd := lab.Basic().OpenSSH([]string{"sftp", "-q", "-b", "-"})
	cmd.Stdin = strings.NewReader("get " + remote + " " + local + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("sftp: %v: %s", err, out)
	}
	if info, err := os.Stat(local); err != nil || info.Size() == 0 {
		t.Fatalf("%s: %v", remote, err)
	}
}
