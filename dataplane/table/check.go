package table

import (
	"fmt"
	"net/netip"
	"slices"

	"sluice/dataplane/api"
)

// What management says is checked here as a whole before memory is taken for it; what one function of a vserver alone needs is
// checked beside it (checkMode, checkToken and others).

func checkID(what, name string, id uint32) error {
	if id == 0 || id > MaxID {
		return fmt.Errorf("%s %s has the ID %d: IDs are 1 to %d", what, name, id, MaxID)
	}
	return nil
}

func checkIP4(what, name string, ip netip.Addr) error {
	if !ip.Is4() {
		return errNotIP4(what, name, ip)
	}
	return nil
}

func errNotIP4(what, name string, ip netip.Addr) error {
	return fmt.Errorf("%s %s has the address %v: this dataplane carries IPv4 only", what, name, ip)
}

func checkProto(what, name string, proto uint8, port uint16) error {
	switch proto {
	case api.ProtoAny, api.ProtoTCP, api.ProtoUDP:
		return nil
	}
	if port != 0 {
		return fmt.Errorf("%s %s has port %d, but protocol %d has no ports", what, name, port, proto)
	}
	return nil
}

func checkSNIPs(list []api.SNIP) (map[uint32]*api.SNIP, error) {
	m := make(map[uint32]*api.SNIP, len(list))
	for i := range list {
		s := &list[i]
		if err := checkID("SNIP", s.IP.String(), s.ID); err != nil {
			return nil, err
		}
		if err := checkIP4("SNIP", s.IP.String(), s.IP); err != nil {
			return nil, err
		}
		if o := m[s.ID]; o != nil {
			return nil, fmt.Errorf("SNIPs %v and %v have the same ID %d", o.IP, s.IP, s.ID)
		}
		if s.PortLo == 0 || s.PortLo > s.PortHi {
			return nil, fmt.Errorf("SNIP %v has no ports: its range is %d to %d", s.IP, s.PortLo, s.PortHi)
		}
		m[s.ID] = s
	}
	return m, nil
}

// byID finds objects by their IDs, which are below MaxID and mostly without gaps.
type byID[T any] []*T

// put adds an object and returns the one that has the ID already, or nil.
func (l *byID[T]) put(id uint32, o *T) *T {
	if n := int(id) + 1; n > len(*l) {
		*l = slices.Grow(*l, n-len(*l))[:n]
	}
	was := (*l)[id]
	(*l)[id] = o
	return was
}

// get finds an object, or nil.
func (l byID[T]) get(id uint32) *T {
	if id >= uint32(len(l)) {
		return nil
	}
	return l[id]
}

// checkServices checks the services and finds them by ID.
func checkServices(list []api.Service, snips map[uint32]*api.SNIP) (byID[api.Service], error) {
	seen := byID[api.Service]{}
	for i := range list {
		s := &list[i]
		if err := checkID("service", s.Name, s.ID); err != nil {
			return nil, err
		}
		if o := seen.put(s.ID, s); o != nil {
			return nil, fmt.Errorf("services %s and %s have the same ID %d", o.Name, s.Name, s.ID)
		}
		if err := checkIP4("service", s.Name, s.IP); err != nil {
			return nil, err
		}
		if err := checkProto("service", s.Name, s.Proto, s.Port); err != nil {
			return nil, err
		}
		for _, id := range s.SNIPs {
			if snips[id] == nil {
				return nil, fmt.Errorf("service %s names SNIP %d, which does not exist", s.Name, id)
			}
		}
	}
	return seen, nil
}

func checkVservers(src *api.Config, services byID[api.Service]) error {
	seen := byID[api.Vserver]{}
	bound := make([]uint32, len(services)) // by service ID: the last vserver, from 1, that it was seen bound to
	for i := range src.Vservers {
		v := &src.Vservers[i]
		if err := checkID("vserver", v.Name, v.ID); err != nil {
			return err
		}
		if o := seen.put(v.ID, v); o != nil {
			return fmt.Errorf("vservers %s and %s have the same ID %d", o.Name, v.Name, v.ID)
		}
		if !v.Hidden {
			if err := checkIP4("vserver", v.Name, v.IP); err != nil {
				return err
			}
		}
		if err := checkProto("vserver", v.Name, v.Proto, v.Port); err != nil {
			return err
		}
		if err := checkPlace(v); err != nil {
			return err
		}
		switch {
		case v.Method == api.RoundRobin, loadAware(v.Method):
		case hashes(v.Method):
			if err := checkHashed(v); err != nil {
				return err
			}
		default:
			return fmt.Errorf("vserver %s has the balancing method %d, which this dataplane does not know", v.Name, v.Method)
		}
		if err := checkMode(v); err != nil {
			return err
		}
		if err := checkBindings(v, services, bound, uint32(i+1)); err != nil {
			return err
		}
		if err := checkPersistence(v); err != nil {
			return err
		}
		if err := checkToken(v); err != nil {
			return err
		}
	}
	return checkBackups(src.Vservers, seen)
}

func checkBindings(v *api.Vserver, services byID[api.Service], bound []uint32, number uint32) error {
	for _, b := range v.Bindings {
		s := services.get(b.Service)
		if s == nil {
			return fmt.Errorf("vserver %s is bound to service %d, which does not exist", v.Name, b.Service)
		}
		if bound[b.Service] == number {
			return fmt.Errorf("vserver %s is bound to service %s twice", v.Name, s.Name)
		}
		bound[b.Service] = number
		if b.Weight < 1 || b.Weight > 100 {
			return fmt.Errorf("vserver %s gives service %s the weight %d: weights are 1 to 100", v.Name, s.Name, b.Weight)
		}
		if s.Proto != v.Proto {
			return fmt.Errorf("vserver %s (protocol %d) is bound to service %s (protocol %d): both must be the same",
				v.Name, v.Proto, s.Name, s.Proto)
		}
	}
	return nil
}
