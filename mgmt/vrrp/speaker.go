package vrrp

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	beat = 100 * time.Millisecond
	// waiting is how many adverts may wait for the loop; more wait in the socket, whose room is bounded.
	waiting = 256
)

// Options are what a Speaker needs.
type Options struct {
	// Changed is told each change of a role at once, and at most ten times a second that the master is another one. It is
	// called in the speaker's loop, one call at a time, and must return within a few milliseconds: while it runs no advert
	// is sent or heard, and no Beat comes. On taking over it is called after the advert that has the old master yield and
	// before gratuitous ARP; on giving up before the advert of priority 0 that lets others take over.
	Changed func(State)
	Log     *slog.Logger

	enter func() // called first in the loop: tests have it move into a network namespace
}

// Speaker takes part in VRRP.
type Speaker struct {
	options  Options
	updated  chan struct{}
	arrivals chan arrival
	beats    chan struct{}
	closing  chan struct{}
	ended    chan struct{}
	once     sync.Once

	mu     sync.Mutex // guards what follows; never held while anything is waited for
	wanted []Intent
	states map[key]State
	counts map[key]*Count
	logged map[complaint]time.Time

	loop
}

// loop is what only the speaker's loop touches.
type loop struct {
	routers map[key]*router
	links   map[string]*link // those that carry frames
	failed  map[string]bool  // devices whose link could not be opened, as was logged
	socket  int              // to ask the kernel for devices
	due     time.Time        // before it nothing has to be done
	looked  time.Time        // when the devices were looked at, and the last beat was
}

// key is a virtual router on a device, or with ID 0 the device.
type key struct {
	device string
	id     uint8
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.device, o.device), cmp.Compare(k.id, o.id))
}

type arrival struct {
	device string
	heard
}

// New makes a Speaker without routers.
func New(o Options) *Speaker {
	s := &Speaker{
		options: o, updated: make(chan struct{}, 1), arrivals: make(chan arrival, waiting), beats: make(chan struct{}, 1),
		closing: make(chan struct{}), ended: make(chan struct{}),
		states: map[key]State{}, counts: map[key]*Count{}, logged: map[complaint]time.Time{},
		loop: loop{routers: map[key]*router{}, links: map[string]*link{}, failed: map[string]bool{}},
	}
	go s.run()
	return s
}

// Update makes the routers those of the intents, soon; it does not wait for it. What does not pass Check is left out and
// logged. What stays keeps its state. A master that goes gives up first.
func (s *Speaker) Update(intents []Intent) {
	s.mu.Lock()
	s.wanted = slices.Clone(intents)
	s.mu.Unlock()
	select {
	case s.updated <- struct{}{}:
	default: // the loop has not come to the last update yet, and will find this one
	}
}

// States are all routers, by device and ID.
func (s *Speaker) States() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]State, 0, len(s.states))
	for _, k := range slices.SortedFunc(maps.Keys(s.states), key.compare) {
		list = append(list, s.states[k])
	}
	return list
}

// Beat brings something every 100 ms as long as the loop that sends and hears adverts is alive. Who renews the dataplane's
// leases does so on each beat and never otherwise, so that mastership does not outlive the protocol.
func (s *Speaker) Beat() <-chan struct{} { return s.beats }

// Close gives all mastership up, with adverts of priority 0, and ends. Changed is told.
func (s *Speaker) Close(ctx context.Context) error {
	s.once.Do(func() { close(s.closing) })
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Speaker) run() {
	defer close(s.ended)
	if s.options.enter != nil {
		s.options.enter()
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		s.options.Log.Error("VRRP cannot be spoken: devices cannot be asked for", "error", err)
		return
	}
	s.socket = socket
	defer unix.Close(socket)
	timer := time.NewTimer(0)
	for {
		select {
		case <-s.closing:
			s.end()
			return
		case <-s.updated:
			s.update(time.Now())
		case a := <-s.arrivals:
			s.hear(time.Now(), a)
		case <-timer.C:
		}
		s.catchUp()
		now := time.Now()
		if now.Sub(s.looked) >= beat {
			s.pulse(now)
		}
		if !now.Before(s.due) {
			s.tick(now)
		}
		timer.Reset(min(time.Until(s.due), time.Until(s.looked.Add(beat))))
	}
}

// catchUp hears what waits, so that nobody is taken for dead whose advert has come in already.
func (s *Speaker) catchUp() {
	for range waiting {
		select {
		case a := <-s.arrivals:
			s.hear(time.Now(), a)
		default:
			return
		}
	}
}

