package compile

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
)

// TestTokens: which part of a datagram is hashed, and the numbers of services for hash methods, reach the dataplane.
func TestTokens(t *testing.T) {
	for text, want := range map[string]api.Vserver{
		"":                              {Method: api.LeastConnection},
		"-lbMethod TOKEN -dataLength 4": {Method: api.TokenHash, TokenLength: 4},
		"-lbMethod TOKEN -dataLength 100 -dataOffset 25400":              {Method: api.TokenHash, TokenLength: 80, TokenOffset: 25400},
		"-lbMethod TOKEN -dataLength 100 -hashLength 4096":               {Method: api.TokenHash, TokenLength: 100},
		"-lbMethod TOKEN -rule client.ip.src.subnet(24)":                 {Method: api.TokenHash, TokenRule: "CLIENT.IP.SRC.SUBNET(24)"},
		`-lbMethod TOKEN -hashLength 9 -rule "CLIENT.UDP.PAYLOAD(7)"`:    {Method: api.TokenHash, TokenLength: 9, TokenRule: "CLIENT.UDP.PAYLOAD(7)"},
		"-lbMethod CALLIDHASH":                                           {Method: api.CallIDHash, TokenLength: 80},
		"-lbMethod CALLIDHASH -hashLength 12":                            {Method: api.CallIDHash, TokenLength: 12},
		"-lbMethod SOURCEIPHASH -hashLength 12 -netmask 255.255.255.255": {Method: api.SourceIPHash},
	} {
		c := configure(t, "add lb vserver v UDP 10.1.0.50 5060 "+text)
		tab, err := Tables(c, site(c))
		if err != nil {
			t.Fatal(err)
		}
		if v := tab.Config.Vservers[0]; v.Method != want.Method || v.TokenOffset != want.TokenOffset || v.TokenLength != want.TokenLength || v.TokenRule != want.TokenRule {
			t.Errorf("%q: %+v, want %+v", text, v, want)
		}
	}
	c := configure(t, "add service a 10.2.0.11 TCP 80 -hashId 7\nadd service b 10.2.0.12 TCP 80\nadd serviceGroup g TCP\nbind serviceGroup g 10.2.0.13 80 -hashId 4294967295")
	tab, err := Tables(c, site(c))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []uint32{7, 0, 1<<32 - 1} {
		if got := tab.Config.Services[i]; got.HashID != want {
			t.Errorf("service %s is number %d, want %d", got.Name, got.HashID, want)
		}
	}
}

// TestLoads: what monitors say of a service is added up by their weights; who says nothing does not count.
func TestLoads(t *testing.T) {
	c := configure(t, `add ns ip 10.2.0.5 255.255.255.0
add service a 10.2.0.11 TCP 80
add service b 10.2.0.12 TCP 80
add service c 10.2.0.13 TCP 80
bind service a -monitorName tcp -weight 3
bind service a -monitorName ping -weight 2
bind service a -monitorName http
bind service b -monitorName ping -monState DISABLED
bind service b -monitorName tcp
bind service c -monitorName ping`)
	s := site(c)
	s.Record("a", "tcp", MonitorResult{Known: true, Up: true, Load: 10, LoadKnown: true})
	s.Record("a", "ping", MonitorResult{Known: true, Up: true, Load: 1, LoadKnown: true})
	s.Record("a", "http", MonitorResult{Known: true, Up: true, Load: 1000})
	s.Record("b", "ping", MonitorResult{Known: true, Up: true, Load: 5, LoadKnown: true})
	s.Record("b", "tcp", MonitorResult{Known: true, Up: true})
	s.Record("c", "ping", MonitorResult{Known: true, Up: true, LoadKnown: true})
	h := NewIndex(c, s).Settled(s, nil).Health
	want := []api.Load{{Service: s.IDs.Services["a"], Load: 32}, {Service: s.IDs.Services["c"], Load: 0}}
	if len(h.Loads) != 2 || h.Loads[0] != want[0] || h.Loads[1] != want[1] {
		t.Errorf("loads are %+v, want %+v", h.Loads, want)
	}
}

// TestMonitorTimes: services of vservers with LRTM have the mean of what their monitors have learnt, in a few steps; others none.
func TestMonitorTimes(t *testing.T) {
	c := configure(t, `add ns ip 10.2.0.5 255.255.255.0
add service a 10.2.0.11 TCP 80
add service b 10.2.0.12 TCP 80
add service c 10.2.0.13 TCP 80
add service d 10.2.0.14 TCP 80
add lb monitor learns TCP -LRTM ENABLED
add lb monitor learns2 HTTP -LRTM ENABLED
bind service a -monitorName learns
bind service a -monitorName learns2
bind service a -monitorName ping
bind service b -monitorName learns -monState DISABLED
bind service c -monitorName learns
bind service d -monitorName learns
add lb vserver v TCP 10.1.0.50 80 -lbMethod LRTM
bind lb vserver v a
bind lb vserver v b
bind lb vserver v c
add lb vserver w TCP 10.1.0.51 80
bind lb vserver w d`)
	s := site(c)
	in := func(micros int64) MonitorResult {
		return MonitorResult{Known: true, Up: true, Average: time.Duration(micros) * time.Microsecond}
	}
	s.Record("a", "learns", in(2000))
	s.Record("a", "learns2", in(4000))
	s.Record("a", "ping", in(9000)) // of which nobody asked
	s.Record("b", "learns", in(5))
	s.Record("c", "learns", MonitorResult{Known: true, Up: true, Average: time.Nanosecond})
	s.Record("d", "learns", in(7))
	x := NewIndex(c, s)
	want := []api.Load{{Service: s.IDs.Services["a"], Load: 3000 >> 8 << 8}, {Service: s.IDs.Services["c"], Load: 1}}
	if h := x.Settled(s, nil).Health; !slices.Equal(h.Times, want) {
		t.Errorf("times are %+v, want %+v", h.Times, want)
	}
	before := x.MonitorTime(s, "a")
	s.Record("a", "learns2", in(4050))
	if x.MonitorTime(s, "a") != before {
		t.Error("a change of a hundredth makes new tables")
	}
	c = configure(t, strings.Join(grammar.Lines(c), "\n")+"\nset lb vserver v -lbMethod ROUNDROBIN")
	if h := NewIndex(c, s).Settled(s, nil).Health; h.Times != nil {
		t.Errorf("without LRTM there are times: %+v", h.Times)
	}
}
