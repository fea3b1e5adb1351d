package compile

import (
	"iter"
	"reflect"
	"slices"
	"strconv"

	"sluice/vendor-config/schema"
)

// Member is a member of a service group together with the service that it is to all but the configuration: of the group's
// options, in service no more than either of both is.
type Member struct {
	Row     *schema.ServiceGroupMember
	Group   *schema.ServiceGroup
	Service *schema.Service

	server *schema.Server // of a group that scales: with the address that this member has; else nil
}

// MemberName is the name of the service that a member is, e.g. "web?s1?80". No service has the like, since a name has no
// question mark.
func MemberName(m *schema.ServiceGroupMember) string {
	port := "*"
	if m.Port != 0 {
		port = strconv.Itoa(int(m.Port))
	}
	return m.Group + "?" + m.Server + "?" + port
}

// indexMembers makes the members, with those of an earlier index that are as they were.
func (x *Index) indexMembers(s *State, prev *Index) {
	n := x.c.Len(memberRows)
	x.members, x.memberOf, x.groups = make([]*Member, 0, n), make(map[string]*Member, n), map[string][]*Member{}
	var old alongside[*Member]
	if prev != nil {
		old.list = prev.members
	}
	for row := range x.c.Each(memberRows) {
		r := row.(*schema.ServiceGroupMember)
		g := schema.Get[schema.ServiceGroup](x.c, r.Group)
		if g == nil {
			continue // whoever checks a configuration has refused this one
		}
		if g.AutoScale == "DNS" {
			x.scale(s, prev, g, r)
			continue
		}
		m, ok := old.find(func(m *Member) bool { return m.Row == r || memberRows.Key(m.Row) == memberRows.Key(r) })
		if !ok || m.Row != r || m.Group != g {
			m = newMember(r, g)
		}
		x.member(m)
	}
}

func (x *Index) member(m *Member) {
	x.members, x.memberOf[m.Service.Name] = append(x.members, m), m
	x.groups[m.Group.Name] = append(x.groups[m.Group.Name], m)
}

// common are the fields that groups and services have in common: index in the group, index in the service.
var common = func() (pairs [][2]int) {
	g, s := reflect.TypeFor[schema.ServiceGroup](), reflect.TypeFor[schema.Service]()
	for i := range g.NumField() {
		if f, ok := s.FieldByName(g.Field(i).Name); ok && f.Type == g.Field(i).Type {
			pairs = append(pairs, [2]int{i, f.Index[0]})
		}
	}
	return pairs
}()

// OfGroup is a service of the group's name and options, as every member begins.
func OfGroup(g *schema.ServiceGroup) *schema.Service {
	s := &schema.Service{}
	from, to := reflect.ValueOf(g).Elem(), reflect.ValueOf(s).Elem()
	for _, p := range common {
		to.Field(p[1]).Set(from.Field(p[0]))
	}
	return s
}

func newMember(r *schema.ServiceGroupMember, g *schema.ServiceGroup) *Member {
	s := OfGroup(g)
	s.Name, s.Server, s.Port, s.HashID = MemberName(r), r.Server, r.Port, r.HashID
	if standingOf(r.State, r.LeavingSince) < standingOf(g.State, g.LeavingSince) {
		s.State, s.Delay, s.GraceFul, s.LeavingSince = r.State, r.Delay, r.GraceFul, r.LeavingSince
	}
	return &Member{Row: r, Group: g, Service: s}
}

// Members are the members of a service group in the order in which they were bound.
func (x *Index) Members(group string) []*Member { return x.groups[group] }

// MemberOf is the member that the service is, or nil.
func (x *Index) MemberOf(service string) *Member { return x.memberOf[service] }

// Services are all that vservers can choose: the services in their order, then the members of groups.
func (x *Index) Services() iter.Seq[*schema.Service] {
	return func(yield func(*schema.Service) bool) {
		for row := range x.c.Each(serviceRows) {
			if !yield(row.(*schema.Service)) {
				return
			}
		}
		for _, m := range x.members {
			if !yield(m.Service) {
				return
			}
		}
	}
}

// sameServices tells whether Services of x and prev are the same.
func (x *Index) sameServices(prev *Index) bool {
	return x.c.Same(prev.c, serviceRows) && x.sameMembers(prev)
}

// sameMembers tells whether the members of groups in x and prev are the same.
func (x *Index) sameMembers(prev *Index) bool {
	return x.c.Same(prev.c, groupRows) && x.c.Same(prev.c, memberRows) && slices.Equal(x.members, prev.members)
}

// sameBindings tells whether the same services are bound in x and prev.
func (x *Index) sameBindings(prev *Index) bool {
	return x.c.Same(prev.c, bindings) && x.sameMembers(prev)
}

// Bound is a service that a vserver may choose, bound by itself or as a member of a group.
type Bound struct {
	Service string
	Weight  uint16
	Row     *schema.LBVserverService
}

func (x *Index) indexBindings() {
	n := x.c.Len(vserverRows)
	x.bound, x.users = make(map[string][]Bound, n), make(map[string][]string, x.c.Len(serviceRows)+len(x.members))
	bind := func(vserver, service string, weight uint16, row *schema.LBVserverService) {
		x.bound[vserver] = append(x.bound[vserver], Bound{service, weight, row})
		x.users[service] = append(x.users[service], vserver)
	}
	for row := range x.c.Each(bindings) {
		b := row.(*schema.LBVserverService)
		if _, group := x.c.Row(groupRows, b.Service); !group {
			bind(b.Vserver, b.Service, b.Weight, b)
			continue
		}
		for _, m := range x.groups[b.Service] {
			bind(b.Vserver, m.Service.Name, m.Row.Weight, b)
		}
	}
}
