// Package resolve asks the domain name system for the addresses of servers that are known by a name, and again whenever
// the answer's time is over.
package resolve

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/miekg/dns"

	"sluice/mgmt/compile"
)

const (
	// asking is how many names are asked for at a time.
	asking = 16
	// soonest and latest bound the time to the next question after an answer, whatever its TTL says.
	soonest = time.Second
	latest  = 24 * time.Hour
)

// Answer is what an attempt to resolve a name has come to.
type Answer struct {
	Server, Domain string
	Addresses      []netip.Addr // IPv4; none if it has failed
	Failure        string       // why; "" if it has not
	At             time.Time
	Next           time.Time // of the next attempt
}

// Resolver keeps asking for names.
type Resolver struct {
	report func(Answer)
	file   string        // in the form of resolv.conf(5), read anew for each question
	slots  chan struct{} // as many as may ask at a time

	mu      sync.Mutex
	servers []netip.Addr // asked in the place of the file's; empty: the file's
	names   map[compile.Query]context.CancelFunc
	closed  bool
	running sync.WaitGroup
}

// New returns a resolver that asks the name servers of a file in the form of resolv.conf(5). report is called by several
// goroutines.
func New(file string, report func(Answer)) *Resolver {
	return &Resolver{report: report, file: file, slots: make(chan struct{}, asking), names: map[compile.Query]context.CancelFunc{}}
}

// Set replaces the names that are asked for. Those that stay the same go on undisturbed.
func (r *Resolver) Set(queries []compile.Query) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return
	}
	keep := make(map[compile.Query]bool, len(queries))
	for _, q := range queries {
		keep[q] = true
		if r.names[q] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		r.names[q] = cancel
		r.running.Go(func() { r.follow(ctx, q) })
	}
	for q, cancel := range r.names {
		if !keep[q] {
			cancel()
			delete(r.names, q)
		}
	}
}

// Ask replaces the name servers: with none they are those of the file. It holds from the next question on, and names that were
// refused or not answered are asked for when their time has come.
func (r *Resolver) Ask(servers []netip.Addr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.servers = servers
}

// config is whom to ask and how.
func (r *Resolver) config() (*dns.ClientConfig, error) {
	r.mu.Lock()
	servers := r.servers
	r.mu.Unlock()
	if len(servers) == 0 {
		return fromFile(r.file)
	}
	conf := &dns.ClientConfig{Port: "53", Ndots: 1, Timeout: 2, Attempts: 2}
	for _, s := range servers {
		conf.Servers = append(conf.Servers, s.String())
	}
	return conf, nil
}

// Close ends every question and waits for that.
func (r *Resolver) Close() {
	r.Set(nil)
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.running.Wait()
}

// follow asks for one name until ctx ends.
func (r *Resolver) follow(ctx context.Context, q compile.Query) {
	for {
		select {
		case <-ctx.Done():
			return
		case r.slots <- struct{}{}:
		}
		addresses, ttl, err := r.lookup(ctx, q.Domain)
		<-r.slots
		if ctx.Err() != nil {
			return
		}
		a := Answer{Server: q.Server, Domain: q.Domain, Addresses: addresses, At: time.Now()}
		pause := min(max(ttl, soonest), latest)
		if err != nil {
			a.Failure, pause = err.Error(), q.Retry
		}
		a.Next = a.At.Add(pause)
		r.report(a)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
