package show

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
)

// flowOf is a flow as `show where` writes it: "10.1.0.9:40000 10.1.0.50:80".
func flowOf(proto uint8, text string) api.Tuple {
	src, dst, _ := strings.Cut(text, " ")
	end := func(s string) api.Endpoint {
		a := netip.MustParseAddrPort(s)
		return api.Endpoint{IP: a.Addr(), Port: a.Port()}
	}
	return api.Tuple{Proto: proto, Src: end(src), Dst: end(dst)}
}

// TestWhereGolden writes answers of every kind.
func TestWhereGolden(t *testing.T) {
	direct := &api.Hop{Prefix: netip.MustParsePrefix("10.2.0.0/24"), Neighbor: netip.MustParseAddr("10.2.0.11"), Known: true,
		MAC: [6]byte{2, 0, 0, 0, 0, 0x11}, Port: "1/2", MTU: 1500}
	gateway := &api.Hop{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.1.0.1"), Neighbor: netip.MustParseAddr("10.1.0.1"), Port: "1/1", MTU: 9000}
	entry := &api.FlowEntry{Client: flowOf(6, "10.1.0.9:40000 10.1.0.50:80"), Server: flowOf(6, "10.2.0.5:1024 10.2.0.11:80"), State: "established",
		Idle: 1200 * time.Millisecond, Limit: 180 * time.Second, PacketsIn: 5, BytesIn: 400, PacketsOut: 4, BytesOut: 6000}
	closed := *entry
	closed.State, closed.Limit = "closed", time.Minute
	reply := *entry
	reply.FromServer, reply.State, reply.Limit = true, "", 1<<31*time.Second/10
	rows := []struct {
		line string
		w    api.Where
	}{
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Reason: "forward-new-flow", Help: "First packets of new flows.", VserverID: 1, ServiceID: 1,
			Vserver: "web", Service: "web-s1", Sent: true, To: entry.Server, Pool: true, Hop: direct}},
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Worker: 3, Reason: "forward-flow", Help: "Packets of known flows.", Entry: entry, VserverID: 1, ServiceID: 1,
			Vserver: "web", Service: "web-s1", Sent: true, To: entry.Server, Pool: true, Hop: direct}},
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Reason: "drop-port-pool-exhausted", Help: "No port is free.", Entry: &closed, Reopens: true,
			VserverID: 1, ServiceID: 1, Vserver: "web", Service: "web-s1"}},
		{"10.2.0.11 53 10.2.0.5 1024 udp", api.Where{Flow: flowOf(17, "10.2.0.11:53 10.2.0.5:1024"), Reason: "held-neighbor", Help: "Packets kept for a moment.", Entry: &reply,
			VserverID: 7, ServiceID: 8, Service: "dns", Sent: true, To: flowOf(17, "10.1.0.50:53 192.0.2.9:5353"), Hop: gateway}},
		{"10.1.0.9 40000 10.1.0.50 81 TCP", api.Where{Flow: flowOf(6, "10.1.0.9:40000 10.1.0.50:81"), Reason: "drop-no-vserver", Help: "No vserver has the address and port."}},
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Reason: "drop-no-service-up", Help: "No service is up.", VserverID: 1, Vserver: "web"}},
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Reason: "drop-no-route", Help: "No route.", VserverID: 1, ServiceID: 2, Vserver: "web", Service: "web-s2",
			Sent: true, To: flowOf(6, "10.1.0.9:40000 172.16.0.1:80")}},
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Reason: "forward-new-flow", Help: "First packets of new flows.", VserverID: 1, ServiceID: 2,
			Vserver: "web", Service: "web-s2", Sent: true, To: flowOf(6, "10.1.0.9:2000 10.2.0.11:80"), Hop: direct}},
		{"10.1.0.9 0 10.1.0.51 0 47", api.Where{Flow: flowOf(47, "10.1.0.9:0 10.1.0.51:0"), Reason: "forward-new-flow", Help: "First packets of new flows.", VserverID: 2, ServiceID: 3,
			Vserver: "any", Service: "all", Sent: true, To: flowOf(47, "10.2.0.5:0 10.2.0.11:0"), Hop: direct}},
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Reason: "drop-backup-vip", Help: "Packets for VIPs of a backup."}},
		{"10.1.0.9 40000 10.1.0.50 80 TCP", api.Where{Flow: entry.Client, Reason: "forward-to-master", Help: "Packets for VIPs of a backup, sent on to the master."}},
	}
	var got strings.Builder
	for _, row := range rows {
		v, line := seen(t), "show where "+row.line
		v.Where = &row.w
		got.WriteString("> " + line + "\n" + answer(t, line, v))
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if flow, err := Flow(op); err != nil || *flow != row.w.Flow {
			t.Errorf("%s asks about %+v: %v", line, flow, err)
		}
	}
	golden(t, "where", got.String())
}

// TestWhereRefuses: flows that cannot be.
func TestWhereRefuses(t *testing.T) {
	for line, word := range map[string]string{
		"show where 10.1.0.9 0 10.1.0.50 80 TCP":     "srcPort",
		"show where 10.1.0.9 40000 10.1.0.50 0 UDP":  "destPort",
		"show where 10.1.0.9 0 10.1.0.50 80 47":      "destPort",
		"show where 10.1.0.9 0 10.1.0.50 0 1":        "ICMP",
		"show where 10.1.0.9 40000 10.1.0.50 80 6":   "",
		"show where 10.1.0.9 40000 10.1.0.50 80 tcp": "",
	} {
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Flow(op)
		if (err == nil) != (word == "") || err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v, want %q named", line, err, word)
		}
	}
}
