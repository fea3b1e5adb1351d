package main

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestDownStateFlush: idle connections of services that go out of service are reset at both ends, by real kernels, and new
// ones are served once the services are back.
func TestDownStateFlush(t *testing.T) {
	mustSettle(t)
	idle := client("bash", "-c", "exec 3<>/dev/tcp/"+topology.VIP+"/80 && echo open && timeout 20 cat <&3")
	said := make(chan string, 1)
	go func() { b, _ := idle.CombinedOutput(); said <- string(b) }()
	carried(t, 1)
	for _, s := range []string{"web-s1", "web-s2", "web-s3"} {
		shell(t, "disable service "+s)
		defer waitState(t, s, "UP", 15*time.Second)
		defer shell(t, "enable service "+s)
	}
	carried(t, 0)
	select {
	case got := <-said:
		if !strings.Contains(got, "open") || !strings.Contains(got, "reset") {
			t.Errorf("the idle client says %q, not that its connection was reset", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the idle client was not told")
		idle.Process.Kill()
		<-said
	}
}

// carried waits until so many connections from the SNIP's ports of the dataplane are established at the servers.
func carried(t *testing.T, want int) {
	t.Helper()
	err := topology.Eventually(8*time.Second, func() error {
		n := 0
		for _, s := range topology.Servers {
			out, err := exec.Command("ip", "netns", "exec", lab.NS(s), "ss", "-Htn", "state", "established", "sport = :80").Output()
			if err != nil {
				return err
			}
			for l := range strings.Lines(string(out)) {
				// The kernel's ports, of the monitors, begin at 60000.
				if q, err := strconv.Atoi(strings.TrimSpace(l[strings.LastIndex(l, ":")+1:])); err == nil && q < 60000 {
					n++
				}
			}
		}
		if n != want {
			return fmt.Errorf("%d connections are established at the servers, not %d", n, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
