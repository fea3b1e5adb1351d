package dataplane

import (
	"math/rand/v2"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
)

// FuzzFrames feeds frames of any bytes to a worker that has flows, and to its twins. Whatever comes: nothing crashes, every
// frame ends under exactly one name, and every buffer is back in the end. The input is a row of frames, each behind
// two bytes: its lane and its length. A frame whose lane has the highest bit set is made longer than any port's MTU.
func FuzzFrames(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input []byte) { throw(t, input) })
}

// longer marks the lane of a frame that is made longer.
const longer = 0x80

// foreigners marks the lane of a first frame before which there are wildcard vservers.
const foreigners = 0x40

// longFrame is more than an MTU of 1500 and less than a buffer.
const longFrame = 1600

// throw plays an input on a fresh bed.
func throw(t *testing.T, input []byte) {
	q, err := port.NewMemory(lanes, poolSize)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	b := newBed(t, q, 256)
	if len(input) > 0 && input[0]&foreigners != 0 {
		b.apply(withWildcards(wildcard(20, "all", api.ProtoAny, 0, wildKeep, 101, ""), wildcard(21, "tcp", api.ProtoTCP, 0, wild1, 101, "CLIENT.TCP.DSTPORT.LT(100)")))
	}
	for _, f := range known() {
		q.Inject(f.lane, b.bytes(f.frame))
		b.turns()
	}
	before := b.ended()
	frames := uint64(0)
	for len(input) >= 3 && frames < 200 {
		lane, n, long := int(input[0])%lanes, min(int(input[1]), len(input)-2), input[0]&longer != 0
		frame := input[2 : 2+n]
		input = input[2+n:]
		if n == 0 {
			continue
		}
		if long {
			frame = append(append(make([]byte, 0, longFrame), frame...), make([]byte, longFrame-n)...)
		}
		if lane == nic2 && n > 60 { // also in two pieces
			if err := q.InjectSegments(lane, frame[:n/2], frame[n/2:]); err != nil {
				t.Fatal(err)
			}
		} else if err := q.Inject(lane, frame); err != nil {
			t.Fatal(err)
		}
		frames++
	}
	b.turns()
	b.pass(2) // whatever waits for a neighbor gives up
	if n := b.ended() - before; n != frames {
		t.Errorf("%d frames went in and %d ended: %v", frames, n, b.counters())
	}
	if n := b.counters()["undecided"]; n != 0 {
		t.Errorf("no stage decided about %d frames", n)
	}
	b.close()
}

// ended is how many frames have been counted under a name. Those that waited and gave up are counted twice: once for each.
func (b *bed) ended() uint64 {
	n := uint64(0)
	for name, v := range b.counters() {
		switch name {
		case "checksum-completed", "drop-neighbor-unresolved", "drop-tx-full":
		default:
			n += v
		}
	}
	return n
}

// known are frames that open flows of every kind, so that mutations of their like meet them.
func known() []on {
	return []on{
		{nic1, ask(5001, keepPort, syn)}, {nic2, toClient(answer(server1, 80, 5001, synack))}, {nic1, ask(5001, keepPort, ack)},
		{nic1, ask(5001, webPort, syn)}, {nic1, udp(ask(5353, dnsPort, 0))}, {nic1, gre(toAny(ask(0, 0, 0)))},
	}
}

// seeds are inputs of one or more frames that reach every part of the pipeline.
func seeds() [][]byte {
	var all [][]byte
	row := func(list ...on) {
		var s []byte
		for _, f := range list {
			b := (&bed{}).bytes(f.frame)
			s = append(append(s, byte(f.lane), byte(len(b))), b...)
		}
		all = append(all, s)
	}
	row(known()...)
	row(on{nic1, data(ask(5001, keepPort, psh))}, on{nic1, partial(ask(5001, keepPort, ack))}, on{nic1, ask(5001, keepPort, rst)}, on{nic1, ask(5001, keepPort, syn)})
	row(on{nic1, tagged(data(ask(5001, keepPort, psh)))}, on{nic2, toClient(data(answer(server1, 80, 5001, psh)))})
	row(on{nic1, whoHas(vip)}, on{nic1, whoHas(snip1)}, on{nic1, ping(vip)}, on{nic1, ping(snip1)}, on{twin1, whoHas(vip)})
	row(on{nic1, ask(6000, lostPort, syn)}, on{nic1, ask(6001, awayPort, syn)}, on{nic1, ask(6002, fewPort, syn)}, on{nic1, ask(6003, proxyPort, syn)})
	row(on{nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.Frag = 0x2000 })},
		on{nic1, with(ask(5001, webPort, syn), func(f *packet.Frame) { f.IPOptions = []byte{7, 3, 4, 0} })}, on{nic1, ttl(ask(5001, keepPort, ack), 1)})
	e := icmpError(client, vip, packet.ICMPUnreachable, 4, answered(keepPort, 5001, ack))
	e.Dst, e.Src = mac1, clientMAC
	row(on{nic1, e}, on{nic1, other(mac1, 0x86dd, 0x60)}, on{nic1, other(mac1, 0x0004, 1)}, on{nic1, gre(toAny(ask(0, 0, 0)))})
	row(on{longer + nic1, totalLen(ask(5001, keepPort, psh), longFrame-packet.EtherLen)}, on{longer + nic2, totalLen(toClient(answer(server1, 80, 5001, psh)), longFrame-packet.EtherLen)},
		on{longer + nic1, totalLen(ask(6004, lostPort, syn), 1501)}, on{longer + nic1, totalLen(ask(6005, webPort, syn), 4000)})
	row(on{nic1, with(udp(ask(5353, dnsPort, 0)), func(f *packet.Frame) { f.NoSum = true })}, on{nic1, data(udp(toAny(ask(9, 9, 0))))})
	row(on{foreigners + nic1, abroad(ask(5001, 80, syn))}, on{nic1, abroad(gre(ask(0, 0, 0)))}, on{nic2, toClient(gre(answer(server1, 0, 0, 0)))}, on{nic1, abroad(ask(5001, 80, ack))})
	return all
}

// TestMutatedFrames throws changed, cut and joined seeds in great number: what a short run of the fuzzer would.
func TestMutatedFrames(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	all := seeds()
	for range 400 {
		var input []byte
		for range 1 + r.IntN(6) {
			s := append([]byte(nil), all[r.IntN(len(all))]...)
			for range r.IntN(6) {
				s[r.IntN(len(s))] = byte(r.IntN(256))
			}
			input = append(input, s[:len(s)-r.IntN(len(s))/4]...)
		}
		throw(t, input)
		if t.Failed() {
			t.Fatalf("by the input %q", input)
		}
	}
}

// totalLen makes a frame whose IP packet says that it has n bytes and must not be fragmented. Its IP checksum is right.
func totalLen(f packet.Frame, n int) []byte {
	f.Frag, f.Payload = 0x4000, make([]byte, n-packet.IPv4Len-packet.TCPLen)
	return f.Bytes()[:l4+packet.TCPLen]
}
