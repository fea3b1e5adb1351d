package flow

import (
	"unsafe"

	"sluice/dataplane/packet"
	"sluice/dataplane/port/asm"
)

// Table is the entries and the index by which they are found. An entry stays where it is until it is removed.
//
// Those of a flow are neighbors if there are two free ones: a pair of lines on one page. Numbers of entries count from 2; the
// lines before, which are always empty, stand for no entry (asm.Nowhere, asm.Unsure).
type Table struct {
	packet.Index
	Limits  Limits // after which flows end; the caller may change them
	buckets asm.Buckets
	count   uint64 // entries in use
	limit   uint64 // entries beyond which Create refuses

	// Free entries are those from fresh on, which were never used, and before them those on a stack of numbers.
	fresh uint32
	freed uint32  // height of the stack
	stack uintptr // uint32

	cursor  uint32 // number where Sweep goes on
	recheck uint64 // entries that Sweep still looks at however busy they are
	// What Remove hands to the keeper: room of the table's own, so that nothing escapes to the heap.
	goneFwd, goneRev Entry

	mapping mapping
}

// firstNumber is the number of the first entry.
const firstNumber = 2

// Len is the number of entries in use; a flow has two.
func (t *Table) Len() uint64 { return t.count }

// Limit is the number of entries beyond which new flows are refused.
func (t *Table) Limit() uint64 { return t.limit }

// Slots is how many entries a sweep has to look at for all that are in use: the most that there ever were at once.
func (t *Table) Slots() uint64 { return uint64(t.fresh - firstNumber) }

// Lines are where lines of entries begin and the index that leads to them.
func (t *Table) Lines() *asm.Buckets { return &t.buckets }

func (t *Table) entry(number uint32) *Entry { return At(t.buckets.Lines + uintptr(number)*EntrySize) }

func (t *Table) number(e *Entry) uint32 {
	return uint32((uintptr(unsafe.Pointer(e)) - t.buckets.Lines) / EntrySize)
}

// At is the entry at an address.
func At(p uintptr) *Entry { return (*Entry)(unsafe.Add(unsafe.Pointer(nil), p)) }

// Lookup finds the entry of a key; nil if there is none.
func (t *Table) Lookup(k packet.Key) *Entry { return t.Find(t.BucketOf(t.Hash(k.A, k.B)), k.A, k.B) }

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
// It returns the forward entry in its place.
func (t *Table) Create(fwd, rev *Entry) (*Entry, Result) {
	need := uint64(2)
	if rev == nil {
		need = 1
	}
	if t.count+need > t.limit {
		return nil, Full
	}
	e := t.place(fwd)
	if e == nil {
		return nil, InUse
	}
	if rev != nil && t.place(rev) == nil {
		t.delete(e)
		return nil, InUse
	}
	return e, Created
}

// lead is how many entries ahead of their use their lines are fetched.
const lead = 64

// place gives an entry a line and a word of the index; nil if its key is in the table.
func (t *Table) place(entry *Entry) *Entry {
	n, ahead := t.fresh, t.fresh+lead-t.freed
	if t.freed > 0 {
		n = *t.stacked(t.freed - 1)
	}
	if t.freed > lead {
		ahead = *t.stacked(t.freed - 1 - lead)
	}
	asm.Prefetch1(t.buckets.Lines + uintptr(min(ahead, uint32(t.limit)))*EntrySize)
	e := t.entry(n)
	*e = *entry
	if !t.enter(entry.A, entry.B, n) {
		*e = Entry{}
		return nil
	}
	if t.freed > 0 {
		t.freed--
	} else {
		t.fresh++
	}
	t.count++
	return e
}

// stacked is place i of the stack of free entries.
func (t *Table) stacked(i uint32) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(nil), t.stack+uintptr(i)*4))
}

// May is how Create would end for a flow of these keys, if the entries goneFwd and goneRev (nil: none) were not there any more.
// rev is zero for a flow without a way back.
func (t *Table) May(fwd, rev packet.Key, goneFwd, goneRev *Entry) Result {
	count := t.count
	for _, gone := range [2]*Entry{goneFwd, goneRev} {
		if gone != nil {
			count--
		}
	}
	keys := []packet.Key{fwd, rev}
	if rev.B == 0 {
		keys = keys[:1]
	}
	if count+uint64(len(keys)) > t.limit {
		return Full
	}
	if fwd == rev {
		return InUse
	}
	for _, k := range keys {
		if e := t.Lookup(k); e != nil && e != goneFwd && e != goneRev {
			return InUse
		}
	}
	return Created
}

// Peer is the entry of the other direction; nil if there is none. Its key follows from e's rewrite: the answers to what
// e turns packets into. Most often it is e's neighbor.
func (t *Table) Peer(e *Entry) *Entry {
	if e.Kind&KindSingle != 0 {
		return nil
	}
	k := e.PeerKey()
	if p := At(uintptr(unsafe.Pointer(e)) ^ EntrySize); p.B == k.B && p.A == k.A {
		return p
	}
	return t.Lookup(k)
}

// Remove takes a flow out of the table, both directions, and tells the keeper. e may be either entry; it is gone afterwards.
func (t *Table) Remove(e *Entry, k Keeper) {
	peer := t.Peer(e)
	fwd, rev := e, peer
	if e.Kind&KindReverse != 0 {
		fwd, rev = peer, e
	}
	// The forward entry last, so that it is on top of the stack and the next flow gets the pair the same way round.
	pf, pr := (*Entry)(nil), (*Entry)(nil)
	if rev != nil {
		t.goneRev, pr = *rev, &t.goneRev
		t.delete(rev)
	}
	if fwd != nil {
		t.goneFwd, pf = *fwd, &t.goneFwd
		t.delete(fwd)
	}
	k.Gone(pf, pr)
}

// delete frees an entry.
func (t *Table) delete(e *Entry) {
	n := t.number(e)
	t.leave(t.Hash(e.A, e.B), n)
	*e = Entry{}
	*t.stacked(t.freed) = n
	t.freed++
	t.count--
}
