package main

import (
	"net/netip"
	"strings"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

func flowOf(proto uint8, src, dst string) *api.Tuple {
	end := func(s string) api.Endpoint {
		a := netip.MustParseAddrPort(s)
		return api.Endpoint{IP: a.Addr(), Port: a.Port()}
	}
	return &api.Tuple{Proto: proto, Src: end(src), Dst: end(dst)}
}

// TestWhereInWords asks a running worker and reads its answer in management's words.
func TestWhereInWords(t *testing.T) {
	c, _, _ := startControl(t)
	tab := oneVserver(1)
	tab.Neighbors = &api.Neighbors{Version: 1, Entries: []api.Neighbor{{IP: netip.MustParseAddr("10.1.0.11"), MAC: [6]byte{2, 3, 4, 5, 6, 7}}}}
	if err := c.Apply(t.Context(), tab); err != nil {
		t.Fatal(err)
	}
	w, err := c.Where(t.Context(), flowOf(api.ProtoUDP, "10.1.0.9:5353", "10.1.0.50:53"))
	if err != nil {
		t.Fatal(err)
	}
	hop := api.Hop{Prefix: netip.MustParsePrefix("10.1.0.0/24"), Neighbor: netip.MustParseAddr("10.1.0.11"), Known: true, MAC: [6]byte{2, 3, 4, 5, 6, 7}, Port: "1/1", MTU: 1500}
	if w.Reason != "forward-new-flow" || w.Help == "" || w.Vserver != "v" || w.Service != "s" || !w.Pool || w.Entry != nil || w.Hop == nil || *w.Hop != hop ||
		w.To.Src.IP != netip.MustParseAddr("10.1.0.5") || w.To.Src.Port < 1024 || w.To.Dst.String() != "10.1.0.11:53" {
		t.Errorf("answer %+v, hop %+v", w, w.Hop)
	}
	again, err := c.Where(t.Context(), &w.Flow)
	if err != nil || again.To != w.To {
		t.Errorf("asked again: %+v, %v; before %+v", again, err, w)
	}
	if w, err := c.Where(t.Context(), flowOf(api.ProtoTCP, "10.1.0.9:5353", "10.1.0.50:53")); err != nil || w.Reason != "drop-no-vserver" || w.Hop != nil || w.Sent {
		t.Errorf("nobody listens: %+v, %v", w, err)
	}
}

// TestWhereRefusesInASentence: what cannot be asked, and a worker that stands still.
func TestWhereRefusesInASentence(t *testing.T) {
	q, err := port.NewMemory(2, 16)
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(worker.Options{Queue: q, Ports: []table.Port{{Name: "1/1", MAC: portMAC, MTU: 1500}}, Flows: 16, FlowName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { w.Close(); q.Close() }()
	c := newControl([]*worker.Worker{w}, &fakePorts{})
	for want, f := range map[string]*api.Tuple{
		"IPv4 only":                   flowOf(6, "[2001:db8::1]:1", "10.1.0.50:80"),
		"ICMP has no flows":           flowOf(1, "10.1.0.9:0", "10.1.0.50:0"),
		"worker 0 has not answered":   flowOf(6, "10.1.0.9:1", "10.1.0.50:80"),
		" is no IPv4 flow: this data": {},
	} {
		if a, err := c.Where(t.Context(), f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %+v, %v, want %q", f, a, err, want)
		}
	}
}
