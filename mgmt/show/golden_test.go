package show

import (
	"errors"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

const site = `
add ns ip 192.168.77.1 255.255.255.0 -type NSIP
add ns ip 10.1.0.5 255.255.255.0 -vServer DISABLED
add ns ip 10.2.0.5 255.255.255.0 -vServer DISABLED
add vlan 2 -aliasName servers
bind vlan 2 -ifnum 1/2
bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0
add server s1 10.2.0.11
add server s2 10.2.0.12 -comment "in rack 4"
add lb monitor health HTTP -interval 500 MSEC -resptimeout 200 MSEC -respCode 200 302 -httpRequest "GET /health"
add lb monitor auth RADIUS -userName probe -password top-secret -radKey top-secret -radNASid adc -respCode 2-3
add lb monitor text TCP-ECV -send "hello\r\n" -recv ready -secure YES -reverse YES
add service web-s1 s1 HTTP 80
add service web-s2 s2 HTTP 80 -usip YES -useproxyport NO
add service all 10.2.0.13 ANY *
bind service web-s1 -monitorName health
add lb vserver web HTTP 10.1.0.50 80 -lbMethod ROUNDROBIN -comment "the site"
add lb vserver idle TCP 10.1.0.51 81 -lbMethod SOURCEIPHASH -netmask 255.255.255.0 -newServiceRequest 10 -newServiceRequestIncrementInterval 5
add lb vserver wild ANY * * -Listenpolicy "CLIENT.VLAN.ID.EQ(2)" -Listenpriority 9
bind lb vserver web web-s1 -weight 3
bind lb vserver web web-s2
disable lb vserver idle
disable service all
add route 0.0.0.0 0.0.0.0 10.1.0.1
add route 10.9.0.0 255.255.0.0 10.2.0.1
add route 10.9.0.0 255.255.0.0 10.2.0.2 -distance 9
`

func configure(t *testing.T, text string) *schema.Config {
	t.Helper()
	c := schema.New()
	for _, line := range strings.Split(text, "\n") {
		op, err := grammar.Parse(line)
		if err == nil && op != nil {
			err = op.Apply(c)
		}
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	return c
}

// seen is a moment of an appliance with the site: 90 minutes after its services came up, 10 s after a reading.
func seen(t *testing.T) *View {
	now := time.Date(2026, 3, 6, 10, 11, 12, 0, time.UTC)
	c := configure(t, site)
	s := &compile.State{Ports: []compile.Port{{Name: "1/1", Device: "da", Twin: "tw0"}, {Name: "1/2", Device: "db", Twin: "tw1"}},
		IDs: compile.AssignIDs(c, nil, compile.IDs{}), Elsewhere: []netip.Prefix{netip.MustParsePrefix("192.168.77.1/24")}}
	s.Record("web-s1", "health", compile.MonitorResult{Known: true, Up: true, Probes: 1000, Failed: 3, Took: 1234 * time.Microsecond,
		Response: "Success - HTTP response code 200 received."})
	s.Record("web-s2", "tcp-default", compile.MonitorResult{Known: true, Probes: 20, Failed: 7, FailedNow: 5, Took: 2 * time.Second,
		Response: "Failure - Time out during TCP connection establishment stage"})
	for n, h := range s.Services {
		h.Since = now.Add(-90*time.Minute - 10*time.Millisecond)
		s.Services[n] = h
	}
	s.Vservers = map[string]compile.Since{"web": {Up: true, At: now.Add(-49 * time.Hour)}}
	before := reading(1)
	return &View{Config: c, State: s, Now: now, Stats: reading(3), Before: before, Elapsed: 10 * time.Second,
		ChangedAt: now.Add(-time.Hour),
		Neighbors: []Neighbor{{"1/2", netip.MustParseAddr("10.2.0.11"), [6]byte{2, 0, 0, 0, 0, 0x11}, "DYNAMIC"},
			{"1/1", netip.MustParseAddr("10.1.0.100"), [6]byte{2, 0, 0, 0, 0, 1}, "STATIC"}},
		System: System{Host: "adc", Release: "0.1", Build: "1234abcd", Started: now.Add(-26 * time.Hour), Built: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
			Degraded: []string{"startup.xml: line 7: no such thing"},
			Machine:  Machine{Product: "KVM", CPU: "Xeon", Kernel: "6.1", CPUs: 2, MHz: 2100, MemoryMB: 4096}},
		Saved: Saved{Config: configure(t, "add server s1 10.2.0.11"), By: "nsroot", At: now.Add(-2 * time.Hour),
			Problems: []string{"line 7: no such thing (not in force, kept in the file)"}},
	}
}

// reading is a set of counters, all of them proportional to n.
func reading(n uint64) *api.Stats {
	flows := func(id uint32, name string, k uint64) api.FlowStats {
		return api.FlowStats{ID: id, Name: name, Flows: 100 * k * n, OpenFlows: k, PacketsIn: 1000 * k * n, BytesIn: 52000 * k * n,
			PacketsOut: 2000 * k * n, BytesOut: 3000000 * k * n, RecentPackets: 14 * k, RecentBytes: 1400 * k}
	}
	return &api.Stats{
		StartedUnixMilli: time.Date(2026, 3, 6, 8, 0, 0, 0, time.UTC).UnixMilli(),
		Buffers:          8191, BuffersFree: 8063,
		Ports: []api.PortStats{
			{Name: "1/1", MAC: [6]byte{2, 1, 1, 1, 1, 1}, LinkUp: true, MTU: 1500, RxPackets: 5000 * n, RxBytes: 500000 * n, TxPackets: 6000 * n,
				TxBytes: 600000 * n, RxMissed: n, TxFull: 2 * n, TwinRxPackets: 10 * n, TwinTxPackets: 20 * n},
			{Name: "1/2", MTU: 1500},
		},
		ConfigVersion: 5, HealthVersion: 70, FIBVersion: 3, NeighborsVersion: 12,
		Workers: []api.WorkerStats{
			{Lcore: 1, TotalCycles: 1000 * n, BusyCycles: 1000*n - 900, Polls: 700 * n, Packets: 4000 * n, HandedOver: 2000 * n, TakenOver: 500 * n, Sleeps: n, Flows: 50, FlowCapacity: 500,
				ConfigVersion: 5, HealthVersion: 70, FIBVersion: 3, NeighborsVersion: 12, Counters: []uint64{8000 * n, 20 * n, 10 * n, 0}},
			{Lcore: 2, TotalCycles: 1000 * n, BusyCycles: 100 * n, Polls: 9000 * n, Packets: 1000 * n, HandedOver: 500 * n, TakenOver: 2000 * n, Sleeps: 20 * n, Flows: 450, FlowCapacity: 500,
				ConfigVersion: 4, HealthVersion: 70, FIBVersion: 3, NeighborsVersion: 12, Counters: []uint64{1000 * n, 0, 20 * n, 0}},
		},
		Counters: []api.Counter{{Name: "transmit", Value: 9000 * n}, {Name: "punt", Value: 20 * n},
			{Name: "drop-no-vserver", Value: 30 * n, Help: "No vserver has the address and port."}, {Name: "drop-ttl-expired", Help: "The TTL is used up."}},
		Vservers: []api.FlowStats{flows(1, "web", 3)},
		Services: []api.FlowStats{flows(1, "web-s1", 2), flows(2, "web-s2", 1)},
	}
}

func answer(t *testing.T, line string, v *View) string {
	t.Helper()
	op, err := grammar.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	text, err := Text(op, v)
	if err != nil {
		return "ERROR: " + err.Error() + "\n"
	}
	return text
}

func TestGolden(t *testing.T) {
	rows := map[string][]string{
		"addresses":  {"show ns ip", "show ns ip -type VIP", "show ns ip 10.1.0.5", "show ns ip 10.1.0.99"},
		"network":    {"show vlan", "show vlan 2", "show vlan 9", "show route", "show route 10.9.0.0 255.255.0.0", "show route 10.7.0.0", "show arp", "show arp 10.2.0.11", "show arp 10.2.0.99"},
		"interface":  {"show interface", "show interface 1/2", "show interface 1/7"},
		"timeout":    {"show ns timeout"},
		"server":     {"show server", "show server s2", "show server s9"},
		"service":    {"show service", "show service web-s2", "show service s9"},
		"lb-vserver": {"show lb vserver", "show lb vserver web", "show lb vserver v9"},
		"parameter":  {"show lb parameter"},
		"lb-monitor": {"show lb monitor", "show lb monitor health", "show lb monitor ping", "show lb monitor auth", "show lb monitor text", "show lb monitor m9"},
		"system":     {"show version", "show hardware"},
		"appliance":  {"show ns feature", "show ns mode", "show HA node", "show HA node 0", "show HA node 5", "show ns partition", "show partition", "show partition p1"},
		"config":     {"show ns runningConfig", "show ns ns.conf", "show ns savedConfig"},
		"worker":     {"stat worker", "stat worker 0", "stat worker 1", "stat worker 2"},
		"stat":       {"stat ns", "stat lb vserver", "stat lb vserver web", "stat service", "stat service web-s1", "stat service s9"},
	}
	for name, lines := range rows {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, line := range lines {
				got.WriteString("> " + line + "\n" + answer(t, line, seen(t)))
			}
			if strings.Contains(got.String(), "top-secret") {
				t.Error("a secret is shown")
			}
			golden(t, name, got.String())
		})
	}
}

