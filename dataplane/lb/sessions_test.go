package lb

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// Of the vservers of persistent, 3 has no persistence.
const (
	minutes2 = 1200 // ticks
	services = 5
)

// persistent is a set of three vservers and some services, of which up says who may be chosen.
func persistent(t testing.TB, prev *table.Set, up []uint32) *table.Set {
	t.Helper()
	ip := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, n}) }
	c := &api.Config{}
	for id := uint32(1); id <= services; id++ {
		c.Services = append(c.Services, api.Service{ID: id, Name: "s", IP: ip(byte(id)), Port: 80, Proto: api.ProtoTCP})
	}
	for id := uint32(1); id <= 3; id++ {
		v := api.Vserver{ID: id, Name: "v", IP: ip(byte(100 + id)), Port: 80, Proto: api.ProtoTCP, Method: api.RoundRobin}
		if id < 3 {
			v.Persistence, v.PersistSeconds = api.PersistSourceIP, 120*id
		}
		for s := uint32(1); s <= services; s++ {
			v.Bindings = append(v.Bindings, api.Binding{Service: s, Weight: 1})
		}
		c.Vservers = append(c.Vservers, v)
	}
	if prev == nil {
		var err error
		if prev, err = table.Empty(nil); err != nil {
			t.Fatal(err)
		}
	}
	s, err := table.Build(&api.Tables{Config: c, Health: &api.Health{Up: up}}, prev)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sessions(t testing.TB, n int) *Sessions {
	t.Helper()
	s, err := NewSessions(n, 0, table.TicksPerSecond, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// audit compares the counts with what is in the slots.
func (s *Sessions) audit(t *testing.T) {
	t.Helper()
	used, open := uint64(0), map[uint32]uint32{}
	for i := range s.Slots() {
		e := at(s.base + uintptr(i)*sessionSize)
		if e.key == 0 && e.word != 0 || e.word == gone {
			t.Errorf("slot %d is half free: %x %x", i, e.key, e.word)
		}
		if e.key != 0 {
			used++
		}
		if e.word != 0 {
			open[uint32(e.word>>vserverAt)]++
		}
	}
	if used != s.Len() {
		t.Errorf("%d slots are taken, %d are counted", used, s.Len())
	}
	for id := uint32(1); id <= 3; id++ {
		if open[id] != s.Of(id) {
			t.Errorf("vserver %d has %d sessions, %d are counted", id, open[id], s.Of(id))
		}
	}
}

// remembered is a session as the model knows it.
type remembered struct{ service, last uint32 }

type modelKey struct {
	vserver uint32
	a       uint64
}

// TestSessionsAgainstNaive plays random operations against a map.
func TestSessionsAgainstNaive(t *testing.T) {
	const room = 60
	full := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, now := sessions(t, room), uint32(r.Uint64N(tickMask)) // so that the tick wraps now and then
		if seed%2 == 0 {
			now = tickMask - 500
		}
		up := map[uint32]bool{1: true, 2: true, 3: true, 4: true, 5: true}
		set := persistent(t, nil, []uint32{1, 2, 3, 4, 5})
		model := map[modelKey]remembered{}
		limit := func(vserver uint32) uint32 { return vserver * minutes2 }
		bucket := func(c Client) (n int) {
			for k := range model {
				if s.Client(k.vserver, 1, k.a, 0).bucket == c.bucket {
					n++
				}
			}
			return n
		}
		cursor := uint64(0)
		for range 4000 {
			k := modelKey{1 + r.Uint32N(2), uint64(r.Uint32N(80))}
			c := s.Client(k.vserver, 1, k.a, limit(k.vserver))
			m, known := model[k]
			usable := known && now-m.last < limit(k.vserver) && up[m.service]
			switch op := r.IntN(20); {
			case op < 8:
				want := uint32(0)
				if usable {
					want = m.service
				}
				if got := c.Find(now, set); got != want {
					t.Fatalf("seed %d: %v goes to %d, want %d", seed, k, got, want)
				}
				if got := c.Use(now, set); got != want {
					t.Fatalf("seed %d: %v went to %d, want %d", seed, k, got, want)
				}
				if usable && now-m.last >= freshTicks {
					model[k] = remembered{m.service, now}
				}
			case op < 14:
				choice := 1 + r.Uint32N(services)
				got, kept := s.Keep(&c, now, set, choice)
				switch {
				case usable:
					choice = m.service
				case kept:
					model[k] = remembered{choice, now}
				default:
					full++
					if known || len(model) < room && bucket(c) < bucketSlots {
						t.Fatalf("seed %d: no room for %v beside %d sessions, %d of them in its bucket", seed, k, len(model), bucket(c))
					}
				}
				if got != choice || usable && !kept {
					t.Fatalf("seed %d: %v was given %d (%v), want %d", seed, k, got, kept, choice)
				}
			case op < 16:
				now += r.Uint32N(300)
			case op == 16:
				cursor = s.Sweep(cursor, int(s.Slots()), now, set)
				for k, m := range model {
					if now-m.last >= limit(k.vserver) {
						delete(model, k)
					}
				}
			case op == 17:
				id := 1 + r.Uint32N(services)
				up[id] = !up[id]
				var list []uint32
				for id := uint32(1); id <= services; id++ {
					if up[id] {
						list = append(list, id)
					}
				}
				next := persistent(t, set, list)
				set.Free(next)
				set = next
			case op == 18 && r.IntN(20) == 0:
				vserver, service, want := r.Uint32N(3), r.Uint32N(services), uint64(0)
				for k, m := range model {
					if (vserver == 0 || k.vserver == vserver) && (service == 0 || m.service == service) {
						delete(model, k)
						want++
					}
				}
				got := s.Drop(func(x Session) bool {
					return (vserver == 0 || x.Vserver == vserver) && (service == 0 || x.Service == service)
				})
				if got != want {
					t.Fatalf("seed %d: %d sessions were dropped, want %d", seed, got, want)
				}
			default:
				s.compare(t, model, now)
			}
		}
		s.compare(t, model, now)
		s.audit(t)
		set.Free(nil)
	}
	if full == 0 {
		t.Error("the table was never full")
	}
}

// compare lists the sessions in pages and compares them with the model.
func (s *Sessions) compare(t *testing.T, model map[modelKey]remembered, now uint32) {
	t.Helper()
	seen, from := 0, uint64(0)
	for page := 0; page == 0 || from != 0; page++ {
		left := 7
		from = s.List(from, now, func(x Session) bool {
			if left == 0 {
				return false
			}
			left--
			seen++
			m, ok := model[modelKey{x.Vserver, x.A}]
			if !ok || m.service != x.Service || now-m.last != x.Idle || x.Kind != 1 {
				t.Errorf("listed is %+v, the model has %+v", x, m)
			}
			return true
		})
	}
	if seen != len(model) || uint64(seen) != s.Len() {
		t.Errorf("%d sessions are listed, %d counted, the model has %d", seen, s.Len(), len(model))
	}
	counts := map[uint32]uint32{}
	for k := range model {
		counts[k.vserver]++
	}
	for id := uint32(1); id <= 3; id++ {
		if s.Of(id) != counts[id] {
			t.Errorf("vserver %d has %d sessions, want %d", id, s.Of(id), counts[id])
		}
	}
}

// TestWorkersChooseAlike: workers that choose for the same clients at the same time, each as it likes, agree about every one of
// them, and no client is counted twice.
func TestWorkersChooseAlike(t *testing.T) {
	const workers, clients, rounds = 4, 3000, 3
	set := persistent(t, nil, []uint32{1, 2, 3, 4, 5})
	defer set.Free(nil)
	s := sessions(t, 4*clients)
	var went [workers][rounds][clients]uint32
	var all sync.WaitGroup
	start := make(chan bool)
	for w := range workers {
		all.Go(func() {
			<-start
			for round := range rounds {
				for i := range clients {
					c := s.Client(1, 1, uint64(i), minutes2)
					id := c.Use(uint32(round), set)
					if id == 0 {
						id, _ = s.Keep(&c, uint32(round), set, uint32(1+(w+i)%services))
					}
					went[w][round][i] = id
				}
			}
		})
	}
	close(start)
	all.Wait()
	for i := range clients {
		for w := range workers {
			for round := range rounds {
				if went[w][round][i] != went[0][0][i] {
					t.Fatalf("client %d went to %d and to %d", i, went[0][0][i], went[w][round][i])
				}
			}
		}
	}
	if s.Len() != clients || s.Of(1) != clients {
		t.Errorf("%d clients have %d sessions, vserver 1 has %d", clients, s.Len(), s.Of(1))
	}
	s.audit(t)
}

// TestSessionsUnderChange: while others free sessions, by age and by command, workers go on; in the end nothing is lost or counted
// wrongly.
func TestSessionsUnderChange(t *testing.T) {
	const workers, clients = 3, 500
	set := persistent(t, nil, []uint32{1, 2, 3, 4, 5})
	defer set.Free(nil)
	s := sessions(t, clients)
	var busy, idle sync.WaitGroup
	stop := make(chan bool)
	for w := range workers {
		busy.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 2))
			for n := range 50_000 {
				now := uint32(n)
				vserver := 1 + r.Uint32N(2)
				c := s.Client(vserver, 1, uint64(r.Uint32N(clients)), 100)
				if c.Use(now, set) == 0 {
					s.Keep(&c, now, set, 1+r.Uint32N(services))
				}
			}
		})
	}
	for w := range 2 {
		idle.Go(func() {
			for cursor, n := uint64(0), 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if w == 0 {
					cursor = s.Sweep(cursor, 256, uint32(n), set)
				} else {
					s.Drop(func(x Session) bool { return x.A%7 == uint64(n)%7 })
				}
			}
		})
	}
	busy.Wait()
	close(stop)
	idle.Wait()
	s.audit(t)
	s.Drop(func(Session) bool { return true })
	for range 2 {
		s.Sweep(0, int(s.Slots()), 0, set)
	}
	s.audit(t)
	if s.Len() != 0 || s.Of(1) != 0 || s.Of(2) != 0 {
		t.Errorf("%d sessions are left, %d and %d of the vservers", s.Len(), s.Of(1), s.Of(2))
	}
}

// TestSessionsAllocateNothing on the packet path.
func TestSessionsAllocateNothing(t *testing.T) {
	set := persistent(t, nil, []uint32{1, 2, 3, 4, 5})
	defer set.Free(nil)
	s, i := sessions(t, 10_000), uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		i++
		c := s.Client(1, 1, i, minutes2)
		c.Fetch()
		if c.Use(uint32(i), set) == 0 {
			s.Keep(&c, uint32(i), set, 1)
		}
		s.Sweep(i, 10, uint32(i), set)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
