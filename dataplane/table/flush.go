package table

import (
	"fmt"
	"unsafe"

	"sluice/dataplane/api"
)

// flush says whose flows end now, by their IDs. Nearly always it says so of nobody: then there is no memory for it.
type flush struct {
	services, vservers idSet
}

// idSet is a set of IDs: a byte each.
type idSet struct {
	list []uint32
	at   uintptr
	n    uint32 // IDs below it may be in the set
}

// checkFlush refuses services that are up, whose flows do not end, and IDs that nobody may have.
func checkFlush(h *api.Health, up []bool) error {
	for _, list := range [2][]uint32{h.Flush, h.FlushVservers} {
		for _, id := range list {
			if id == 0 || id > MaxID {
				return fmt.Errorf("the flows of %d are to end: IDs are 1 to %d", id, MaxID)
			}
		}
	}
	for _, id := range h.Flush {
		if int(id) < len(up) && up[id] {
			return fmt.Errorf("service %d is up, and its flows are to end", id)
		}
	}
	return nil
}

// checkLeaving refuses what leaves and is up, or has no number that a service may have.
func checkLeaving(h *api.Health, up []bool) error {
	for _, id := range h.Leaving {
		switch {
		case id == 0 || id > MaxID:
			return fmt.Errorf("service %d is leaving: IDs are 1 to %d", id, MaxID)
		case int(id) < len(up) && up[id]:
			return fmt.Errorf("service %d is up, and it is leaving", id)
		}
	}
	return nil
}

func (f *flush) draft(h *api.Health) {
	f.services.draft(h.Flush)
	f.vservers.draft(h.FlushVservers)
}

func (f *flush) size() uintptr { return f.services.size() + f.vservers.size() }

func (f *flush) fill(mem *arena) {
	f.services.fill(mem)
	f.vservers.fill(mem)
}

// grew says whether f has somebody whom prev had not.
func (f *flush) grew(prev *flush) bool {
	return f.services.grew(&prev.services) || f.vservers.grew(&prev.vservers)
}

func (s *idSet) draft(list []uint32) {
	s.list = list
	for _, id := range list {
		s.n = max(s.n, id+1)
	}
}

func (s *idSet) size() uintptr {
	if s.n == 0 {
		return 0
	}
	return pad(uintptr(s.n))
}

func (s *idSet) fill(mem *arena) {
	if s.n == 0 {
		return
	}
	s.at = mem.take(uintptr(s.n))
	for _, id := range s.list {
		*(*uint8)(unsafe.Add(nil, s.at+uintptr(id))) = 1
	}
}

func (s *idSet) grew(prev *idSet) bool {
	for _, id := range s.list {
		if !prev.has(id) {
			return true
		}
	}
	return false
}

func (s *idSet) has(id uint32) bool {
	return id < s.n && *(*uint8)(unsafe.Add(nil, s.at+uintptr(id))) != 0
}

// Flushed says whether a flow of a vserver and a service is to end now, however busy it is.
func (s *Set) Flushed(vserver, service uint32) bool {
	return s.pools.flush.services.has(service) || s.pools.flush.vservers.has(vserver)
}
