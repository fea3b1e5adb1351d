package flow

import (
	"sluice/dataplane/packet"
	"unsafe"
)

// Settings of a table.
type Settings struct {
	Name     string // of the memory mapping, e.g. "sluice-flows-0"
	Entries  int    // that it must hold; a flow has two
	Huge     bool   // ask for huge pages
	Populate bool   // touch all memory now instead of at first use
	// Seed fixes the hash seed; zero draws a random one. For tests.
	Seed [2]uint64
}

// Table is a hash table of entries: open addressing, linear probing, deletion by shifting back, at most 3/4 full.
// A pointer to an entry holds until the next Create, Remove or Sweep.
type Table struct {
	packet.Index
	count uint64 // entries in use
	limit uint64 // entries at which Create refuses
	sweep uintptr
}

// Open maps an empty table. note, if not empty, is a sentence about a wish that could not be met.
func Open(s Settings) (t *Table, note string, err error) { return nil, "", nil }

// Close unmaps the table.
func (t *Table) Close() error { return nil }

// Len is the number of entries in use, Limit the number at which new flows are refused.
func (t *Table) Len() uint64   { return t.count }
func (t *Table) Limit() uint64 { return t.limit }

// Find searches from slot, the address that SlotOf or Parse gave for the key; nil if there is none.
// The first probe is worth inlining by hand: e := At(slot); e.B == b && e.A == a.
func (t *Table) Find(slot uintptr, a, b uint64) *Entry {
	for {
		e := At(slot)
		if e.B == b && e.A == a {
			return e
		}
		if e.B == 0 {
			return nil
		}
		slot = t.Base + (slot-t.Base+EntrySize)&(t.Mask<<6)
	}
}

// At is the entry at a slot address.
func At(slot uintptr) *Entry { return (*Entry)(unsafe.Add(unsafe.Pointer(nil), slot)) }

// Lookup finds the entry of a key; nil if there is none.
func (t *Table) Lookup(k packet.Key) *Entry { return t.Find(t.SlotOf(t.Hash(k.A, k.B)), k.A, k.B) }

// Result tells how Create ended.
type Result uint8

const (
	// Created: both entries are in the table.
	Created Result = iota
	// Full: the load limit is reached.
	Full
	// InUse: a key is taken by another flow.
	InUse
)

// Create copies a flow's entries into the table, both or none. rev is nil for a flow without a way back (KindSingle).
// It returns the forward entry in the table.
func (t *Table) Create(fwd, rev *Entry) (*Entry, Result) { return nil, Full }

// Peer is the entry of the other direction: its key is the result of e's rewrite, reversed. nil if there is none.
func (t *Table) Peer(e *Entry) *Entry { return nil }

// Remove takes a flow out of the table, both directions, and tells the keeper. e may be either entry; it is gone afterwards.
func (t *Table) Remove(e *Entry, k Keeper) {}

// Track takes note of the TCP flags of a packet of e. Only SYN, FIN and RST, and the packet that finishes a handshake,
// touch the other direction's entry.
func (t *Table) Track(e *Entry, flags uint8) {
	if flags&(packet.SYN|packet.FIN|packet.RST)|uint8(e.State&Opening) != 0 {
		t.track(e, flags)
	}
}

func (t *Table) track(e *Entry, flags uint8) {}

// Keeper is told what becomes of flows; the worker implements it.
type Keeper interface {
	// IdleLimit is the ticks of silence after which an established TCP flow or any other flow of e's vserver and service ends.
	IdleLimit(e *Entry) uint32
	// Gone reports a flow that has left the table, once: fwd is a copy of its forward entry and holds during the call, rev of its
	// reverse entry or nil. The keeper returns the port of a KindPool flow and corrects its counts.
	Gone(fwd, rev *Entry)
}

// Sweep looks at the next slots slots for flows that were silent too long at tick now, and removes them. It returns how many flows ended.
func (t *Table) Sweep(now uint32, slots int, k Keeper) int { return 0 }

// Ticks of ageing, in 1/10 s.
const (
	Second       uint32 = 10
	OpeningLimit        = 30 * Second // handshake not finished
	ClosedLimit         = 60 * Second // both sides have sent FIN
	ResetLimit          = 5 * Second  // after an RST
)

// Idle is the ticks from last to now; 0 if last lies ahead. It is right across the wrap of the counter (13.6 years).
func Idle(now, last uint32) uint32 { return uint32(max(int32(now-last), 0)) }
