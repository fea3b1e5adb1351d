// Package flow is one worker's memory of connections: the flow table with its forward and reverse entries, TCP state and ageing,
// the pools of source ports, and the rule which worker owns a flow.
//
// Everything here belongs to one worker and is called by it alone: there is no lock. Tables and pools lie off the Go heap;
// nothing that is called per packet allocates. The package chooses no service, touches no frame and reads no clock.
package flow

import (
	"unsafe"

	"sluice/dataplane/packet"
)

// Entry is one direction of a flow, one cache line. All of it except the counters and Last is written when
// the flow is created; Adj and Gen belong to the worker's routing.
type Entry struct {
	A, B           uint64 // the key; B is 0 in a free entry
	packet.Rewrite        // what packets of this direction become
	Last           uint32 // tick of the last packet; written together with Packets
	Packets        uint32 // of this direction, wraps
	Service        uint32 // api.Service.ID
	Account        uint32 // the worker's number for where packets are counted
	Pseudo         uint16 // pseudo header sum before the translation, for finding partial checksums
	State          State
	Kind           Kind
	Adj            uint16 // index of the adjacency that packets leave by
	Gen            uint16 // generation of the adjacencies that Adj was found in
	Bytes          uint64 // of this direction, L3; with KindAsked what the worker put there
}

var _ = [1]struct{}{}[unsafe.Sizeof(Entry{})-64]

// EntrySize is the size of an entry in bytes.
const EntrySize = 64

// Kind tells what an entry is.
type Kind uint8

const (
	// KindReverse: packets from the server to the client.
	KindReverse Kind = 1 << iota
	// KindPool: the server-side port is from a pool and goes back there with the flow.
	KindPool
	// KindSingle: the flow has no entry for the other direction.
	KindSingle
	// KindAsked: nothing has come from the server yet, and Bytes holds when the client's first packet was sent to it.
	KindAsked
	// KindRedirect: packets are sent to the server as Entry.Mode says, and the entry's Rewrite is read as there.
	KindRedirect
	// KindEvents: TCP. Three bits, as many as there are flags for which a packet's way is longer (see Track); the worker tests the
	// flags against them.
	KindEvents Kind = 7 << 5
)

// State is what is known of a TCP connection. Both entries of a flow carry the whole of it, each from its own side.
type State uint8

const (
	// Opening: the handshake is not finished. Set in both entries by the creator of a TCP flow.
	Opening State = 1 << iota
	// SawSYN: this direction has sent a SYN.
	SawSYN
	// PeerSYN: the other direction has sent a SYN.
	PeerSYN
	// SawFIN: this direction has sent a FIN.
	SawFIN
	// PeerFIN: the other direction has sent a FIN.
	PeerFIN
	// Reset: either direction has sent an RST.
	Reset
	// Ending: the keeper ends the connection and tells its ends: see Table.End.
	Ending
)

// Key is the entry's key.
func (e *Entry) Key() packet.Key { return packet.Key{A: e.A, B: e.B} }

// PeerKey is the key of the other direction's entry: that of the answers to what e turns packets into.
func (e *Entry) PeerKey() packet.Key {
	k := e.Result(e.Proto()).Reverse()
	if e.Gen == GenLink {
		return OnLink(k, e.Pseudo)
	}
	return k
}

// Client is the flow's tuple as the client sends it, whichever direction e is.
func (e *Entry) Client() packet.Key {
	if e.Kind&KindReverse != 0 {
		return e.PeerKey()
	}
	return e.Key()
}

// Server is the flow's tuple as it is sent to the server, whichever direction e is.
func (e *Entry) Server() packet.Key {
	if e.Kind&KindReverse != 0 {
		return e.Key().Reverse()
	}
	return e.Result(e.Proto())
}

// Proto is the IP protocol of the entry's key.
func (e *Entry) Proto() uint8 { return uint8(e.B >> 32) }

// Fill makes e the entry that turns packets of key k into packets of key n; everything else in it is 0.
func (e *Entry) Fill(k, n packet.Key) {
	*e = Entry{A: k.A, B: k.B, Rewrite: packet.MakeRewrite(k, n), Pseudo: packet.PseudoSum(k.A, uint8(k.B>>32))}
}
