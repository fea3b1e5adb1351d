package vrrp

import "time"

const (
	garpRounds = 10 // times that each address is told, in two halves
	garpPause  = 5 * time.Millisecond
	garpRest   = time.Second // between the halves
	garpChunk  = 32          // frames at once
	garpGap    = time.Millisecond
)

// burst is gratuitous ARP on its way out: five times each address within some 20 ms, for frames get lost, and five times
// more a second later, when a switch has settled. At most 32 frames leave at once, so that thousands of addresses do not
// fill the device's queue, which adverts leave by.
type burst struct {
	next  time.Time
	round int // 1 to garpRounds; 0 when there is none
	at    int // the next address of the round
	of    int // addresses
}

func (b *burst) start(now time.Time, addresses int) { *b = burst{next: now, round: 1, of: addresses} }

func (b *burst) done() bool { return b.round == 0 }

// due is when the next frames are to be sent.
func (b *burst) due() time.Time {
	if b.round == 0 {
		return never
	}
	return b.next
}

// take returns which addresses to send for now.
func (b *burst) take(now time.Time) (from, to int) {
	if b.round == 0 || now.Before(b.next) {
		return 0, 0
	}
	from = b.at
	to = min(from+garpChunk, b.of)
	b.at, b.next = to, now.Add(garpGap)
	if to < b.of {
		return from, to
	}
	b.at, b.next = 0, now.Add(garpPause)
	switch b.round++; b.round {
	case garpRounds/2 + 1:
		b.next = now.Add(garpRest)
	case garpRounds + 1:
		*b = burst{}
	}
	return from, to
}
