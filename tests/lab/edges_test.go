package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/dataplane/packet"
	"sluice/tests/lab/topology"
)

// inNode runs a command in a node that must succeed, and returns what it says.
func inNode(t *testing.T, node string, args ...string) string {
	t.Helper()
	out, err := lab.Command(node, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v: %s", node, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// served waits until the VIP answers a client that has no patience, and returns how long that took.
func served(t *testing.T, most time.Duration) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := topology.Eventually(most, func() error {
		out, err := client("curl", "-sS", "-m", "0.5", "http://"+topology.VIP+"/").CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	return time.Since(begin)
}

// TestClientMoves: a client that comes back with another network card is served again within seconds.
func TestClientMoves(t *testing.T) {
	mustSettle(t)
	get(t, 3)
	old := strings.TrimSpace(inNode(t, "client", "cat", "/sys/class/net/c0/address"))
	move := func(mac string) {
		inNode(t, "client", "ip", "link", "set", "c0", "down")
		inNode(t, "client", "ip", "link", "set", "c0", "address", mac)
		inNode(t, "client", "ip", "link", "set", "c0", "up")
	}
	for _, mac := range []string{"02:c1:00:00:00:77", old} {
		move(mac)
		if took := served(t, 20*time.Second); took > 5*time.Second {
			t.Errorf("with the MAC address %s the client was served after %.1f s, want at most 5 s", mac, took.Seconds())
		}
	}
}

// TestMissed: what the kernel cannot hand to a dataplane that stands still is counted at the port.
func TestMissed(t *testing.T) {
	mustSettle(t)
	missed := regexp.MustCompile(`1/1 Packets missed by the port\s+\S+\s+(\d+)`)
	read := func() int {
		m := missed.FindStringSubmatch(shell(t, "stat ns"))
		if m == nil {
			t.Fatal("stat ns tells no packets missed")
		}
		n, _ := strconv.Atoi(m[1])
		return n
	}
	before := read()
	w := dial(t, "client", "c0")
	late := toVIP(t, w, 5002, packet.ACK).Bytes()
	pid, err := lab.Basic().Pid("dataplane")
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped(t, pid)
	for range 4000 {
		w.send(late)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	served(t, 5*time.Second)
	if n := read() - before; n < 100 {
		t.Errorf("%d packets were missed by a port that holds 2,048 of 4,000", n)
	}
}

// TestMergedFrames: a sender that leaves segmentation to a network card that is not there shows under a name that says so.
func TestMergedFrames(t *testing.T) {
	mustSettle(t)
	for _, s := range topology.Servers {
		inNode(t, s, "ethtool", "-K", "e0", "tx", "on", "tso", "on", "gso", "on")
		defer inNode(t, s, "ethtool", "-K", "e0", "tx", "off")
	}
	before := figures(t)["drop-oversized"]
	file := lab.Path("www/merged")
	bigFile(t, file, 1<<20)
	defer os.Remove(file)
	_ = client("curl", "-sS", "-m", "2", "-o", "/dev/null", "http://"+topology.VIP+"/merged").Run() // its end is of no interest
	if n := figures(t)["drop-oversized"] - before; n <= 0 {
		t.Errorf("%d merged frames were dropped as such", n)
	}
}

// TestPortChanges: a device that gets another MTU is opened anew with it, and with merging of packets switched off.
func TestPortChanges(t *testing.T) {
	mustSettle(t)
	defer func() {
		inNode(t, "adc", "ip", "link", "set", "da", "mtu", "1500")
		time.Sleep(1500 * time.Millisecond)
		served(t, 10*time.Second)
		mustSettle(t)
	}()
	inNode(t, "adc", "ethtool", "-K", "da", "gro", "on")
	inNode(t, "adc", "ip", "link", "set", "da", "mtu", "1400")
	if err := topology.Eventually(10*time.Second, func() error {
		log, err := os.ReadFile(lab.Path("adc-dataplane.log"))
		if err == nil && !strings.Contains(string(log), "the MTU of device da was 1500 bytes and is 1400 now") {
			err = errors.New("the dataplane does not say that it opens its ports anew for another MTU")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	served(t, 10*time.Second)
	if out := inNode(t, "adc", "ethtool", "-k", "da"); !strings.Contains(out, "generic-receive-offload: off") {
		t.Error("the port still merges packets")
	}
	download(t, "small", 2)()
}

// TestSecondDataplane: a dataplane does not share devices with another one.
func TestSecondDataplane(t *testing.T) {
	text, err := os.ReadFile(lab.Path("adc/dataplane.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	file := lab.Path("second.yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "dataplane.sock", "second.sock", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(file)
	cmd := lab.Command("adc", "timeout", "10", filepath.Join(lab.Bin, "sluice-dataplane"), "-config", file)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "device da of port 1/1 belongs to another dataplane") {
		t.Errorf("a second dataplane on the same devices: %v\n%s", err, out)
	}
}

// stopped waits until every thread of a process that was sent SIGSTOP has stopped.
func stopped(t *testing.T, pid int) {
	t.Helper()
	if err := topology.Eventually(5*time.Second, func() error {
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		for _, task := range tasks {
			b, e := os.ReadFile(task)
			if state := string(b[strings.LastIndexByte(string(b), ')')+1:]); e == nil && !strings.HasPrefix(state, " T") {
				return fmt.Errorf("%s is not stopped: %s", task, state)
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}
