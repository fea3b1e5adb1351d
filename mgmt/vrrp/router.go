package vrrp

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

const (
	historyLen = 16
	// assertPause is the least time between two adverts by which a master answers a lesser one's, so that a flood of them is
	// not answered by a flood.
	assertPause = 20 * time.Millisecond
)

// effects are what the outer world is to do for a router. They are called in the order in which things must happen.
type effects interface {
	advertise(r *router, priority uint8) bool // send an advert, and tell whether it has left
	changed(r *router)                        // the role is another one
}

// router is one virtual router: RFC 9568, section 6.4, as a function of time, intents and adverts. It looks at no clock.
//
// It departs from the RFC where the ADC's commands say otherwise, and where mastership on two nodes would follow: the
// silence that makes a master dead is bounded by the dead interval; preemption may be delayed; priority 255, which is what
// a vrID has unless told otherwise, does not take over without listening, since no node owns the addresses; priority 0 is
// heeded only from the master, not from one that has lost an election; and who was asleep for as long as others wait
// listens first.
type router struct {
	intent Intent
	role   Role
	since  time.Time
	reason string
	past   []Transition
	does   effects

	// Of the master, while we are none.
	master   heard         // its last advert; src is invalid while there was none
	interval time.Duration // between its adverts, as far as is known
	lastAt   time.Time     // when any master was heard, or when we began to listen
	betterAt time.Time     // the same, of a master that we would not replace
	better   netip.Addr    // that master
	gaveUp   bool          // its last advert was of priority 0

	// Of our mastership.
	nextAdvert time.Time
	said       time.Time // when the last advert left
	asserted   time.Time
	garp       burst

	form  Checksum // of the last advert heard, of any node
	stale bool     // another master, or another priority of it, has been heard since changed was told
}

// newRouter makes a router that does not take part yet; see update.
func newRouter(in Intent, does effects, now time.Time) *router {
	return &router{intent: in, does: does, since: now, reason: "it is new", form: ChecksumRFC9568}
}

// update gives the router another intent. linked tells whether its device carries frames.
func (r *router) update(now time.Time, in Intent, linked bool) {
	old := r.intent
	r.intent = in
	if why := r.cannot(linked); why != "" {
		switch r.role {
		case Init:
			r.reason = why
		default:
			r.leave(now, Init, why)
		}
		return
	}
	if r.role == Init {
		r.listen(now)
		r.turn(now, Backup, "it has begun to listen")
		return
	}
	if r.role == Backup {
		r.updateBackup(now, &old)
		return
	}
	switch {
	case in.Held:
		r.leave(now, Backup, "an operator holds it as backup")
	case in.Priority == 0:
		r.leave(now, Backup, "its priority is 0"+because(in.Reason))
	default:
		// What others are to know they learn at once; a shorter interval does not wait for the longer one's end.
		if in.Priority != old.Priority || in.Hello != old.Hello || in.Version != old.Version || !slices.Equal(in.VIPs, old.VIPs) {
			r.say(now)
		}
		if !slices.Equal(in.VIPs, old.VIPs) {
			r.garp.start(now, len(in.VIPs))
		}
	}
}

func (r *router) updateBackup(now time.Time, old *Intent) {
	if !r.master.src.IsValid() {
		r.interval = r.intent.Hello
	} else if !r.replaces(r.master.priority) {
		r.betterAt = r.lastAt // who was waiting to take over from it waits no more
	}
	if could := !old.Held && old.Priority > 0; !could && r.due().Before(now.Add(r.skew())) {
		// There is no master, and others may have become able to be it at the same moment: the best is the first.
		r.lastAt = now.Add(r.skew() - r.down())
		r.betterAt, r.gaveUp = r.lastAt, false
	}
}

