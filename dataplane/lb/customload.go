package lb

import "sluice/dataplane/table"

// lightest chooses the least load by weight as monitors say it, equals taking turns. A service of which none says anything counts
// as the heaviest of those that are known, so that it does not attract all flows; if none is known all are equal.
func (s *State) lightest(t *table.Set, p *table.Pool, first uint32) (service, turn uint32) {
	heaviest := heaviestOf(t, p)
	place, best := first, p.Member(first)
	least := loadOf(t, best.Service, heaviest)
	for k, i := uint32(1), first; k < p.N; k++ {
		if i++; i == p.N {
			i = 0
		}
		c := p.Member(i)
		if n := loadOf(t, c.Service, heaviest); lighter(n, c.Weight, least, best.Weight) {
			place, best, least = i, c, n
		}
	}
	return best.Service, place + 1
}

// loadOf is what monitors say of a service, or otherwise if they say nothing.
func loadOf(t *table.Set, service uint32, otherwise uint64) uint64 {
	if n, known := t.Load(service); known {
		return uint64(n)
	}
	return otherwise
}

// heaviestOf is the most load that is known of a service of a pool.
func heaviestOf(t *table.Set, p *table.Pool) (most uint64) {
	for i := range p.N {
		if n, known := t.Load(p.Member(i).Service); known {
			most = max(most, uint64(n))
		}
	}
	return most
}
