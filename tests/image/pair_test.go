package main

import (
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// pairScript configures virtual machine number i of a pair that shares the VIP: the first is its master.
func pairScript(i int) string {
	priority := []string{"200", "100"}[i]
	snip := []string{"6", "7"}[i]
	s := "add ns ip 10.1.0." + snip + " 255.255.255.0\nadd ns ip 10.2.0." + snip + " 255.255.255.0\n" +
		"add vlan 2\nbind vlan 2 -ifnum 1/2\nbind vlan 2 -IPAddress 10.2.0." + snip + " 255.255.255.0\n" +
		"add vrID 1 -priority " + priority + " -preemption DISABLED\n" +
		"add ns ip " + topology.VIP + " 255.255.255.0 -type VIP -vrID 1\n" +
		"add lb monitor web-check HTTP -respCode 200 -httpRequest \"GET /alive\" -interval 2 -resptimeout 1 -retries 3 -downTime 1\n" +
		"add lb vserver web HTTP " + topology.VIP + " 80 -lbMethod ROUNDROBIN\n"
	for k, n := range topology.Servers {
		s += "add service web-" + n + " " + topology.ServerIP(k) + " HTTP 80\nbind service web-" + n + " -monitorName web-check\nbind lb vserver web web-" + n + "\n"
	}
	return s
}

// TestPair: two machines share a VIP on one bridge. When the master loses its power the other one serves.
func TestPair(t *testing.T) {
	if !full() {
		return
	}
	var pair [topology.Guests]*guest
	for i := range pair {
		g := newMachine(t, i, "virtio-net-pci")
		if err := g.seed(g.userData(pairScript(i))); err != nil {
			t.Fatal(err)
		}
		if err := g.start(); err != nil {
			t.Fatal(err)
		}
		pair[i] = g
	}
	for _, g := range pair {
		if err := g.ready(patience); err != nil {
			t.Fatal(err)
		}
		if err := g.Settled(patience, "web"); err != nil {
			t.Fatal(err)
		}
	}
	// Either may be master: who came up first does not yield.
	if err := topology.Eventually(patience, func() (err error) {
		for i := range pair {
			if err = pair[i].Shows("show vrID 1", "MASTER", time.Second); err == nil {
				pair[0], pair[i] = pair[i], pair[0]
				return nil
			}
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := pair[1].Shows("show vrID 1", "BACKUP", patience); err != nil {
		t.Fatal(err)
	}
	served(t, 9)
	began := time.Now()
	pair[0].stop()
	if err := topology.Eventually(patience, func() error {
		return lab.Run("client", "curl", "-sS", "-m", "1", "-o", "/dev/null", "http://"+topology.VIP+"/")
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("the other machine serves %.1f s after the master's power was cut", time.Since(began).Seconds())
	if err := pair[1].Shows("show vrID 1", "MASTER", patience); err != nil {
		t.Error(err)
	}
	served(t, 9)
}
