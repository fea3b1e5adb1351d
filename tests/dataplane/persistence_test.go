package dataplane

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/dataplane/table"
)

// persistModel is what is expected of clients' connections: a map of who went where, and when last.
type persistModel struct {
	b     *bed
	kind  api.Persistence
	mask  uint32
	limit uint64 // ticks
	up    []uint32
	went  map[[2]uint32]homeAt
	sport uint16
}

type homeAt struct {
	server int
	at     uint64
}

func (m *persistModel) key(who ip4) (k [2]uint32) {
	word := func(a ip4) uint32 { return uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3]) }
	if m.kind != api.PersistDestinationIP {
		k[0] = word(who) & m.mask
	}
	if m.kind != api.PersistSourceIP {
		k[1] = word(vip) & m.mask
	}
	return k
}

// connect opens a connection and compares where it goes with where it must.
func (m *persistModel) connect(who ip4) {
	b := m.b
	m.sport++
	if m.sport < 2000 {
		m.sport = 2000
	}
	got := slices.Index(webs, b.goesTo(who, m.sport, persistPort))
	k := m.key(who)
	h, known := m.went[k]
	if known && b.clock-h.at < m.limit && slices.Contains(m.up, uint32(h.server+1)) {
		if got != h.server {
			b.t.Fatalf("%v went to server %d, %d ticks after it went to %d", addr(who), got, b.clock-h.at, h.server)
		}
		if b.clock-h.at < 10 {
			return // within a second nothing is noted anew
		}
	}
	if !slices.Contains(m.up, uint32(got+1)) {
		b.t.Fatalf("%v went to server %d, of which %v are up", addr(who), got, m.up)
	}
	m.went[k] = homeAt{got, b.clock}
}

// skip moves the clock by seconds, one at a time.
func (b *bed) skip(seconds int) {
	for range seconds {
		b.clock += table.TicksPerSecond
		b.turns()
	}
}

// TestPersistenceOracle plays random clients, times, changes of health and of the configuration against a map, with one worker and
// several.
func TestPersistenceOracle(t *testing.T) {
	kinds := []api.Persistence{api.PersistSourceIP, api.PersistDestinationIP, api.PersistSourceDestinationIP}
	for i, c := range crews {
		for k, kind := range kinds {
			if c.workers > 1 && k != i%len(kinds) {
				continue // each kind with several workers somewhere
			}
			b := newCrew(t, newMemories(t, c.workers, poolSize), c, 1<<15)
			r := rand.New(rand.NewPCG(uint64(i), uint64(kind)))
			m := &persistModel{b: b, kind: kind, mask: 0xffffffff << (r.Uint32N(4)), limit: 1200, up: []uint32{1, 2, 3}, went: map[[2]uint32]homeAt{}}
			b.apply(persistent(kind, m.mask, 120))
			for range 400 {
				switch op := r.IntN(20); {
				case op < 15:
					m.connect(ip4{192, 0, 2, byte(r.IntN(40))})
				case op == 15:
					b.skip(r.IntN(20))
				case op == 16:
					b.skip(60 + r.IntN(70))
				case op < 19:
					m.up = [][]uint32{{1}, {2, 3}, {1, 2, 3}, {1, 3}, {2}, {1, 2, 3}}[r.IntN(6)]
					health(m.up...)(b)
				default:
					for k, h := range m.went { // who was forgotten may be known again, if no sweep has come by
						if b.clock-h.at >= m.limit {
							delete(m.went, k)
						}
					}
					m.limit = uint64(1+r.IntN(3)) * 600
					tab := persistent(kind, m.mask, uint32(m.limit/10))
					b.apply(&api.Tables{Config: tab.Config})
				}
			}
			b.skip(400) // everything is swept away
			if n := b.stats().Vservers[len(b.stats().Vservers)-1].Sessions; n != 0 || b.w.Sessions().Len() != 0 {
				t.Errorf("%v, kind %d: %d sessions are left, %d in all", c, kind, n, b.w.Sessions().Len())
			}
			if d := b.counters()["session-table-full"]; d != 0 {
				t.Errorf("%v, kind %d: %d clients found no room", c, kind, d)
			}
			b.close()
		}
	}
}

// TestSessionTableFull: more clients than are remembered are served all the same, and those without room are counted.
func TestSessionTableFull(t *testing.T) {
	for _, c := range []crew{alone, {4, 0, true}} {
		b := newCrew(t, newMemories(t, c.workers, poolSize), c, 1<<13)
		b.apply(persistent(api.PersistSourceIP, 0, 120))
		const clients = 2 * bedSessions
		for i := range clients {
			b.goesTo(ip4{192, 0, 2 + byte(i>>8), byte(i)}, 5000, persistPort)
		}
		known, full := b.w.Sessions().Len(), b.counters()["session-table-full"]
		if known > bedSessions || known < bedSessions*9/10 || known+full != clients {
			t.Errorf("%v: of %d clients %d are remembered and %d were counted as not, with room for %d", c, clients, known, full, bedSessions)
		}
		b.close()
	}
}