// golden compares got with the file of that name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got:\n%s", path, got)
	}
}

// TestStartupShows: the reason stands there while turns are left, and not longer.
func TestStartupShows(t *testing.T) {
	v := seen(t)
	for why, want := range map[api.Startup]string{api.StartupBound: "A new service is bound", api.StartupUp: "Bound service's state changed to UP",
		api.StartupVserver: "A new vserver is added", api.StartupMethod: "The method is changed"} {
		v.Stats.Vservers[0].Startup, v.Stats.Vservers[0].StartupLeft = why, 7
		got := answer(t, "show lb vserver web", v)
		if !strings.Contains(got, "\tConfigured Method: ROUNDROBIN\n\tCurrent Method: Round Robin, Reason: "+want+"\n\tMode: IP\n") {
			t.Errorf("reason %d: got:\n%s", why, got)
		}
	}
	v.Stats.Vservers[0].StartupLeft = 0
	if got := answer(t, "show lb vserver", v); strings.Contains(got, "Current Method") {
		t.Errorf("the start-up is over; got:\n%s", got)
	}
	v.Config = configure(t, "set lb parameter -startupRRFactor 5")
	if got, want := answer(t, "show lb parameter", v), "\tGlobal LB parameters:\n\tStartup RR factor: 5\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWithoutDataplane(t *testing.T) {
	v := seen(t)
	v.Stats, v.Before, v.Without = nil, nil, errors.New("The dataplane is not connected")
	for _, line := range []string{"stat ns", "stat worker", "stat worker 0", "show where 1.1.1.1 1 2.2.2.2 2 TCP", "show trace", "stat service", "stat lb vserver web"} {
		if got := answer(t, line, v); got != "ERROR: The dataplane is not connected\n" {
			t.Errorf("%s: %q", line, got)
		}
	}
	if got := answer(t, "show interface", v); strings.Contains(got, ", UP") || !strings.Contains(got, "not connected") {
		t.Errorf("show interface: %s", got)
	}
}

