package dataplane

import (
	"bytes"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// crewConfig is config with vservers on addresses that are also the kernel's: on ports of a SNIP that the dataplane gives out and that it
// does not, and on a SNIP's and the NSIP's every port.
func crewConfig() *api.Config {
	c := config()
	c.Addresses = append(c.Addresses, api.Address{IP: addr(nsip), Kind: api.OwnNSIP})
	for i, v := range []api.Vserver{{IP: addr(snip2), Port: 40500}, {IP: addr(snip2), Port: 443}, {IP: addr(nsip), Port: 8080}} {
		v.ID, v.Name, v.Proto, v.Method, v.Bindings = uint32(20+i), "own", api.ProtoTCP, api.RoundRobin, []api.Binding{{Service: 1, Weight: 1}}
		c.Vservers = append(c.Vservers, v)
		v.ID, v.Name, v.Port, v.Bindings = v.ID+10, "kept", v.Port+1, []api.Binding{{Service: 6, Weight: 1}}
		c.Vservers = append(c.Vservers, v)
	}
	return c
}

var nsip = ip4{10, 1, 0, 2}

// TestReplyComesToTheOwner: whatever kind of flow it is and whichever worker a packet comes to, the answer is translated, and so are errors
// about either direction. Were a packet's owner not the flow's, it would find no flow.
func TestReplyComesToTheOwner(t *testing.T) {
	kinds := []struct {
		name  string
		first func(sport uint16) packet.Frame
	}{
		{"NAT, TCP", func(p uint16) packet.Frame { return ask(p, webPort, syn) }},
		{"NAT, UDP", func(p uint16) packet.Frame { return udp(ask(p, dnsPort, 0)) }},
		{"ANY", func(p uint16) packet.Frame { return toAny(ask(p, p+1, syn)) }},
		{"usip", func(p uint16) packet.Frame { return ask(p, keepPort, syn) }},
		{"usip with a port of ours", func(p uint16) packet.Frame { return ask(p, proxyPort, syn) }},
		{"a SNIP's port that may be given out", func(p uint16) packet.Frame { return to(ask(p, 40500, syn), snip2) }},
		{"the same, usip", func(p uint16) packet.Frame { return to(ask(p, 40501, syn), snip2) }},
		{"a SNIP's port that may not", func(p uint16) packet.Frame { return to(ask(p, 443, syn), snip2) }},
		{"the same, usip", func(p uint16) packet.Frame { return to(ask(p, 444, syn), snip2) }},
		{"the NSIP", func(p uint16) packet.Frame { return to(ask(p, 8080, syn), nsip) }},
		{"the same, usip", func(p uint16) packet.Frame { return to(ask(p, 8081, syn), nsip) }},
	}
	for _, c := range crews {
		for _, k := range kinds {
			t.Run(c.String()+", "+k.name, func(t *testing.T) {
				b := newCrew(t, newMemories(t, c.workers, poolSize), c, 4096)
				b.apply(&api.Tables{Config: crewConfig()})
				const flows = 60
				for i := range flows {
					b.exchange(k.first(uint16(20000 + 37*i)))
				}
				for w, s := range b.stats().Workers {
					if s.Flows < flows/4/uint64(c.workers) {
						t.Errorf("worker %d has %d flow entries", w, s.Flows)
					}
				}
				want := map[string]uint64{"forward-new-flow": flows, "forward-flow": 2 * flows, "forward-icmp-error": 2 * flows}
				if d := sameCounters(b.counters(), want); d != "" {
					t.Error(d)
				}
				b.close()
			})
		}
	}
}

// exchange sends a flow's first packet, the server's answer, another packet, and an error about either side's packets. Each must
// come out on the other side, as it would with a worker alone.
func (b *bed) exchange(first packet.Frame) {
	b.t.Helper()
	asked := b.becomes(nic1, nic2, first.Bytes())
	reply := turned(asked)
	answered := b.becomes(nic2, nic1, reply)
	if want := turned(first.Bytes()); !bytes.Equal(answered[26:38], want[26:38]) {
		b.t.Fatalf("the answer came out as %s, want the tuple of %s", describe(answered), describe(want))
	}
	first.Flags = packet.ACK & -min(first.Flags, 1) // of TCP
	b.becomes(nic1, nic2, first.Bytes())
	about := func(lane, out int, got []byte, us mac) {
		e := icmpError(router, ip4(got[26:30]), packet.ICMPUnreachable, 4, packet.Frame{})
		e.Dst, e.Src, e.Payload = us, otherMAC, append([]byte{0, 0, 5, 0x14}, got[l2:l4+8]...)
		b.becomes(lane, out, e.Bytes())
	}
	about(nic2, nic1, asked, mac2)
	about(nic1, nic2, answered, mac1)
}

// becomes lets a frame in and takes the one that it becomes.
func (b *bed) becomes(lane, out int, frame []byte) []byte {
	b.t.Helper()
	b.enters(lane, frame)
	for l := range lanes {
		if sent := b.q.Sent(l); l != out && len(sent) > 0 || l == out && len(sent) != 1 {
			b.t.Fatalf("lane %d sent %d frames for %s: %v", l, len(sent), describe(frame), b.counters())
		} else if l == out {
			frame = sent[0]
		}
	}
	return frame
}

// turned is the answer to a frame: addresses and ports change sides, a SYN is acknowledged.
func turned(f []byte) []byte {
	h := packet.IPv4(f[l2:])
	a := packet.Frame{Dst: mac(f[6:12]), Src: mac(f[:6]), SrcIP: h.Dst(), DstIP: h.Src(), Proto: h.Proto()}
	t := packet.TCP(h.Payload())
	a.SrcPort, a.DstPort = t.DstPort(), t.SrcPort()
	if a.Proto == packet.ProtoTCP {
		a.Flags = synack
	}
	return a.Bytes()
}

// TestRoundRobinOfSeveral: 300 connections over three servers are 100 each, give or take the number of workers.
func TestRoundRobinOfSeveral(t *testing.T) {
	for _, c := range crews {
		b := newCrew(t, newMemories(t, c.workers, poolSize), c, 8192)
		by := map[ip4]int{}
		for i := range 300 {
			by[packet.IPv4(b.becomes(nic1, nic2, ask(uint16(20000+i), webPort, syn).Bytes())[l2:]).Dst()]++
		}
		for _, s := range []ip4{server1, server2, server3} {
			if d := by[s] - 100; d < -c.workers || d > c.workers || c.workers == 1 && d != 0 {
				t.Errorf("%v: %v took %d of 300 connections (all: %v)", c, addr(s), by[s], by)
			}
		}
		s := b.stats()
		if s.Vservers[0].Flows != 300 || s.Vservers[0].OpenFlows != 300 || s.SNIPs[0].PortsInUse != 300 {
			t.Errorf("%v: the figures of %d workers do not add up: %+v, %+v", c, c.workers, s.Vservers[0], s.SNIPs[0])
		}
		b.close()
	}
}
