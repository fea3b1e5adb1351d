package compile

import (
	"reflect"
	"time"

	"sluice/vendor-config/schema"
)

// standing is how far a service takes part by what operators have said.
type standing uint8

const (
	outOfService standing = iota
	goingOut              // it keeps the flows that it has and gets none but of clients that persist on it
	inService
)

// standingOf is the standing of a row by its state and by when it began to leave, 0 if it does not.
func standingOf(state string, leavingSince uint64) standing {
	switch {
	case enabled(state):
		return inService
	case leavingSince != 0:
		return goingOut
	}
	return outOfService
}

// standing is that of the service, which is no better than its server's.
func (x *Index) standing(svc *schema.Service) standing {
	srv := x.ServerOf(svc)
	if srv == nil {
		return outOfService
	}
	return min(standingOf(svc.State, svc.LeavingSince), standingOf(srv.State, srv.LeavingSince))
}

// ServiceState is the state of a service as operators know it.
func (x *Index) ServiceState(s *State, service string) string {
	svc := x.Service(service)
	switch {
	case svc == nil || x.standing(svc) == outOfService:
		return "OUT OF SERVICE"
	case x.standing(svc) == goingOut && x.usable(s, svc, true):
		return "GOING OUT OF SERVICE"
	case x.standing(svc) == goingOut:
		return "GOING OUT OF SERVICE, DOWN"
	case x.ServiceUp(s, service):
		return "UP"
	}
	return "DOWN"
}

// Departure is a server, service, service group or member on its way out of service: see schema, Leave.
type Departure struct {
	Object   *schema.Object
	Key      []string
	Row      any
	Since    time.Time
	Delay    time.Duration // 0: without end
	GraceFul bool          // it ends when no flow is left, too
	Services []string      // of the dataplane that go with it
}

// Until is when it ends at the latest; zero if nothing but the end of the flows does.
func (d *Departure) Until() time.Time {
	if d.Delay == 0 {
		return time.Time{}
	}
	return d.Since.Add(d.Delay)
}

// Departures are the rows that are on their way out of service.
func (x *Index) Departures() []*Departure { return x.departures }

// DepartureOf is the departure of a row, or nil.
func (x *Index) DepartureOf(row any) *Departure {
	for _, d := range x.departures {
		if d.Row == row {
			return d
		}
	}
	return nil
}

func (x *Index) indexDepartures() {
	x.departures = nil
	of := map[any]*Departure{} // by row
	for _, o := range schema.Leavers() {
		for row := range x.c.Each(o) {
			l := schema.LeavingOf(row)
			if l.Since == 0 {
				continue
			}
			d := &Departure{Object: o, Row: row, Since: time.UnixMilli(int64(l.Since)), Delay: time.Duration(l.Delay) * time.Second, GraceFul: l.GraceFul == "YES"}
			for _, k := range o.Keys() {
				d.Key = append(d.Key, k.Text(reflect.ValueOf(row).Elem()))
			}
			x.departures, of[row] = append(x.departures, d), d
		}
	}
	if len(of) == 0 {
		return
	}
	for svc := range x.Services() {
		for _, row := range x.goesWith(svc) {
			if d := of[row]; d != nil {
				d.Services = append(d.Services, svc.Name)
			}
		}
	}
}

// goesWith are the rows with whose departures a service goes: its own or those of the member that it is, and its server's.
func (x *Index) goesWith(svc *schema.Service) []any {
	srv, _ := x.c.Row(servers, svc.Server)
	if m := x.memberOf[svc.Name]; m != nil {
		return []any{srv, m.Group, m.Row}
	}
	return []any{srv, svc}
}