// pulse looks at the devices, tells of other masters, and beats. The beat is last: who is alive has done everything else.
func (s *Speaker) pulse(now time.Time) {
	s.looked = now
	if s.look() {
		s.update(now)
	}
	for _, r := range s.routers {
		if r.stale {
			r.stale = false
			s.changed(r)
		}
	}
	if !now.Before(s.due) {
		s.tick(now)
	}
	select {
	case s.beats <- struct{}{}:
	default:
	}
}

// tick does what is due, and finds out when something is due again.
func (s *Speaker) tick(now time.Time) {
	s.due = never
	for _, r := range s.routers {
		r.tick(now)
		s.announce(now, r)
		s.note(r)
	}
}

func (s *Speaker) note(r *router) {
	for _, t := range []time.Time{r.due(), r.garp.due()} {
		if t.Before(s.due) {
			s.due = t
		}
	}
}

// announce sends the gratuitous ARP that is due.
func (s *Speaker) announce(now time.Time, r *router) {
	from, to := r.garp.take(now)
	for _, ip := range r.intent.VIPs[min(from, len(r.intent.VIPs)):min(to, len(r.intent.VIPs))] {
		left := s.send(r, gratuitous(r.intent.ID, ip))
		s.count(r.key(), func(c *Count) {
			if left {
				c.Gratuitous++
			}
		})
	}
}

func (s *Speaker) hear(now time.Time, a arrival) {
	k := key{a.device, a.id}
	r := s.routers[k]
	if r == nil {
		s.refuse(a.device, &a.heard, ID)
		return
	}
	if r.role == Init {
		return
	}
	if why := r.refusal(&a.heard); why != "" {
		s.refuse(a.device, &a.heard, why)
		return
	}
	other := !r.sameVIPs(&a.heard)
	s.count(k, func(c *Count) {
		c.Received++
		if a.priority == 0 {
			c.Zero++
		}
		if other {
			c.OtherVIPs++
		}
	})
	if other {
		s.complain(a.device, &a.heard, "addresses", "its addresses are not those of this node; configure the same on all nodes")
	}
	r.hear(now, a.heard)
	s.note(r)
}

// update makes the routers those that are wanted.
func (s *Speaker) update(now time.Time) {
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	intents := make(map[key]Intent, len(wanted))
	for _, in := range wanted {
		if err := in.Check(); err != nil {
			s.options.Log.Error("a virtual router is left out", "error", err)
			continue
		}
		intents[key{in.Device, in.ID}] = in
	}
	for k, r := range s.routers {
		if _, stays := intents[k]; !stays {
			r.remove(now, "it is not configured any more")
			s.forget(k)
		}
	}
	s.fit(intents)
	for _, k := range slices.SortedFunc(maps.Keys(intents), key.compare) {
		r := s.routers[k]
		if r == nil {
			r = newRouter(intents[k], s, now)
			s.routers[k] = r
			s.count(k, func(*Count) {})
		}
		r.update(now, intents[k], s.links[k.device] != nil)
		s.publish(r)
	}
	s.due = now
}

func (s *Speaker) end() {
	now := time.Now()
	for _, k := range slices.SortedFunc(maps.Keys(s.routers), key.compare) {
		s.routers[k].remove(now, "management ends")
	}
	for _, l := range s.links {
		s.shut(l)
	}
}

func (r *router) key() key { return key{r.intent.Device, r.intent.ID} }

// changed is an effect of a router.
func (s *Speaker) changed(r *router) {
	if state := s.publish(r); s.options.Changed != nil {
		s.options.Changed(state)
	}
}

func (s *Speaker) publish(r *router) State {
	state := r.state()
	s.mu.Lock()
	defer s.mu.Unlock()
	if state.Role == Master && s.states[r.key()].Role != Master {
		s.counter(r.key()).Transitions++
	}
	s.states[r.key()] = state
	return state
}

func (s *Speaker) forget(k key) {
	delete(s.routers, k)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.states, k)
	delete(s.counts, k)
}

// advertise is an effect of a router.
func (s *Speaker) advertise(r *router, priority uint8) bool {
	a := r.advert(priority)
	left := s.send(r, a.frame(r.intent.Source.Addr()))
	s.count(r.key(), func(c *Count) {
		if left {
			c.Sent++
		}
	})
	return left
}

func (s *Speaker) send(r *router, frame []byte) bool {
	l := s.links[r.intent.Device]
	if l == nil {
		return false
	}
	if err := l.send(frame); err != nil {
		s.count(r.key(), func(c *Count) { c.Unsent++ })
		return false
	}
	return true
}
