package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// waitState waits until the service shows the state and returns how long that took.
func waitState(t *testing.T, service, state string, most time.Duration) time.Duration {
	t.Helper()
	begin := time.Now()
	err := lab.Basic().State(service, state, most)
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(begin)
}

// TestServerKilled: DOWN in time, no request fails afterwards, and it takes traffic when it is back.
func TestServerKilled(t *testing.T) {
	mustSettle(t)
	if err := lab.Stop("s2-nginx"); err != nil {
		t.Fatal(err)
	}
	took := waitState(t, "web-s2", "DOWN", 15*time.Second)
	t.Logf("DOWN after %.2f s; interval 1 s x retries 2 + resptimeout 1 s = 3 s", took.Seconds())
	if full() && took > 3*time.Second {
		t.Errorf("DOWN after %.2f s, want at most 3 s", took.Seconds())
	}
	if r := get(t, 300); r.Failed != 0 || r.By["s2"] != 0 || r.By["s1"] != 150 {
		t.Errorf("with s2 DOWN: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	if err := lab.WebServer(1); err != nil {
		t.Fatal(err)
	}
	waitState(t, "web-s2", "UP", 30*time.Second)
	if r := get(t, 300); r.Failed != 0 || r.By["s2"] != 100 {
		t.Errorf("with s2 back: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
}

func TestDisableService(t *testing.T) {
	mustSettle(t)
	shell(t, "disable service web-s3")
	r := get(t, 60)
	shell(t, "enable service web-s3")
	if r.Failed != 0 || r.By["s3"] != 0 || r.OK != 60 {
		t.Errorf("with web-s3 disabled: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	waitState(t, "web-s3", "UP", 15*time.Second)
	if r := get(t, 60); r.Failed != 0 || r.By["s3"] != 20 {
		t.Errorf("with web-s3 enabled again: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
}

// kill kills a program of an appliance itself; its supervisor starts another.
func kill(t *testing.T, a *topology.Appliance, program string) {
	t.Helper()
	if err := a.Signal(program, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// TestMgmtKilled: while management is dead and comes back, established flows lose nothing, new ones are balanced, and
// what was saved is there.
func TestMgmtKilled(t *testing.T) {
	mustSettle(t)
	want := bigFile(t, lab.Path("www/slow"), 24<<20)
	defer os.Remove(lab.Path("www/slow"))
	before := running(t)
	download := client("sh", "-c", "curl -sS -m 60 --limit-rate 4M http://"+topology.VIP+"/slow | sha256sum")
	sum := make(chan string, 1)
	go func() { b, _ := download.Output(); sum <- string(b) }()
	wait := background(t, "-n", "240", "-rate", "40", "http://"+topology.VIP+"/")
	for range 2 {
		time.Sleep(1500 * time.Millisecond)
		kill(t, lab.Basic(), "mgmt")
	}
	if r := wait(); r.Failed != 0 || r.OK != 240 || r.By["s1"] < 70 || r.By["s2"] < 70 || r.By["s3"] < 70 {
		t.Errorf("new flows while management died: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	if got := <-sum; !strings.HasPrefix(got, want) {
		t.Errorf("the download that went on has SHA-256 %s, want %s", got, want)
	}
	if err := lab.Basic().Ready(); err != nil {
		t.Fatal(err)
	}
	mustSettle(t)
	if after := running(t); after != before {
		t.Errorf("the configuration after the restart differs:\n%s\nbefore:\n%s", after, before)
	}
}

// running is the running configuration without its dates.
func running(t *testing.T) string {
	t.Helper()
	out, err := lab.Basic().Running()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestDataplaneKilled: forwarding again soon, with the twins' addresses and routes back.
func TestDataplaneKilled(t *testing.T) {
	mustSettle(t)
	shell(t, "add route 10.9.0.0 255.255.0.0 10.2.0.11")
	defer shell(t, "rm route 10.9.0.0 255.255.0.0 10.2.0.11")
	kill(t, lab.Basic(), "dataplane")
	begin := time.Now()
	if err := topology.Eventually(20*time.Second, func() error {
		out, err := client("curl", "-sS", "-m", "0.5", "http://"+topology.VIP+"/").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	t.Logf("forwarding again after %.2f s", took.Seconds())
	if full() && took > 2*time.Second {
		t.Errorf("forwarding again after %.2f s, want at most 2 s", took.Seconds())
	}
	mustSettle(t)
	if r := get(t, 30); r.Failed != 0 || r.By["s1"] != 10 {
		t.Errorf("after the restart: %d failed %v, served by %v", r.Failed, r.Errors, r.By)
	}
	for _, want := range []string{topology.SNIP, topology.ClientNIP} {
		if out, err := exec.Command("ip", "-n", lab.NS("adc"), "-4", "addr").CombinedOutput(); err != nil || !strings.Contains(string(out), want+"/24") {
			t.Errorf("address %s is not back on its twin: %v\n%s", want, err, out)
		}
	}
	if out, err := exec.Command("ip", "-n", lab.NS("adc"), "route").CombinedOutput(); err != nil || !strings.Contains(string(out), "10.9.0.0/16 via 10.2.0.11 dev tw1") {
		t.Errorf("the static route is not back: %v\n%s", err, out)
	}
}

// TestBrokenStartup: with a broken startup file the box is reachable, says which line, and keeps the rest.
func TestBrokenStartup(t *testing.T) {
	mustSettle(t)
	a := lab.Basic()
	file := lab.Path("adc/config/startup.xml")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(good), "<service-type>HTTP</service-type>", "<service-type>GOPHER</service-type>", 1)
	if text == string(good) {
		t.Fatalf("the startup file has no service type:\n%s", good)
	}
	line := 1 + strings.Count(text[:strings.Index(text, "GOPHER")], "\n")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.WriteFile(file, good, 0o600); err != nil {
			t.Fatal(err)
		}
		kill(t, lab.Basic(), "mgmt")
		time.Sleep(200 * time.Millisecond)
		if err := a.Ready(); err != nil {
			t.Fatal(err)
		}
		mustSettle(t)
	}()
	kill(t, lab.Basic(), "mgmt")
	time.Sleep(200 * time.Millisecond)
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
	said := shell(t, "show version")
	if !strings.Contains(said, fmt.Sprintf("line %d", line)) {
		t.Errorf("the shell does not say that line %d is broken:\n%s", line, said)
	}
	if out := shell(t, "show lb vserver echo"); !strings.Contains(out, "3 (Total)") {
		t.Errorf("the rest of the configuration is not kept:\n%s", out)
	}
}
