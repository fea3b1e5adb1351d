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

// monitorTime is how long a service takes to answer monitors, or otherwise if none has learnt it; at least 1, so that open flows
// count for the fastest as well.
func monitorTime(t *table.Set, service uint32, otherwise uint64) uint64 {
	if n, known := t.MonitorTime(service); known {
		return max(uint64(n), 1)
	}
	return otherwise
}

// slowestToMonitors is the longest such time in a pool, for a service of which nothing is known; 1 if nothing is of any.
func slowestToMonitors(t *table.Set, p *table.Pool) (most uint64) {
	most = 1
	for i := range p.N {
		most = max(most, monitorTime(t, p.Member(i).Service, 0))
	}
	return most
}
