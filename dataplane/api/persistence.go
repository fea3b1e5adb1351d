package api

import (
	"net/netip"
	"time"
)

// Persistence is by what a vserver knows a client again, to send its new flows where its last one went.
type Persistence uint8

// The numbers travel between programs: new ones go to the end. 0 is no persistence of a vserver; a session of it is a client that
// was spilled over (see Vserver.SpillSeconds).
const (
	PersistSourceIP Persistence = iota + 1
	PersistDestinationIP
	PersistSourceDestinationIP
)

// SessionOrder asks for a page of the persistence sessions, or clears them.
type SessionOrder struct {
	Vserver uint32 // only those of this Vserver.ID; 0: of all
	Clear   bool
	From    uint64 // where the last page ended, 0: the beginning
	Most    uint32 // sessions of a page
}

// Sessions is the answer: a page of sessions, in no order, or how many were cleared.
type Sessions struct {
	List    []Session
	Next    uint64 // From of the next page; 0: there is none
	Cleared uint64
	Limit   uint64 // sessions beyond which clients go without
}

// Session is a client of a vserver and the service that it goes to.
type Session struct {
	Kind             Persistence
	Src, Dst         netip.Addr    // as far as they count; zero where they do not
	Vserver, Service string        // Service is the backup vserver of a client that was spilled over
	Left             time.Duration // until it is forgotten, without another flow
}
