package lb

import (
	"math"
	"math/rand/v2"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// oracle is a list of all packets, and what follows from it for choices.
type oracle struct {
	t       *testing.T
	r       *rand.Rand
	b       *bed
	method  api.Method
	weights []uint16
	now     uint32 // seconds
	seen    []sighting
	up      []uint32
	last    uint32 // place after the last choice
	tab     *table.Set
	v       *table.Vserver
}

// sighting is a packet of a service.
type sighting struct {
	second, service uint32
	bytes           uint64
}

// load is the sum over the packets of a service in the window.
func (o *oracle) load(service uint32) (n Traffic) {
	for _, p := range o.seen {
		if p.service == service && o.now-p.second < Window {
			n.Packets++
			n.Bytes += p.bytes
		}
	}
	return n
}

func (o *oracle) byWeight(service uint32) float64 {
	n := o.load(service)
	if o.method == api.LeastBandwidth {
		return float64(n.Bytes) / float64(o.weights[service-1])
	}
	return float64(n.Packets) / float64(o.weights[service-1])
}

// pick compares a choice with the naive rule and counts the packet.
func (o *oracle) pick() {
	want, place := uint32(0), uint32(0)
	for k := range uint32(len(o.up)) {
		i := (o.last + k) % uint32(len(o.up))
		if want == 0 || o.byWeight(o.up[i]) < o.byWeight(want)*(1-1e-12) {
			want, place = o.up[i], i
		}
	}
	got := o.b.Pick(o.tab, o.v, 0, 0)
	if got != want {
		o.t.Fatalf("chose %d, the naive rule says %d", got, want)
	}
	if got != 0 {
		o.last = place + 1
		o.packet(&o.b.account(1, got).In, got, 40)
	}
}

func (o *oracle) packet(to *Traffic, service uint32, bytes uint64) {
	to.Packets++
	to.Bytes += bytes
	o.seen = append(o.seen, sighting{o.now, service, bytes})
}

// flows has a packet on a flow that is there, also of a service that is not up.
func (o *oracle) flows() {
	id := uint32(1 + o.r.IntN(6))
	a := o.b.account(uint32(1+o.r.IntN(3)), id)
	to := &a.In
	if o.r.IntN(2) == 0 {
		to = &a.Out
	}
	o.packet(to, id, uint64(28+o.r.IntN(1500)))
}

// health has others be up.
func (o *oracle) health() {
	o.up = nil
	for id := uint32(1); id <= 6; id++ {
		if o.r.IntN(3) > 0 {
			o.up = append(o.up, id)
		}
	}
	before := o.tab
	o.tab, o.v = set(o.t, before, o.method, o.weights, o.up)
	before.Free(o.tab)
}

// TestLoadAgainstNaive lets time pass, services come and go, accounts open and counters wrap, and compares every choice and every
// load with a list of all packets.
func TestLoadAgainstNaive(t *testing.T) {
	for seed := range uint64(8) {
		o := &oracle{t: t, r: rand.New(rand.NewPCG(seed, 3)), b: newBed(t), method: []api.Method{api.LeastPackets, api.LeastBandwidth}[seed%2],
			up: []uint32{1, 2, 3, 4, 5, 6}}
		for range o.up {
			o.weights = append(o.weights, uint16(1+o.r.IntN(100)))
		}
		o.tab, o.v = set(t, nil, o.method, o.weights, o.up)
		for step := range 3000 {
			switch k := o.r.IntN(20); {
			case k == 0:
				o.now += uint32(1 + o.r.IntN(4))
				o.b.second(o.now)
			case k == 1 && step%7 == 0:
				o.health()
			case k < 8:
				o.flows()
			default:
				o.pick()
			}
			id := uint32(1 + o.r.IntN(6))
			if got, want := o.b.carried(id), o.load(id); got != want {
				t.Fatalf("seed %d step %d: service %d has %+v, the naive sum is %+v", seed, step, id, got, want)
			}
			if step%500 == 499 { // every counter goes to where it wraps soon; the window does not feel it
				o.b.wrap(uint64(o.r.IntN(2000)))
			}
		}
		o.tab.Free(nil)
	}
}

// wrap adds to each counter and to what was noted of it as much as leaves the given number up to the wrap.
func (b *bed) wrap(left uint64) {
	services := map[uint32]Traffic{}
	for k, a := range b.accounts {
		for _, to := range []*Traffic{&a.In, &a.Out} {
			by := Traffic{math.MaxUint64 - left - to.Packets, math.MaxUint64 - left - to.Bytes}
			to.Packets += by.Packets
			to.Bytes += by.Bytes
			l := services[k[1]]
			l.Packets += by.Packets
			l.Bytes += by.Bytes
			services[k[1]] = l
		}
	}
	for id, by := range services {
		for n := range uint32(Window) {
			p := &b.service(id).past[n]
			p.Packets += by.Packets
			p.Bytes += by.Bytes
		}
	}
}
