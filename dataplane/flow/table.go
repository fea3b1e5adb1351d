package flow

import (
	"unsafe"

	"sluice/dataplane/packet"
)

// Table is a hash table of entries: open addressing, linear probing, deletion by shifting back, so that there are no tombstones and
// a search ends at the first empty slot. It is at most 3/4 full. Deletion moves entries: a pointer to an entry
// holds until the next Create, Remove or Sweep.
type Table struct {
	packet.Index
	count uint64 // entries in use
	limit uint64 // entries beyond which Create refuses

	cursor  uintptr // where Sweep goes on: an offset from Base
	recheck uint64  // slots that Sweep still looks at however busy their entries are
	// What Remove hands to the keeper: room of the table's own, so that nothing escapes to the heap.
	goneFwd, goneRev Entry

	mapping mapping
}

// Len is the number of entries in use; a flow has two.
func (t *Table) Len() uint64 { return t.count }

// Limit is the number of entries beyond which new flows are refused.
func (t *Table) Limit() uint64 { return t.limit }

// Crowded tells whether so many slots are taken that an entry is often not in the slot where the search for it starts.
func (t *Table) Crowded() bool { return t.count > uint64(t.Mask)>>4 }

// Slots is the number of slots, for a caller that sizes its sweeps.
func (t *Table) Slots() uint64 { return uint64(t.Mask) + 1 }

// At is the entry at a slot's address.
func At(slot uintptr) *Entry { return (*Entry)(unsafe.Add(unsafe.Pointer(nil), slot)) }

// next is the slot behind a slot, around the end.
func (t *Table) next(slot uintptr) uintptr {
	return t.Base + (slot-t.Base+EntrySize)&(t.Mask*EntrySize)
}

// Find searches from slot, the address that SlotOf or Parse gave for the key; nil if the key is not in the table.
// The first probe, which is most often the last, is worth writing out where packets are counted in cycles:
// e := At(slot); e.B == b && e.A == a.
func (t *Table) Find(slot uintptr, a, b uint64) *Entry {
	for {
		e := At(slot)
		if e.B == b && e.A == a {
			return e
		}
		if e.B == 0 {
			return nil
		}
		slot = t.next(slot)
	}
}

// Lookup finds the entry of a key; nil if there is none.
func (t *Table) Lookup(k packet.Key) *Entry { return t.Find(t.SlotOf(t.Hash(k.A, k.B)), k.A, k.B) }

// Result tells how Create ended.
type Result uint8

const (
	// Created: the entries are in the table.
	Created Result = iota
	// Full: the limit is reached.
	Full
	// InUse: one of the keys belongs to another flow.
	InUse
)

// Create copies a flow's entries into the table, both or none. rev is nil for a flow without a way back (KindSingle).
// It returns the forward entry in its slot.
func (t *Table) Create(fwd, rev *Entry) (*Entry, Result) {
	need := uint64(2)
	if rev == nil {
		need = 1
	}
	if t.count+need > t.limit {
		return nil, Full
	}
	slot, free := t.vacancy(fwd.A, fwd.B)
	if !free {
		return nil, InUse
	}
	e := At(slot)
	*e = *fwd
	if rev != nil {
		// After the forward entry is in place, so that the two do not choose one slot, nor one key.
		slot, free = t.vacancy(rev.A, rev.B)
		if !free {
			e.B = 0 // nothing was placed behind it yet, so that no search runs through it
			return nil, InUse
		}
		*At(slot) = *rev
	}
	t.count += need
	return e, Created
}

// May is how Create would end for a flow of these keys, if the entries goneFwd and goneRev (nil: none) were not there any more.
func (t *Table) May(fwd, rev packet.Key, goneFwd, goneRev *Entry) Result {
	count := t.count
	for _, gone := range [2]*Entry{goneFwd, goneRev} {
		if gone != nil {
			count--
		}
	}
	if count+2 > t.limit {
		return Full
	}
	if fwd == rev {
		return InUse
	}
	for _, k := range [2]packet.Key{fwd, rev} {
		if e := t.Lookup(k); e != nil && e != goneFwd && e != goneRev {
			return InUse
		}
	}
	return Created
}

// vacancy is the slot where a new entry of this key goes; free is false if the key is in the table.
func (t *Table) vacancy(a, b uint64) (slot uintptr, free bool) {
	slot = t.SlotOf(t.Hash(a, b))
	for {
		e := At(slot)
		if e.B == 0 {
			return slot, true
		}
		if e.B == b && e.A == a {
			return slot, false
		}
		slot = t.next(slot)
	}
}

// Peer is the entry of the other direction; nil if there is none. Its key follows from e's rewrite: the answers to what
// e turns packets into.
func (t *Table) Peer(e *Entry) *Entry {
	if e.Kind&KindSingle != 0 {
		return nil
	}
	return t.Lookup(e.PeerKey())
}

// Remove takes a flow out of the table, both directions, and tells the keeper. e may be either entry; it is gone afterwards.
func (t *Table) Remove(e *Entry, k Keeper) {
	peer := t.Peer(e)
	fwd, rev := e, peer
	if e.Kind&KindReverse != 0 {
		fwd, rev = peer, e
	}
	// Copies first: the first deletion may move the second entry.
	pf, pr := (*Entry)(nil), (*Entry)(nil)
	if fwd != nil {
		t.goneFwd, pf = *fwd, &t.goneFwd
	}
	if rev != nil {
		t.goneRev, pr = *rev, &t.goneRev
	}
	if pf != nil {
		t.delete(t.Lookup(pf.Key()))
	}
	if pr != nil {
		t.delete(t.Lookup(pr.Key()))
	}
	k.Gone(pf, pr)
}

// delete empties e's slot and closes the gap: each entry behind it, up to the next empty slot, moves into the gap unless its search
// starts behind the gap.
func (t *Table) delete(e *Entry) {
	span := t.Mask * EntrySize
	gap := uintptr(unsafe.Pointer(e))
	for slot := t.next(gap); ; slot = t.next(slot) {
		m := At(slot)
		if m.B == 0 {
			break
		}
		home := t.SlotOf(t.Hash(m.A, m.B))
		if (slot-home)&span >= (slot-gap)&span {
			*At(gap) = *m
			gap = slot
		}
	}
	*At(gap) = Entry{}
	t.count--
}

// After is the slot behind e's, around the end: the next place where a key that hashes to e's slot may be.
func (t *Table) After(e *Entry) *Entry { return At(t.next(uintptr(unsafe.Pointer(e)))) }
