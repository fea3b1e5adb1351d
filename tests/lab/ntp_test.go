package main

import (
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestChronyThroughTheDataplane: a server of the servers' network is 100 seconds ahead, by Debian's faketime. The appliance follows
// it by way of its twin, finds its clock wrong by these seconds, over a restart of management too, and forgets it. The clock is that
// of this machine, and is not set.
func TestChronyThroughTheDataplane(t *testing.T) {
	mustSettle(t)
	write(t, "time.conf", "local stratum 3\nallow 10.2.0.0/24\ncmdport 0\nbindcmdaddress /\npidfile "+lab.Path("time.chronyd")+"\n")
	if err := lab.Start("s3", "time", "faketime", "-f", "+100s", "chronyd", "-x", "-d", "-u", "root", "-f", lab.Path("time.conf")); err != nil {
		t.Fatal(err)
	}
	defer lab.Stop("time")
	a := lab.Basic()
	contains(t, "show ntp status", shell(t, "show ntp status"), "NTP sync: DISABLED", "Clock: follows nobody")
	shell(t, "add ntp server 10.2.0.13 -minpoll 4 -maxpoll 5; enable ntp sync")
	defer a.Shell("disable ntp sync; rm ntp server 10.2.0.13")
	for range 2 {
		if err := a.Shows("show ntp status", "Clock: synchronized to 10.2.0.13, stratum 4, ", 60*time.Second); err != nil {
			t.Fatal(err)
		}
		contains(t, "show ntp status", shell(t, "show ntp status"), "NTP sync: ENABLED", "is only watched and not set", "* 10.2.0.13 ", "   -100.0")
		kill(t, a, "mgmt")
		if err := a.Ready(); err != nil {
			t.Fatal(err)
		}
	}
	if err := topology.Eventually(30*time.Second, func() error {
		return lab.Run("client", "sh", "-c", "curl -sS -m 5 http://"+topology.ShellIP+":9100/metrics | grep -q '^sluice_clock_ahead_seconds -100.0'")
	}); err != nil {
		t.Error(err)
	}
	shell(t, "disable ntp sync")
	if err := a.Shows("show ntp status", "Clock: follows nobody", 30*time.Second); err != nil {
		t.Error(err)
	}
	if out := shell(t, "show ns runningConfig"); !strings.Contains(out, "add ntp server 10.2.0.13 -minpoll 4 -maxpoll 5\n") || strings.Contains(out, "ntp sync") {
		t.Errorf("written back:\n%s", out)
	}
}
