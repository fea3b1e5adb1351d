package main

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestSplit: 300 connections over three servers, exactly a third each; nobody sees whom he must not see.
func TestSplit(t *testing.T) {
	mustSettle(t)
	forgetLogs(t)
	stop := watch(t, "net 10.2.0.0/24")
	r := get(t, 300)
	if r.Failed != 0 {
		t.Errorf("%d of 300 requests failed: %v", r.Failed, r.Errors)
	}
	for _, s := range topology.Servers {
		if r.By[s] != 100 {
			t.Errorf("%s served %d of 300 connections, want 100 (all: %v)", s, r.By[s], r.By)
		}
		lines := logged(t, s)
		if len(lines) != 100 {
			t.Errorf("%s has logged %d requests, want 100", s, len(lines))
		}
		for _, l := range lines {
			if l[0] != topology.SNIP {
				t.Fatalf("%s saw the address %s, want the SNIP %s", s, l[0], topology.SNIP)
			}
		}
	}
	if seen := stop(); seen != "" {
		t.Errorf("the client's wire carried server addresses:\n%s", seen)
	}
}

// watch captures on the client's wire until the returned function is called, which gives what matched.
func watch(t *testing.T, filter string) func() string {
	t.Helper()
	cmd := client("tcpdump", "-n", "-l", "-i", "c0", filter)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ready [512]byte
	errs.Read(ready[:]) // "listening on ..."
	go io.Copy(io.Discard, errs)
	text := make(chan string)
	go func() { b, _ := io.ReadAll(out); text <- string(b) }()
	return func() string {
		time.Sleep(300 * time.Millisecond) // packets under way
		cmd.Process.Signal(os.Interrupt)
		s := <-text
		cmd.Wait()
		return strings.TrimSpace(s)
	}
}

func TestUDPEcho(t *testing.T) {
	mustSettle(t)
	r := tool(t, "udp-ask", topology.UDPVIP+":7", "30")
	if r.Failed != 0 {
		t.Errorf("%d of 30 datagrams had no right answer: %v", r.Failed, r.Errors)
	}
	for _, s := range topology.Servers {
		if n := r.By[s+" "+topology.SNIP]; n != 10 {
			t.Errorf("%s answered %d of 30 from the SNIP's view, want 10 (all: %v)", s, n, r.By)
		}
	}
}

// TestPing: the VIP itself answers ICMP echo, with the address that was asked.
func TestPing(t *testing.T) {
	if out, err := client("ping", "-c", "3", "-i", "0.2", "-W", "2", topology.VIP).CombinedOutput(); err != nil || !strings.Contains(string(out), " 0% packet loss") || strings.Contains(string(out), "DUP") {
		t.Errorf("ping of the VIP: %v\n%s", err, out)
	}
}

// TestDownload: a large file arrives byte for byte (64 MB; FULL=1: 1 GB).
func TestDownload(t *testing.T) {
	mustSettle(t)
	size := int64(64 << 20)
	if full() {
		size = 1 << 30
	}
	want := bigFile(t, lab.Path("www/big"), size)
	defer os.Remove(lab.Path("www/big"))
	out, err := client("sh", "-c", "curl -sS -m 240 http://"+topology.VIP+"/big | sha256sum").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(string(out))[0]; got != want {
		t.Errorf("the download's SHA-256 is %s, the file's %s", got, want)
	}
}

// bigFile writes size bytes that do not compress and returns their SHA-256.
func bigFile(t *testing.T, path string, size int64) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	stream := cipher.StreamReader{S: cipher.NewCTR(block, make([]byte, 16)), R: zeros{}}
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(f, sum), stream, size); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestUseSourceIP: with usip the server sees the client's address; with useproxyport NO its port too.
func TestUseSourceIP(t *testing.T) {
	mustSettle(t)
	for _, row := range []struct {
		name, option, vip string
		port              int
		keeps             bool
	}{
		{"client-port", "-useproxyport NO", "10.1.0.52", 8080, true},
		{"proxy-port", "-useproxyport YES", "10.1.0.53", 8081, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			forgetLogs(t)
			shell(t, fmt.Sprintf("add service usip-%s s1 HTTP %d -usip YES %s -healthMonitor NO", row.name, row.port, row.option))
			shell(t, fmt.Sprintf("add lb vserver usip-%s HTTP %s 80 -lbMethod ROUNDROBIN", row.name, row.vip))
			shell(t, fmt.Sprintf("bind lb vserver usip-%s usip-%s", row.name, row.name))
			defer func() {
				shell(t, "rm lb vserver usip-"+row.name)
				shell(t, "rm service usip-"+row.name)
				shell(t, "rm ns ip "+row.vip)
			}()
			// Below the ports that other connections take: one of those may still be in TIME_WAIT.
			out, err := client("curl", "-sS", "-m", "30", "--local-port", "20000-20999", "-w", "%{local_port}", "http://"+row.vip+"/").CombinedOutput()
			served, from, ok := strings.Cut(string(out), "\n")
			if err != nil || !ok || served != "s1" {
				t.Fatalf("curl: %v: %s", err, out)
			}
			lines := logged(t, "s1")
			if len(lines) != 1 || lines[0][0] != topology.ClientIP || (lines[0][1] == from) != row.keeps {
				t.Errorf("s1 has logged %v, want one request from %s, client's port kept: %v", lines, topology.ClientIP, row.keeps)
			}
		})
	}
}
