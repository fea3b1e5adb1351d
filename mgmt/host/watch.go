package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/dataplane/api"
)

const (
	// batch is how long news gathers before it is told.
	batch = 10 * time.Millisecond
	// look is how often the watch looks for neighbors that are due for asking.
	look = time.Second
	// resyncPause keeps a storm of events from having the tables read without end.
	resyncPause = 50 * time.Millisecond
)

// News is whom a Watch tells what. Each is told the whole once at the start and after each change; nil is told nothing.
// They are called one at a time; while one runs, news gathers.
type News struct {
	Neighbors  func([]api.Neighbor) // usable neighbors by port and address
	Interfaces func([]Interface)    // ports in the order of the settings
	// Elsewhere are the addresses of links that are no ports, with their subnets' lengths; apart from them those of the management port.
	Elsewhere func(all, management []netip.Prefix)
}

// watcher is the state of one Watch.
type watcher struct {
	h     *Host
	news  News
	known neighbors
	port  map[int]uint16 // by index of the twin's link
	links map[string]int // index of each device and twin that is there, by name

	// What has been told.
	told       bool
	neighbors  []api.Neighbor
	interfaces []Interface
	elsewhere  []netip.Prefix
	management []netip.Prefix

	// What has changed since.
	newNeighbors, newLinks, resync, moved bool
}

// Watch tells news until ctx ends or the host is closed. It also keeps the neighbors that the dataplane may be using
// alive, and takes those that do not answer out of the kernel's table. A host is watched once.
func (h *Host) Watch(ctx context.Context, news News) error {
	h.mu.Lock()
	if h.watching != nil || h.deaf.Load() {
		h.mu.Unlock()
		return errors.New("the kernel's side of the ports is watched already, or closed")
	}
	h.watching = make(chan struct{})
	h.mu.Unlock()
	defer close(h.watching)
	w := &watcher{h: h, news: news, known: neighbors{}, resync: true}
	events := make(chan event, 1024)
	go h.receive(events)
	defer func() {
		h.deafen()
		for range events { // receive may wait for room; it ends with the socket
		}
	}()
	if err := w.tell(ctx); err != nil {
		return err
	}
	ticker := time.NewTicker(min(look, h.reprobe/4))
	defer ticker.Stop()
	var timer <-chan time.Time // runs while something is to be told
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-events:
			if !open {
				return nil
			}
			w.take(e)
		case <-timer:
			timer = nil
			if err := w.tell(ctx); err != nil {
				h.log.Error("the kernel's neighbors and links could not be read; trying again", "error", err)
				w.resync = true
			}
		case <-w.h.relinked:
			w.newLinks = true
		case now := <-ticker.C:
			w.askAgain(now)
		}
		if timer == nil && (w.newNeighbors || w.newLinks || w.resync) {
			timer = time.After(w.pause())
		}
	}
}

func (w *watcher) pause() time.Duration {
	if w.resync {
		return resyncPause
	}
	return batch
}

// event is news of the kernel: a neighbor, or that links or addresses have changed, or that events were lost.
type event struct {
	neighbor *netlink.Neigh
	gone     bool
	lost     bool
}

// receive turns messages into events until the socket is closed.
func (h *Host) receive(events chan<- event) {
	defer close(events)
	for {
		messages, from, err := h.events.Receive()
		if err != nil && h.deaf.Load() {
			return
		}
		switch {
		case errors.Is(err, unix.ENOBUFS): // the kernel had more to say than the socket could hold
			events <- event{lost: true}
			continue
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			h.log.Warn("a message of the kernel could not be read", "error", err)
			time.Sleep(resyncPause)
			events <- event{lost: true}
			continue
		}
		if from.Pid != 0 {
			continue // only the kernel is believed
		}
		for _, m := range messages {
			if e, ok := parse(m); ok {
				events <- e
			}
		}
	}
}

func parse(m syscall.NetlinkMessage) (event, bool) {
	switch m.Header.Type {
	case unix.RTM_NEWNEIGH, unix.RTM_DELNEIGH:
		if len(m.Data) < unix.SizeofNdMsg {
			return event{lost: true}, true
		}
		n, err := netlink.NeighDeserialize(m.Data)
		if err != nil {
			return event{lost: true}, true
		}
		return event{neighbor: n, gone: m.Header.Type == unix.RTM_DELNEIGH}, n.Family == unix.AF_INET
	case unix.RTM_NEWLINK, unix.RTM_DELLINK, unix.RTM_NEWADDR, unix.RTM_DELADDR:
		return event{}, true
	}
	return event{}, false
}

