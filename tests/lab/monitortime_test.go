package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestLRTM: of connections that stay open, the server that answers its monitor slowest gets the fewest.
func TestLRTM(t *testing.T) {
	mustSettle(t)
	write(t, "www/timed", strings.Repeat("tick\n", 300)+"end\n")
	defer os.Remove(lab.Path("www/timed"))
	slowWeb(t, "s3")
	shell(t, `add lb monitor timed HTTP-ECV -send "GET /timed" -recv end -LRTM ENABLED -interval 4 -resptimeout 4`)
	defer shell(t, "rm lb monitor timed")
	for _, s := range topology.Servers {
		shell(t, "bind service web-"+s+" -monitorName timed")
		defer shell(t, "unbind service web-"+s+" -monitorName timed")
	}
	answersLast(t, "s3")
	mustSettle(t)
	shell(t, "set lb vserver web -lbMethod LRTM")
	defer shell(t, "set lb vserver web -lbMethod ROUNDROBIN")
	if n := holding(t, 24); n["s3"] >= n["s1"] || n["s3"] >= n["s2"] {
		t.Errorf("s3, which answers slowly, has not the fewest of the connections: %v", n)
	}
}

// slowWeb starts a web server anew that sends its file timed at no more than 1000 bytes a second, until the test ends.
func slowWeb(t *testing.T, server string) {
	t.Helper()
	b, err := os.ReadFile(lab.Path(server + "/nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	again := func(conf string) {
		write(t, server+"/nginx.conf", conf)
		if err := lab.Stop(server + "-nginx"); err != nil {
			t.Error(err)
		}
		if err := lab.Start(server, server+"-nginx", "nginx", "-e", lab.Path(server+"/error.log"), "-c", lab.Path(server+"/nginx.conf")); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(func() { again(string(b)) })
	again(strings.Replace(string(b), "location = /alive", "location = /timed { limit_rate 1000; }\n    location = /alive", 1))
}

// averageTime is what show service says of a monitor that learns.
var averageTime = regexp.MustCompile(`Average Response Time: ([0-9.]+) millisec`)

// answersLast waits until all services of web know how long their servers take, and the server takes longest.
func answersLast(t *testing.T, server string) {
	t.Helper()
	if err := topology.Eventually(30*time.Second, func() error {
		took := map[string]float64{}
		for _, s := range topology.Servers {
			out, err := lab.Basic().Shell("show service web-" + s)
			if err != nil {
				return err
			}
			if m := averageTime.FindStringSubmatch(out); m != nil {
				took[s], _ = strconv.ParseFloat(m[1], 64)
			}
		}
		for _, s := range topology.Servers {
			if took[s] == 0 || s != server && took[s] >= took[server] {
				return fmt.Errorf("%s does not answer last, by milliseconds: %v", server, took)
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// holding opens connections to web one after the other, says how many of them each server has while all are open, and ends them.
func holding(t *testing.T, n int) map[string]int {
	t.Helper()
	carried(t, 0)
	for i := range n {
		cmd := client("bash", "-c", "exec 3<>/dev/tcp/"+topology.VIP+"/80 && exec sleep 50")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer func() { cmd.Process.Kill(); cmd.Wait() }()
		carried(t, i+1)
	}
	by := map[string]int{}
	for _, s := range topology.Servers {
		k, err := fromClients(s)
		if err != nil {
			t.Fatal(err)
		}
		by[s] = k
	}
	return by
}