// cannot says why the router cannot take part, or nothing.
func (r *router) cannot(linked bool) string {
	switch {
	case r.intent.Down != "":
		return r.intent.Down
	case !linked:
		return "nothing carries frames of " + r.intent.Device
	case !r.intent.Source.IsValid():
		return "no address of this node is on " + r.intent.Device + ", which adverts could leave with"
	}
	return ""
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// remove ends the router.
func (r *router) remove(now time.Time, why string) {
	if r.role != Init {
		r.leave(now, Init, why)
	}
}

// leave gives mastership up, if there is any. Who answers for the addresses stops before others are let.
func (r *router) leave(now time.Time, to Role, why string) {
	was := r.role
	r.listen(now)
	r.turn(now, to, why)
	if was == Master {
		r.does.advertise(r, 0)
	}
}

// listen forgets what was heard.
func (r *router) listen(now time.Time) {
	r.master, r.better, r.interval, r.gaveUp = heard{}, netip.Addr{}, r.intent.Hello, false
	r.lastAt, r.betterAt = now, now
	r.garp = burst{}
}

func (r *router) turn(now time.Time, to Role, why string) {
	if r.role != to {
		r.past = append(slices.Clone(r.past[max(0, len(r.past)-historyLen+1):]), Transition{At: now, From: r.role, To: to, Reason: why})
		r.since = now
	}
	r.role, r.reason, r.stale = to, why, false
	r.does.changed(r)
}

// hear takes an advert that is for the router and has been checked: see refusal.
func (r *router) hear(now time.Time, h heard) {
	r.form = h.checksum
	r.notice(now)
	switch r.role {
	case Backup:
		r.hearAsBackup(now, h)
	case Master:
		r.hearAsMaster(now, h)
	}
}

func (r *router) hearAsBackup(now time.Time, h heard) {
	if h.priority == 0 {
		if !r.master.src.IsValid() || r.master.src == h.src {
			r.note(h)
			r.gaveUp, r.lastAt = true, now
		}
		return
	}
	lesser := r.replaces(h.priority)
	switch {
	case lesser && r.gaveUp:
		return // a lesser one was quicker; our time is up after the skew all the same
	case lesser && r.better.IsValid() && h.src != r.better && now.Before(r.betterAt.Add(r.down())):
		return // the master is another one: this one yields to it, or is none
	}
	r.note(h)
	r.lastAt, r.gaveUp = now, false
	if !lesser {
		r.better, r.betterAt = h.src, now
	}
}

// replaces tells whether the router would take over from a master of that priority.
func (r *router) replaces(priority uint8) bool {
	return r.intent.Preempt && !r.intent.Held && priority < r.intent.Priority
}

// note keeps who is master.
func (r *router) note(h heard) {
	r.stale = r.stale || r.master.src != h.src || r.master.mac != h.mac || r.master.priority != h.priority
	r.master = h
	if h.version == 3 {
		r.interval = h.interval
	}
}

func (r *router) hearAsMaster(now time.Time, h heard) {
	own := r.intent.Source.Addr()
	switch {
	case h.priority > r.intent.Priority:
		r.yield(now, h, fmt.Sprintf("%s has priority %d, which is higher than %d", h.src, h.priority, r.intent.Priority))
	case h.priority == r.intent.Priority && own.Less(h.src):
		r.yield(now, h, fmt.Sprintf("%s has the same priority and the higher address", h.src))
	case now.Sub(r.asserted) >= assertPause:
		// The other one yields as soon as it hears us, and switches learn again where the virtual MAC is. Its addresses may
		// have been at another MAC than the virtual one, too.
		r.asserted = now
		r.say(now)
		if h.priority != 0 && r.garp.done() {
			r.garp.start(now, len(r.intent.VIPs))
		}
	}
}

func (r *router) yield(now time.Time, h heard, why string) {
	r.listen(now)
	r.note(h)
	r.better = h.src
	r.turn(now, Backup, why)
}

// say sends an advert and sets the time of the next, which is soon if this one could not leave.
func (r *router) say(now time.Time) bool {
	if !r.does.advertise(r, r.intent.Priority) {
		r.nextAdvert = now.Add(r.intent.Hello / 4)
		return false
	}
	r.said, r.nextAdvert = now, now.Add(r.intent.Hello)
	return true
}

// skew is how much later than the best a backup takes over (RFC 9568, section 6.1; RFC 3768 has it in seconds whatever the
// interval).
func (r *router) skew() time.Duration {
	unit := r.interval
	if r.intent.Version == 2 {
		unit = time.Second
	}
	return unit * time.Duration(256-int(r.intent.Priority)) / 256
}

// down is the silence after which the master is dead. A dead interval that is shorter than the master's own interval cannot
// be meant for it: every pause between two of its adverts would be its death.
func (r *router) down() time.Duration {
	silence := 3 * r.interval
	if r.intent.Dead >= r.interval {
		silence = min(silence, r.intent.Dead)
	}
	return silence + r.skew()
}

// due is when the router takes over or sends its next advert; never is far away.
func (r *router) due() time.Time {
	switch {
	case r.role == Master:
		return r.nextAdvert
	case r.role == Init, r.intent.Held, r.intent.Priority == 0:
		return never
	case r.gaveUp:
		return r.lastAt.Add(r.skew())
	}
	silent := r.lastAt.Add(r.down())
	if better := r.betterAt.Add(r.down() + r.intent.Delay); r.intent.Preempt && better.Before(silent) {
		return better
	}
	return silent
}

var never = time.Unix(1<<40, 0)

// tick does what is due.
func (r *router) tick(now time.Time) {
	due := r.due()
	if now.Before(due) {
		return
	}
	if r.notice(now) {
		return
	}
	if r.role == Master {
		r.say(now)
		return
	}
	if late := now.Sub(due); late >= r.interval {
		// We were asleep, and what the master has sent meanwhile may still lie in the socket.
		r.lastAt = r.lastAt.Add(late + r.interval)
		r.betterAt = r.betterAt.Add(late + r.interval)
		return
	}
	r.takeOver(now)
}

// notice has a master step down that could not be heard for so long that another one may be master by now.
func (r *router) notice(now time.Time) bool {
	silent := now.Sub(r.said)
	if r.role != Master || silent < max(r.intent.silence(), r.intent.Hello*3/2) {
		return false
	}
	r.listen(now)
	r.turn(now, Backup, fmt.Sprintf("no advert could be sent for %v", silent.Round(time.Millisecond)))
	return true
}

func (r *router) takeOver(now time.Time) {
	var why string
	switch m := &r.master; {
	case !m.src.IsValid():
		why = fmt.Sprintf("nobody was heard for %v", now.Sub(r.lastAt).Round(time.Millisecond))
	case r.gaveUp:
		why = fmt.Sprintf("%s gave up", m.src)
	case !now.Before(r.lastAt.Add(r.down())):
		why = fmt.Sprintf("%s was not heard for %v", m.src, now.Sub(r.lastAt).Round(time.Millisecond))
	default:
		why = fmt.Sprintf("priority %d is higher than %d of %s", r.intent.Priority, m.priority, m.src)
	}
	r.listen(now)
	if !r.say(now) {
		return // nobody would know
	}
	r.turn(now, Master, why)
	r.garp.start(now, len(r.intent.VIPs))
}

// refusal says why an advert that could be read is not for the router, or nothing.
func (r *router) refusal(h *heard) Refusal {
	src := h.src
	switch {
	case h.version != r.intent.Version:
		return Version
	case src == r.intent.Source.Addr():
		return OwnAddress
	case !r.intent.Source.Contains(src) && !slices.ContainsFunc(r.intent.OnLink, func(p netip.Prefix) bool { return p.Contains(src) }):
		return OffLink
	case h.version == 2 && h.interval != r.intent.Hello:
		return Interval
	}
	return ""
}

// sameVIPs tells whether an advert names our addresses, in whatever order.
func (r *router) sameVIPs(h *heard) bool {
	ours := r.intent.VIPs[:min(len(r.intent.VIPs), maxAddress)]
	if len(ours) != len(h.addresses) {
		return false
	}
	theirs := slices.SortedFunc(slices.Values(h.addresses), netip.Addr.Compare)
	return slices.Equal(theirs, slices.SortedFunc(slices.Values(ours), netip.Addr.Compare))
}

// advert is what the router would send.
func (r *router) advert(priority uint8) advert {
	a := advert{version: r.intent.Version, id: r.intent.ID, priority: priority, interval: r.intent.Hello, addresses: r.intent.VIPs, checksum: r.intent.Checksum}
	if a.checksum == ChecksumAuto {
		a.checksum = r.form
	}
	return a
}

// state is what is told of the router.
func (r *router) state() State {
	s := State{ID: r.intent.ID, Device: r.intent.Device, Role: r.role, Since: r.since, Reason: r.reason,
		Priority: r.intent.Priority, Lease: r.intent.Lease(), History: r.past}
	switch {
	case r.role == Master:
		s.MasterMAC, s.MasterAddress, s.MasterPriority, s.MasterInterval = MAC(s.ID), r.intent.Source.Addr(), s.Priority, r.intent.Hello
	case r.role == Backup && r.master.src.IsValid() && !r.gaveUp:
		s.MasterMAC, s.MasterAddress, s.MasterPriority, s.MasterInterval = r.master.mac, r.master.src, r.master.priority, r.interval
	}
	return s
}
