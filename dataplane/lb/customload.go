package lb

import "sluice/dataplane/table"

// loadOf is what monitors say of a service, or otherwise if they say nothing.
func loadOf(t *table.Set, service uint32, otherwise uint64) uint64 {
	if n, known := t.Load(service); known {
		return uint64(n)
	}
	return otherwise
}

// heaviestOf is the most load that is known of a service of a pool. A service of which monitors say nothing counts as that one, so
// that it does not attract all flows; if none is known all are equal.
func heaviestOf(t *table.Set, p *table.Pool) (most uint64) {
	for i := range p.N {
		if n, known := t.Load(p.Member(i).Service); known {
			most = max(most, uint64(n))
		}
	}
	return most
}
