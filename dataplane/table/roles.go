package table

import (
	"fmt"
	"unsafe"

	"sluice/dataplane/api"
)

// Role is what this appliance is in a virtual router.
type Role struct {
	Flags uint32
	Via   uint32 // the master's own address, 0: none is told
}

// Flags of a Role.
const (
	RoleTaken   = 1 << iota // there is such a role; without it this is none
	RoleMaster              // as long as the lease lasts
	RoleSharing             // serves also what comes while it is not master
)

const (
	roleSize  = unsafe.Sizeof(Role{})
	rolesEach = 256 // vrIDs
)

type roles struct {
	version uint64
	src     *api.Roles
	size    uintptr // of mem
	mem     *arena
	ports   int
	at      uintptr // array of Role by port and vrID; behind the ports, one for all ports
	any     uint64  // bit by port: it has roles
}

// newRoles checks the roles and counts the memory that they take; fill compiles them.
func newRoles(src *api.Roles, ports []Port) (*roles, error) {
	r := &roles{version: src.Version, src: src, ports: len(ports)}
	for i := range src.List {
		e := &src.List[i]
		if int(e.Port) >= len(ports) {
			return nil, fmt.Errorf("vrID %d is on port number %d, but there are %d ports", e.ID, e.Port, len(ports))
		}
		if e.ID == 0 {
			return nil, fmt.Errorf("a virtual router on port %s has the vrID 0: vrIDs are 1 to 255", ports[e.Port].Name)
		}
		if e.Via.IsValid() && !e.Via.Is4() {
			return nil, errNotIP4("master of vrID", fmt.Sprint(e.ID), e.Via)
		}
	}
	if len(src.List) != 0 {
		r.size = pad(uintptr(len(ports)+1) * rolesEach * roleSize)
	}
	return r, nil
}

func (r *roles) fill() (err error) {
	if r.size == 0 {
		return nil
	}
	if r.mem, err = newArena(r.size); err != nil {
		return err
	}
	r.at = r.mem.take(r.size)
	for i := range r.src.List {
		e := &r.src.List[i]
		x := Role{Flags: RoleTaken}
		if e.Master {
			x.Flags |= RoleMaster
		}
		if e.Sharing {
			x.Flags |= RoleSharing
		}
		if e.Via.IsValid() {
			x.Via = ip4(e.Via)
		}
		p := r.role(int(e.Port), e.ID)
		if p.Flags != 0 {
			return fmt.Errorf("vrID %d has two roles on port number %d", e.ID, e.Port)
		}
		*p = x
		r.any |= 1 << e.Port
		// Whoever is master on one port serves what comes for the VIPs by others, e.g. from clients beside the servers.
		all := r.role(r.ports, e.ID)
		if all.Flags |= x.Flags; all.Via == 0 {
			all.Via = x.Via
		}
	}
	r.src = nil
	return nil
}

func (r *roles) role(port int, id uint8) *Role {
	return (*Role)(unsafe.Add(nil, r.at+uintptr(port*rolesEach+int(id))*roleSize))
}

func (r *roles) free() {
	if r != nil {
		r.mem.free()
	}
}

// HasRoles says whether a port has virtual routers.
func (s *Set) HasRoles(port uint16) bool { return s.roles.any>>port&1 != 0 }

// RoleOn is the role of a virtual router on a port; one without flags if there is none.
func (s *Set) RoleOn(port uint16, id uint8) Role {
	if s.roles.size == 0 {
		return Role{}
	}
	return *s.roles.role(int(port), id)
}

// Role is the role in which this appliance takes what comes by a port for VIPs of a virtual router: that on the port, or what it has
// on others.
func (s *Set) Role(port uint16, id uint8) Role {
	if r := s.RoleOn(port, id); r.Flags != 0 || s.roles.size == 0 {
		return r
	}
	return *s.roles.role(s.roles.ports, id)
}
