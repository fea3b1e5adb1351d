package show

import (
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
)

// TestTraceGolden writes walks of every kind.
func TestTraceGolden(t *testing.T) {
	at := time.Date(2026, 3, 6, 10, 11, 12, 123456000, time.UTC).UnixNano()
	client, server, port1, port2 := [6]byte{2, 0xc1, 0, 0, 0, 1}, [6]byte{2, 0x53, 0, 0, 0, 1}, [6]byte{2, 0, 0, 0, 1, 1}, [6]byte{2, 0, 0, 0, 2, 1}
	in := api.Frame{Length: 74, Src: client, Dst: port1, EtherType: 0x800, IPv4: true, Flow: flowOf(6, "10.1.0.9:40000 10.1.0.50:80"), TTL: 64, TotalLength: 60, TCPFlags: 2}
	out := in
	out.Src, out.Dst, out.Flow, out.TTL = port2, server, flowOf(6, "10.2.0.5:1024 10.2.0.11:80"), 63
	back := api.Frame{Length: 66, Src: server, Dst: port2, Tagged: true, VLAN: 7, EtherType: 0x800, IPv4: true, Flow: flowOf(6, "10.2.0.11:80 10.2.0.5:1024"), TTL: 64, TotalLength: 52, TCPFlags: 0x12}
	backOut := back
	backOut.Src, backOut.Dst, backOut.Flow = port1, client, flowOf(6, "10.1.0.50:80 10.1.0.9:40000")
	udp := in
	udp.Flow, udp.TCPFlags, udp.Fragment = flowOf(17, "10.1.0.9:0 10.1.0.50:0"), 0, true
	arp := api.Frame{Length: 60, Src: client, Dst: [6]byte{255, 255, 255, 255, 255, 255}, EtherType: 0x806}
	arpAfter := arp
	arpAfter.Length = 0 // only IP tells how long a frame has become
	filter := &api.TraceFilter{Proto: 6, Src: netip.MustParseAddr("10.1.0.9"), Dst: netip.MustParseAddr("10.1.0.50"), DstPort: 80, Count: 8}
	passed := func(names ...string) (all []api.Step) {
		for _, n := range names {
			all = append(all, api.Step{Stage: n, Kind: api.StepPassed})
		}
		return all
	}
	full := &api.Trace{Filter: filter, Walks: []api.Walk{
		{UnixNano: at, Port: "1/1", Steps: passed("parse"), Handed: true, Owner: 1, Before: in},
		{UnixNano: at + 2500, Worker: 1, Port: "1/1", Steps: passed("parse", "steer", "established", "local"), Reason: "forward-new-flow", Help: "First packets of new flows.",
			Vserver: "web", Service: "web-s1", Before: in, After: out, Sent: true, To: "1/2"},
		{UnixNano: at + 3000000, Port: "1/2", Steps: passed("parse", "steer"), Reason: "forward-flow", Help: "Packets of known flows.", Vserver: "web", Service: "web-s1",
			Before: back, After: backOut, Sent: true, To: "1/1"},
		{UnixNano: at + 4000000, Port: "1/1", Steps: passed("parse", "steer", "established", "local"), Reason: "drop-no-service-up", Help: "No service is up.", Vserver: "web", Before: in, Dropped: true},
		{UnixNano: at + 5000000, Port: "1/1", Steps: passed("parse", "steer", "established"), Reason: "drop-ip-fragment", Help: "Fragments.", Before: udp, Dropped: true},
		{UnixNano: at + 6000000, Port: "1/1", Steps: passed("parse"), Reason: "punt-arp", Help: "ARP packets given to the kernel.", Before: arp, After: arpAfter, Sent: true, To: "1/1", ToKernel: true},
		{UnixNano: at + 7000000, Port: "1/1", Steps: passed("parse", "steer", "established", "local"), Reason: "held-neighbor", Help: "Kept for a moment.", Vserver: "web", Service: "web-s1",
			Before: in, After: out, Sent: true, Waiting: true},
	}}
	end := func(i int, steps ...api.Step) { full.Walks[i].Steps = append(full.Walks[i].Steps, steps...) }
	end(0, api.Step{Stage: "steer", Kind: api.StepHandedOver})
	end(1, api.Step{Stage: "balance", Kind: api.StepTranslated}, api.Step{Stage: "route", Kind: api.StepDecided})
	end(2, api.Step{Stage: "established", Kind: api.StepSent})
	end(3, api.Step{Stage: "balance", Kind: api.StepDecided})
	end(4, api.Step{Stage: "local", Kind: api.StepDecided})
	end(5, api.Step{Stage: "local", Kind: api.StepDecided})
	end(6, api.Step{Stage: "balance", Kind: api.StepTranslated}, api.Step{Stage: "route", Kind: api.StepDecided})
	var got strings.Builder
	for _, tr := range []*api.Trace{{}, {Filter: &api.TraceFilter{Count: 1}, Running: true, Left: 59400 * time.Millisecond}, full} {
		v := seen(t)
		v.Trace = tr
		got.WriteString("> show trace\n" + answer(t, "show trace", v))
	}
	golden(t, "trace", got.String())
}

// TestTraceFilter: what `start trace` asks for.
func TestTraceFilter(t *testing.T) {
	for line, want := range map[string]api.TraceFilter{
		"start trace": {Count: 1, Time: time.Minute},
		"start trace -srcIP 10.1.0.9 -srcPort 40000 -destIP 10.1.0.50 -destPort 80 -protocol tcp -count 9 -time 5": {Proto: 6, Src: netip.MustParseAddr("10.1.0.9"), SrcPort: 40000,
			Dst: netip.MustParseAddr("10.1.0.50"), DstPort: 80, Count: 9, Time: 5 * time.Second},
		"start trace -protocol 1":    {Proto: 1, Count: 1, Time: time.Minute},
		"start trace -protocol icmp": {Proto: 1, Count: 1, Time: time.Minute},
	} {
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Filter(op); err != nil || !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v, %v, want %+v", line, got, err, want)
		}
	}
}

// TestTraceOfNothing: filters that no packet could match, or every one against what was meant.
func TestTraceOfNothing(t *testing.T) {
	for line, want := range map[string]string{
		"start trace -srcIP 0.0.0.0":              "Invalid argument [srcIP, 0.0.0.0]: leave it out to follow packets of any address",
		"start trace -destIP 0.0.0.0":             "Invalid argument [destIP, 0.0.0.0]: leave it out to follow packets of any address",
		"start trace -protocol ICMP -destPort 80": "Invalid argument [protocol, ICMP]: its packets have no ports: leave out -srcPort and -destPort",
		"start trace -srcPort 80 -protocol 47":    "Invalid argument [protocol, 47]: its packets have no ports: leave out -srcPort and -destPort",
	} {
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Filter(op); err == nil || err.Error() != want {
			t.Errorf("%s: %+v, %v, want %s", line, f, err, want)
		}
	}
}