// take notes an event.
func (w *watcher) take(e event) {
	switch {
	case e.lost:
		w.resync = true
	case e.neighbor == nil:
		w.newLinks = true
	default:
		changed, failed := w.known.observe(e.neighbor, e.gone, time.Now())
		_, ours := w.port[e.neighbor.LinkIndex]
		w.newNeighbors = w.newNeighbors || changed && ours
		if failed && ours {
			// Without this `show arp` would list it for ever. The dataplane asks again if it needs it.
			_ = w.h.nl.NeighDel(&netlink.Neigh{LinkIndex: e.neighbor.LinkIndex, Family: unix.AF_INET, IP: e.neighbor.IP})
		}
	}
}

// tell reads what must be read anew and hands on what is different from what was told last. If a device or twin has come
// or gone, the plan is applied again.
func (w *watcher) tell(ctx context.Context) error {
	if w.newLinks || w.resync {
		if err := w.readLinks(); err != nil {
			return err
		}
	}
	if w.resync {
		if err := w.readNeighbors(); err != nil {
			return err
		}
	}
	w.newNeighbors, w.newLinks, w.resync = false, false, false
	if list := w.known.list(w.port); w.news.Neighbors != nil && !(w.told && slices.Equal(list, w.neighbors)) {
		w.neighbors = list
		w.news.Neighbors(slices.Clone(list))
	}
	w.told = true
	if w.moved {
		w.moved = false
		if err := w.h.restore(ctx); err != nil {
			w.h.log.Error("a port's device or twin has come or gone, and its addresses and routes could not be restored", "error", err)
		}
	}
	return nil
}

// readLinks finds the twins' indexes and tells of interfaces and of addresses elsewhere.
func (w *watcher) readLinks() error {
	links, err := w.h.nl.LinkList()
	if err != nil {
		return fmt.Errorf("cannot read the kernel's links: %w", err)
	}
	w.port = map[int]uint16{}
	now := map[string]int{}
	for _, l := range links {
		name, index := l.Attrs().Name, l.Attrs().Index
		if i := w.h.byTwin(name); i >= 0 {
			w.port[index] = uint16(i)
		}
		if w.h.isOurs(name) {
			now[name] = index
		}
	}
	w.moved = w.moved || w.told && !maps.Equal(now, w.links)
	w.links = now
	if list := w.h.interfaces(links); w.news.Interfaces != nil && !(w.told && slices.Equal(list, w.interfaces)) {
		w.interfaces = list
		w.news.Interfaces(slices.Clone(list))
	}
	addrs, management, err := w.h.elsewhere(links)
	if err != nil {
		return err
	}
	if w.news.Elsewhere != nil && !(w.told && slices.Equal(addrs, w.elsewhere) && slices.Equal(management, w.management)) {
		w.elsewhere, w.management = addrs, management
		w.news.Elsewhere(slices.Clone(addrs), slices.Clone(management))
	}
	return nil
}

// readNeighbors replaces what is known by the kernel's table.
func (w *watcher) readNeighbors() error {
	list, err := w.h.nl.NeighList(0, netlink.FAMILY_V4)
	if err != nil {
		return fmt.Errorf("cannot read the kernel's neighbors: %w", err)
	}
	old, now := w.known, time.Now()
	w.known = neighbors{}
	for _, n := range list {
		w.take(event{neighbor: &n})
	}
	for k, e := range w.known {
		e.asked = now
		if o := old[k]; o != nil {
			e.asked = o.asked
		}
	}
	return nil
}

// askAgain has the kernel check neighbors that it has heard nothing of by us.
func (w *watcher) askAgain(now time.Time) {
	for _, k := range w.known.due(now.Add(-w.h.reprobe), now) {
		if _, ours := w.port[k.link]; !ours {
			continue
		}
		if err := w.h.use(k.link, k.ip); err != nil && !errors.Is(err, unix.ENODEV) {
			w.h.log.Debug("neighbor could not be asked for again", "neighbor", k.ip, "error", err)
		}
	}
}
