package vrrp

import (
	"errors"
	"fmt"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// watcher looks at the devices, and opens and closes links on them, in a goroutine of its own: the kernel does that under a
// lock that others may hold for long, and the loop must not wait.
type watcher struct {
	s      *Speaker
	nl     *netlink.Handle
	links  map[string]*link
	failed map[string]string // what was logged of a device
	old    []*link           // that the loop may still be using
}

func (s *Speaker) watch() {
	defer close(s.watched)
	if s.options.enter != nil {
		s.options.enter()
	}
	w := &watcher{s: s, links: map[string]*link{}, failed: map[string]string{}}
	defer w.end()
	for {
		select {
		case <-s.ended:
			return
		case <-s.look:
		case <-time.After(beat):
		}
		w.round()
	}
}

// round makes the links what the devices are.
func (w *watcher) round() {
	if w.nl == nil {
		var err error
		if w.nl, err = netlink.NewHandle(unix.NETLINK_ROUTE); err != nil {
			w.complain("", fmt.Errorf("VRRP cannot be spoken: the kernel cannot be asked for devices: %w", err))
			return
		}
	}
	wanted := w.s.devices()
	changed := false
	for name, l := range w.links {
		if !wanted[name] {
			w.retire(name, l)
			delete(w.failed, name)
			changed = true
		}
	}
	for name := range wanted {
		changed = w.attach(name) || changed
	}
	if changed {
		w.s.provide(w.links)
	}
	w.discard()
}

// attach has the link of a device be as the device is: there, gone, or another one of the same name. A twin carries frames
// while the dataplane holds it.
func (w *watcher) attach(device string) (changed bool) {
	index := 0
	d, err := w.nl.LinkByName(device)
	const both = unix.IFF_UP | unix.IFF_RUNNING
	switch missing := (netlink.LinkNotFoundError{}); {
	case errors.As(err, &missing):
	case err != nil:
		w.complain(device, fmt.Errorf("the kernel cannot be asked for device %s: %w", device, err))
		return false
	case d.Attrs().RawFlags&both == both:
		index = d.Attrs().Index
	}
	l := w.links[device]
	if l != nil && l.index != index {
		w.retire(device, l)
		l, changed = nil, true
	}
	if l != nil || index == 0 {
		return changed
	}
	if l, err = openLink(device, index); err != nil {
		w.complain(device, err)
		return changed
	}
	delete(w.failed, device)
	w.links[device] = l
	return true
}

// complain logs what keeps a device from being used, once for each trouble.
func (w *watcher) complain(device string, err error) {
	if w.failed[device] != err.Error() {
		w.s.options.Log.Error("VRRP is not spoken on a device; trying again", "error", err)
	}
	w.failed[device] = err.Error()
}

func (w *watcher) retire(device string, l *link) {
	delete(w.links, device)
	w.old = append(w.old, l)
}

// discard closes what was retired as soon as the loop has taken what was provided since.
func (w *watcher) discard() {
	if len(w.old) == 0 || !w.s.taken() {
		return
	}
	for _, l := range w.old {
		l.close()
	}
	w.old = nil
}

func (w *watcher) end() {
	for _, l := range w.links {
		l.close()
	}
	for _, l := range w.old {
		l.close()
	}
	if w.nl != nil {
		w.nl.Close()
	}
}
