package schema

import "time"

// Leaving is how a server, service, service group or member goes out of service: disabled with a delay or gracefully it
// keeps its flows until the delay is over or, gracefully, until the last one ends, whichever comes first. Meanwhile it is
// DISABLED already, and Since says when that began. It is kept in files and not written as commands, which know no moment:
// whoever reads them finds what is disabled.
type Leaving struct {
	Delay    uint32 // seconds; 0: as long as it takes
	GraceFul string // YES or NO
	Since    uint64 // milliseconds since 1970; 0: it does not leave
}

// leaver is a row that can leave.
type leaver interface {
	leaving() (state, graceFul *string, delay *uint32, since *uint64)
}

func (r *Server) leaving() (state, graceFul *string, delay *uint32, since *uint64) {
	return &r.State, &r.GraceFul, &r.Delay, &r.LeavingSince
}

func (r *Service) leaving() (state, graceFul *string, delay *uint32, since *uint64) {
	return &r.State, &r.GraceFul, &r.Delay, &r.LeavingSince
}

func (r *ServiceGroup) leaving() (state, graceFul *string, delay *uint32, since *uint64) {
	return &r.State, &r.GraceFul, &r.Delay, &r.LeavingSince
}

func (r *ServiceGroupMember) leaving() (state, graceFul *string, delay *uint32, since *uint64) {
	return &r.State, &r.GraceFul, &r.Delay, &r.LeavingSince
}

// Leavers are the objects whose rows can leave.
func Leavers() []*Object {
	return []*Object{Of[Server](), Of[Service](), Of[ServiceGroup](), Of[ServiceGroupMember]()}
}

// LeavingOf tells how a row leaves; zero for one that does not or cannot.
func LeavingOf(row any) Leaving {
	if r, ok := row.(leaver); ok {
		_, graceFul, delay, since := r.leaving()
		return Leaving{*delay, *graceFul, *since}
	}
	return Leaving{}
}

// Leave disables a row that is the caller's own: at once, or as said from now on. One that is out of service stays so.
func Leave(row any, delay uint32, graceFul bool, now time.Time) {
	r, ok := row.(leaver)
	if !ok {
		return
	}
	state, g, d, since := r.leaving()
	out := *state == "DISABLED" && *since == 0
	*state, *g, *d, *since = "DISABLED", "NO", 0, 0
	if out || delay == 0 && !graceFul {
		return
	}
	*d, *since = delay, uint64(max(now.UnixMilli(), 1))
	if graceFul {
		*g = "YES"
	}
}

// Stay ends the leaving of a row that is the caller's own: it is out of service, or in service again.
func Stay(row any, state string) {
	if r, ok := row.(leaver); ok {
		s, g, d, since := r.leaving()
		*s, *g, *d, *since = state, "NO", 0, 0
	}
}
