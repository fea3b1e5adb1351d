package sshd

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits of the door. Zero values mean the defaults in the comments.
type Limits struct {
	Handshake     time.Duration // until a client must have logged in: 15 s
	Failures      int           // failed passwords of one address until it is shut out: 10
	Block         time.Duration // for how long: 10 min
	Forget        time.Duration // in which one failed password is forgotten: 1 min
	Delay         time.Duration // an answer to a wrong password is held back by this much a failure, at most ten times: 250 ms
	Idle          time.Duration // between two keys in a session: the shell's own default
	Sessions      int           // at once: 64
	Connections   int           // at once, logged in or not: 128
	Strangers     int           // connections not logged in yet, at once: 64
	StrangersFrom int           // and of one address, where a script may well open many at once: 24
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&l.Handshake, 15 * time.Second}, {&l.Block, 10 * time.Minute}, {&l.Forget, time.Minute}, {&l.Delay, 250 * time.Millisecond}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	for _, d := range []struct {
		v   *int
		def int
	}{{&l.Failures, 10}, {&l.Sessions, 64}, {&l.Connections, 128}, {&l.Strangers, 64}, {&l.StrangersFrom, 24}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	return l
}

// maxAddresses bounds the memory that failures of many addresses can take.
const maxAddresses = 4096

// doorman counts failures and connections by address.
type doorman struct {
	limits Limits
	now    func() time.Time

	mu        sync.Mutex
	failures  map[netip.Addr]*failing
	strangers map[netip.Addr]int
	waiting   int // sum of strangers
	all       int // connections
}

type failing struct {
	score   float64 // failed passwords, less those forgotten since
	last    time.Time
	blocked time.Time // until then
}

func newDoorman(l Limits, now func() time.Time) *doorman {
	return &doorman{limits: l, now: now, failures: map[netip.Addr]*failing{}, strangers: map[netip.Addr]int{}}
}

// origin is the address that counts: of IPv6 the first 64 bits, since a host has all the others to itself.
func origin(a net.Addr) netip.Addr {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	ip := ap.Addr().Unmap().WithZone("")
	if ip.Is6() {
		p, _ := ip.Prefix(64)
		ip = p.Addr()
	}
	return ip
}

// admit counts a new connection, or says why it is refused. Where the places of strangers are all taken, the newcomer gets one of the
// address that holds the most, if that holds at least two more than his own: its oldest stranger is then to leave. So a few addresses
// that fill the places keep nobody else out.
func (d *doorman) admit(ip netip.Addr) (leaves netip.Addr, refused string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.isBlocked(ip):
		return leaves, "too many failed logins from this address"
	case d.all >= d.limits.Connections:
		return leaves, "too many connections"
	case d.strangers[ip] >= d.limits.StrangersFrom:
		return leaves, strangersRefused
	case d.waiting >= d.limits.Strangers:
		most := 0
		for other, n := range d.strangers {
			if n > most || n == most && other.Less(leaves) {
				leaves, most = other, n
			}
		}
		if most < d.strangers[ip]+2 {
			return netip.Addr{}, strangersRefused
		}
	}
	d.all++
	d.waiting++
	d.strangers[ip]++
	return leaves, ""
}

const strangersRefused = "too many connections that have not logged in"

// known tells that a connection has logged in or is gone before it had.
func (d *doorman) known(ip netip.Addr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting--
	if d.strangers[ip]--; d.strangers[ip] <= 0 {
		delete(d.strangers, ip)
	}
}

// gone tells that a connection has ended.
func (d *doorman) gone() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all--
}

func (d *doorman) isBlocked(ip netip.Addr) bool {
	f := d.failures[ip]
	return f != nil && d.now().Before(f.blocked)
}

// blocked tells whether the address is shut out.
func (d *doorman) blocked(ip netip.Addr) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isBlocked(ip)
}

// failed counts a wrong password. It returns for how long to hold back the answer and whether the address is shut out
// by this one.
func (d *doorman) failed(ip netip.Addr) (wait time.Duration, shut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	f := d.failures[ip]
	if f == nil {
		if len(d.failures) >= maxAddresses {
			d.evict(now)
		}
		f = &failing{last: now}
		d.failures[ip] = f
	}
	f.score = max(0, f.score-float64(now.Sub(f.last))/float64(d.limits.Forget)) + 1
	f.last = now
	wait = time.Duration(min(f.score, 10) * float64(d.limits.Delay))
	if f.score > float64(d.limits.Failures)-1 {
		f.score, f.blocked, shut = 0, now.Add(d.limits.Block), true
	}
	return wait, shut
}

// evict makes room: of the address that failed longest ago, and rather of one that is not shut out.
func (d *doorman) evict(now time.Time) {
	var victim netip.Addr
	var oldest *failing
	for ip, f := range d.failures {
		out, worst := now.Before(f.blocked), oldest != nil && now.Before(oldest.blocked)
		if oldest == nil || worst && !out || worst == out && f.last.Before(oldest.last) {
			victim, oldest = ip, f
		}
	}
	delete(d.failures, victim)
}
