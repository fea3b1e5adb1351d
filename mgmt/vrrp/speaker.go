package vrrp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	beat = 100 * time.Millisecond
	// atOnce is how many frames of a device are read before what is due is done: all that a socket has room for, so that
	// nobody is taken for dead whose advert has come in already. Adverts of ours that are due wait no longer than patience.
	atOnce   = 2048
	patience = 20 * time.Millisecond
	// urgency is the nice value of the loop's thread.
	urgency = -15
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
	options Options
	beats   chan struct{}
	look    chan struct{} // the devices are to be looked at now
	ended   chan struct{} // the loop is over
	watched chan struct{} // and its devices are closed
	remarks chan remark   // for the log; what finds no room is lost
	alarm   int           // eventfd: something is to be done before the time

	mu      sync.Mutex // guards what follows; never held while anything is waited for
	wanted  []Intent
	found   map[string]*link // those that carry frames; never written to
	updated bool             // one of both is new
	taking  bool             // and the loop is at it
	closing bool
	asleep  bool // the alarm is gone with the loop
	states  map[key]State
	counts  map[key]*Count
	logged  map[complaint]time.Time

	loop
}

// loop is what only the speaker's loop touches. It has a thread of its own, which goes before others on a busy CPU, and waits for
// nothing but in poll(2): not for the kernel's lock of devices (see watcher), nor for whom the log is written to.
type loop struct {
	routers map[key]*router
	links   map[string]*link
	wrong   map[string]bool // what was logged of the last intents
	due     time.Time       // before it nothing has to be done
	beaten  time.Time       // when the last beat was
	behind  bool            // adverts wait to be read
	polled  []unix.PollFd
	buffer  []byte
}

// remark is a line of the log.
type remark struct {
	level slog.Level
	text  string
	args  []any
}

func (s *Speaker) remark(level slog.Level, text string, args ...any) {
	select {
	case s.remarks <- remark{level, text, args}:
	default:
	}
}

// write writes the log until the loop is over.
func (s *Speaker) write() {
	for {
		select {
		case r := <-s.remarks:
			s.options.Log.Log(context.Background(), r.level, r.text, r.args...)
		case <-s.ended:
			return
		}
	}
}

// key is a virtual router on a device, or with ID 0 the device.
type key struct {
	device string
	id     uint8
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.device, o.device), cmp.Compare(k.id, o.id))
}

// New makes a Speaker without routers.
func New(o Options) (*Speaker, error) {
	alarm, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("VRRP cannot be spoken: %w", err)
	}
	s := &Speaker{
		options: o, beats: make(chan struct{}, 1), look: make(chan struct{}, 1), ended: make(chan struct{}), watched: make(chan struct{}), alarm: alarm,
		remarks: make(chan remark, 64),
		states:  map[key]State{}, counts: map[key]*Count{}, logged: map[complaint]time.Time{},
		loop: loop{routers: map[key]*router{}, buffer: make([]byte, 1<<16)},
	}
	go s.run()
	go s.watch()
	go s.write()
	return s, nil
}

// Update makes the routers those of the intents, soon; it does not wait for it. What does not pass Check is left out and
// logged. What stays keeps its state. A master that goes gives up first.
func (s *Speaker) Update(intents []Intent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted, s.updated = slices.Clone(intents), true
	s.wake()
	select {
	case s.look <- struct{}{}:
	default:
	}
}

// devices are those that are spoken on.
func (s *Speaker) devices() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[string]bool{}
	for i := range s.wanted {
		list[s.wanted[i].Device] = true
	}
	return list
}

// provide gives the loop the links that there are.
func (s *Speaker) provide(links map[string]*link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found, s.updated = maps.Clone(links), true
	s.wake()
}

// taken tells whether the loop has taken all that was provided.
func (s *Speaker) taken() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.updated && !s.taking
}

