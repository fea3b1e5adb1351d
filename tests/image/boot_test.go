package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// newMachine is a virtual machine that goes with the test; when the test has failed its console's last words are shown.
func newMachine(t *testing.T, i int, model string) *guest {
	t.Helper()
	g, err := newGuest(lab, images, i, model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && g.vm != nil {
			t.Logf("the console of %s says at last:\n%s", g.Node, g.vm.Console.Tail())
		}
		g.stop()
	})
	return g
}

// boot starts the machine, with this user-data if there is any, and waits for the first answer from a server to the client. It logs
// how long what took.
func (g *guest) boot(t *testing.T, userData string) {
	t.Helper()
	if userData != "" {
		if err := g.seed(userData); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	if err := g.ready(patience); err != nil {
		t.Fatal(err)
	}
	shell := time.Since(g.vm.Started)
	if err := g.Settled(patience, "web"); err != nil {
		t.Fatal(err)
	}
	if err := topology.Eventually(patience, func() error {
		return lab.Run("client", "curl", "-sS", "-m", "5", "-o", "/dev/null", "http://"+topology.VIP+"/")
	}); err != nil {
		t.Fatal(err)
	}
	forwarded := time.Since(g.vm.Started)
	up, err := g.Shell("shell cat /proc/uptime")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Since(g.vm.Started)
	var seconds float64
	fmt.Sscan(up, &seconds)
	kernel := now - time.Duration(seconds*float64(time.Second))
	steps, _ := g.Shell("shell systemd-analyze time")
	t.Logf("from the start of QEMU: kernel %.1f s (firmware and boot loader), shell and ports %.1f s, first forwarded packet %.1f s; %s",
		kernel.Seconds(), shell.Seconds(), forwarded.Seconds(), strings.Join(strings.Fields(steps), " "))
}

// do runs lines in the shell that must succeed.
func (g *guest) do(t *testing.T, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if out, err := g.Shell(line); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
}

// TestBoot: by BIOS with a VIP that user-data configures; the operator logs in on the console and by SSH, changes something and saves it.
// Then the power is cut at once; the same disk starts by UEFI with what was saved.
func TestBoot(t *testing.T) {
	g := newMachine(t, 0, "virtio-net-pci")
	g.boot(t, g.userData(topology.BasicScript()))
	served(t, 30)
	g.console(t)
	g.do(t, "add server saved 10.2.0.77", "save ns config")
	g.stop()
	g.spec.UEFI = true
	g.boot(t, "")
	served(t, 30)
	if out, err := g.Shell("show server saved"); err != nil || !strings.Contains(out, "10.2.0.77") {
		t.Errorf("what was saved before the power was cut is lost: %v\n%s", err, out)
	}
}

// console logs in on the serial console.
func (g *guest) console(t *testing.T) {
	t.Helper()
	c := g.vm.Console
	for _, step := range []struct{ key, until string }{
		{"\r", "login: "}, {"nsroot\r", "assword: "}, {topology.Password + "\r", "> "}, {"show ns hostName\r", "Hostname: " + g.Node}, {"exit\r", "login: "},
	} {
		if err := c.Type(step.key); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Wait(patience, step.until); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(c.Text(), topology.Password) {
		t.Error("the console shows the password")
	}
}