// TestFirstReadingHasNoRate: without an earlier reading a rate would be a guess.
func TestFirstReadingHasNoRate(t *testing.T) {
	v := seen(t)
	v.Before = nil
	got := answer(t, "stat lb vserver web", v)
	if !strings.Contains(got, "--                  900") || !strings.Contains(got, "900         --\n") {
		t.Errorf("got:\n%s", got)
	}
}

// TestRates compares what is printed with a reading of the same counters.
func TestRates(t *testing.T) {
	got := answer(t, "stat ns", seen(t))
	for _, want := range []string{"1000                15000", "6                   90"} { // (3-1) x 5000 packets and x 30 drops in 10 s
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if !strings.Contains(got, "Packet CPU usage (%)                                                        55.0") {
		t.Errorf("busy for 2200 of 4000 cycles between the readings, got:\n%s", got)
	}
	got = answer(t, "stat worker 0", seen(t))
	for _, want := range []string{"usage (%)                                                       100.0", "since start (%)                                            70.0"} {
		if !strings.Contains(got, want) {
			t.Errorf("worker 0 was busy for 2000 of 2000 cycles between the readings and 2100 of 3000 since the start; got:\n%s", got)
		}
	}
	if strings.Contains(got, "drop-ttl-expired") {
		t.Error("a reason for which nothing was dropped is listed")
	}
}

// TestServiceGroups: what is told of groups and their members.
func TestServiceGroups(t *testing.T) {
	v := seen(t)
	v.Config = configure(t, site+`
add serviceGroup pool HTTP -comment "all of rack 4"
add serviceGroup empty TCP -healthMonitor NO -usip YES -state DISABLED
bind serviceGroup pool s1 8080 -weight 4
bind serviceGroup pool s2 8080
bind serviceGroup pool 10.2.0.14 8080 -state DISABLED
bind serviceGroup pool -monitorName health
bind lb vserver web pool`)
	v.State.IDs = compile.AssignIDs(v.Config, v.State.Resolutions, v.State.IDs)
	v.State.Record("pool?s1?8080", "health", compile.MonitorResult{Known: true, Up: true, Probes: 12, Response: "Success - HTTP response code 200 received."})
	v.State.Record("pool?s2?8080", "health", compile.MonitorResult{Known: true, Probes: 5, Failed: 5, FailedNow: 5})
	h := v.State.Services["pool?s1?8080"]
	h.Since = v.Now.Add(-time.Minute)
	v.State.SetService("pool?s1?8080", h)
	for n, st := range []*api.Stats{v.Before, v.Stats} {
		st.Services = append(st.Services, api.FlowStats{ID: 5, Name: "pool?s1?8080", Flows: uint64(100 * n), OpenFlows: 7, PacketsIn: uint64(500 * n)})
	}
	var got strings.Builder
	for _, line := range []string{"show serviceGroup", "show serviceGroup pool", "show serviceGroup pool -includeMembers", "show serviceGroup g9", "show lb vserver web", "show server s2",
		"show lb monitor health", "stat serviceGroup", "stat serviceGroup pool", "stat serviceGroup g9", "stat serviceGroupMember pool s1 8080",
		"stat serviceGroupMember pool 10.2.0.12 8080", "stat serviceGroupMember pool s1 81", "stat serviceGroupMember g9 s1 81", "stat lb vserver web"} {
		got.WriteString("> " + line + "\n" + answer(t, line, v))
	}
	golden(t, "service-group", got.String())
}

// TestLeaving: what goes out of service says how far it is.
func TestLeaving(t *testing.T) {
	v := seen(t)
	v.Config = configure(t, site+`
add serviceGroup pool HTTP
bind serviceGroup pool s1 8080
bind serviceGroup pool s2 8080
bind lb vserver web pool`)
	for _, line := range []string{"disable service web-s1 60 -graceFul YES", "disable serviceGroup pool s1 8080 -graceFul YES", "disable server s2 90", "disable serviceGroup pool -delay 45"} {
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		op.At = v.Now.Add(-18 * time.Second)
		if err := op.Apply(v.Config); err != nil {
			t.Fatal(err)
		}
	}
	v.State.Record("pool?s1?8080", "tcp-default", compile.MonitorResult{Known: true, Up: true})
	for n, st := range []*api.Stats{v.Before, v.Stats} {
		st.Services = append(st.Services, api.FlowStats{ID: 5, Name: "pool?s1?8080", Flows: uint64(100 * n), OpenFlows: 7}, api.FlowStats{ID: 6, Name: "pool?s2?8080", OpenFlows: 11})
	}
	var got strings.Builder
	lines := []string{"show service web-s1", "show server s2", "show serviceGroup pool", "show lb vserver web", "stat service"}
	for _, line := range lines {
		got.WriteString("> " + line + "\n" + answer(t, line, v))
	}
	v.Stats = nil
	got.WriteString("> show service web-s1\n" + answer(t, "show service web-s1", v))
	golden(t, "leaving", got.String())
}