// wake ends the loop's wait. The lock is held.
func (s *Speaker) wake() {
	if !s.asleep {
		_, _ = unix.Write(s.alarm, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // it fails only if the loop is behind by 2^64 alarms
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
	s.mu.Lock()
	s.closing = true
	s.wake()
	s.mu.Unlock()
	select {
	case <-s.watched:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Speaker) run() {
	defer close(s.ended)
	defer s.release()
	runtime.LockOSThread()                                          // the thread ends with the loop
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), urgency) // where it is not allowed, it goes without
	if s.options.enter != nil {
		s.options.enter()
	}
	for {
		s.wait()
		s.mu.Lock()
		updated, closing := s.updated, s.closing
		s.updated, s.taking = false, updated
		s.mu.Unlock()
		if closing {
			s.end()
			return
		}
		now := time.Now()
		if updated {
			s.update(now)
			s.mu.Lock()
			s.taking = false
			s.mu.Unlock()
		}
		if now.Sub(s.beaten) >= beat {
			s.pulse(now)
		}
		if !now.Before(s.due) {
			s.tick(now)
		}
	}
}

// wait waits until something is due or comes in, and hears it.
func (s *Speaker) wait() {
	s.polled = append(s.polled[:0], unix.PollFd{Fd: int32(s.alarm), Events: unix.POLLIN})
	for _, l := range s.links {
		s.polled = append(s.polled, unix.PollFd{Fd: int32(l.fd), Events: unix.POLLIN})
	}
	left := max(0, min(time.Until(s.due), time.Until(s.beaten.Add(beat))))
	timeout := unix.NsecToTimespec(int64(left))
	if n, err := unix.Ppoll(s.polled, &timeout, nil); n <= 0 || err != nil {
		s.behind = false
		return // the time is over, or a signal came
	}
	if s.polled[0].Revents != 0 {
		_, _ = unix.Read(s.alarm, s.buffer[:8])
	}
	s.behind = false
	for _, l := range s.links {
		s.behind = s.drain(l) || s.behind
	}
}

// drain hears what has come in on a link, and tells whether there may be more.
func (s *Speaker) drain(l *link) (more bool) {
	begin := time.Now()
	for range atOnce {
		if time.Since(begin) > patience {
			return true
		}
		frame, there := l.receive(s.buffer)
		if !there {
			return false
		}
		if h, why := read(frame); why != "" {
			s.refuse(l.device, &h, why)
		} else {
			s.hear(time.Now(), l.device, h)
		}
	}
	return true
}

// release gives back what New took.
func (s *Speaker) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asleep = true
	unix.Close(s.alarm)
}

// pulse tells of other masters, and beats. The beat is last: who is alive has done everything else.
func (s *Speaker) pulse(now time.Time) {
	s.beaten = now
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

// tick does what is due, and finds out when something is due again. Of the routers that are to take over one does at a time, and
// none while adverts wait to be read: each has the dataplane told, and what the masters are to say must not wait for all of that.
func (s *Speaker) tick(now time.Time) {
	s.due = never
	enough := s.behind
	for _, r := range s.routers {
		if waits := r.role == Backup && !now.Before(r.due()); waits && enough {
			s.due = now
			continue
		} else if waits {
			enough = true
		}
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

func (s *Speaker) hear(now time.Time, device string, h heard) {
	k := key{device, h.id}
	r := s.routers[k]
	if r == nil {
		s.refuse(device, &h, ID)
		return
	}
	if r.role == Init {
		return
	}
	if why := r.refusal(&h); why != "" {
		s.refuse(device, &h, why)
		return
	}
	other := !r.sameVIPs(&h)
	s.count(k, func(c *Count) {
		c.Received++
		if h.priority == 0 {
			c.Zero++
		}
		if other {
			c.OtherVIPs++
		}
	})
	if other {
		s.complain(device, &h, "addresses", "its addresses are not those of this node; configure the same on all nodes")
	}
	r.hear(now, h)
	s.note(r)
}

// update makes the routers those that are wanted.
func (s *Speaker) update(now time.Time) {
	s.mu.Lock()
	wanted, links := s.wanted, s.found
	s.mu.Unlock()
	intents := s.check(wanted)
	for k, r := range s.routers {
		if _, stays := intents[k]; !stays {
			r.remove(now, "it is not configured any more")
			s.forget(k)
		}
	}
	s.links = links
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

// check leaves out what is wrong, and logs it when it is so for the first time.
func (s *Speaker) check(wanted []Intent) map[key]Intent {
	intents, wrong := make(map[key]Intent, len(wanted)), map[string]bool{}
	for _, in := range wanted {
		err := in.Check()
		if err == nil {
			intents[key{in.Device, in.ID}] = in
			continue
		}
		if wrong[err.Error()] = true; !s.wrong[err.Error()] {
			s.remark(slog.LevelError, "a virtual router is left out", "error", err)
		}
	}
	s.wrong = wrong
	return intents
}

func (s *Speaker) end() {
	now := time.Now()
	for _, k := range slices.SortedFunc(maps.Keys(s.routers), key.compare) {
		s.routers[k].remove(now, "management ends")
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
