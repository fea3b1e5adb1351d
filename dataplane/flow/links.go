package flow

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"syscall"
	"unsafe"

	"sluice/dataplane/packet"
)

// Link is where frames come from at layer 2, and where they go back to: a MAC address in memory order, above it the VLAN
// (12 bits) and the number of the port (4 bits). With -l2Conn it tells flows apart whose addresses and ports are equal.
type Link uint64

// The parts of a Link that may tell flows apart.
const (
	LinkMAC  Link = 1<<48 - 1
	LinkVLAN Link = 0xfff << linkVLANAt
	LinkPort Link = 0xf << linkPortAt

	linkVLANAt = 48
	linkPortAt = 60
)

// MakeLink is the link of a MAC address, VLAN and port.
func MakeLink(mac uint64, vlan uint16, port uint8) Link {
	return Link(mac)&LinkMAC | Link(vlan&0xfff)<<linkVLANAt | Link(port&0xf)<<linkPortAt
}

// MAC is its address in memory order.
func (l Link) MAC() uint64 { return uint64(l & LinkMAC) }

// VLAN is its VLAN.
func (l Link) VLAN() uint16 { return uint16(l>>linkVLANAt) & 0xfff }

// Port is the number of its port.
func (l Link) Port() uint8 { return uint8(l >> linkPortAt) }

// MaxLinks is how many links one worker tells apart: keys and entries have 16 bits for the number, and 0 is none.
const MaxLinks = 1<<16 - 1

// GenLink is what Entry.Gen is as long as a flow of a link lives, in both entries: never a generation of the tables, so that its
// packets go the longer way. Then Adj is the number of the link that packets leave by (0: by their route), and Pseudo that of
// the link in the key of the other direction (0: there is none).
const GenLink = 1<<15 - 1

// Linked marks e, which Fill or Redirect has made, as one of a flow of a link: see GenLink.
func (e *Entry) Linked(out, peer uint16) { e.Gen, e.Adj, e.Pseudo = GenLink, out, peer }

// linkAt is where the number of its link lies in B of a key.
const linkAt = 41

// OnLink is the key of packets that come by the link of a number.
func OnLink(k packet.Key, number uint16) packet.Key {
	return packet.Key{A: k.A, B: k.B&^(MaxLinks<<linkAt) | uint64(number)<<linkAt}
}

// LinkOf is the number of the link that a key is of; 0: of none.
func LinkOf(k packet.Key) uint16 { return uint16(k.B >> linkAt) }

// Links numbers the links of a worker's flows. A number is given back when nobody uses it any more. Off the Go heap; pages
// that are never used cost no memory.
type Links struct {
	base  uintptr // array of link by number, then the index: numbers by hash, linear probing, 0 is free
	free  uint16  // first number of a list of those that were given back; 0: there is none
	fresh uint32  // number that was never given
	seed  uint64
	used  uint32 // links that have a number
	mem   []byte
}

// link is a number's.
type link struct {
	link Link
	uses uint32 // 0: free
	next uint32 // of the free ones
}

const (
	linkSize  = unsafe.Sizeof(link{})
	linkIndex = 1 << 17 // words: half of them stay free
	linksSize = (MaxLinks+1)*linkSize + linkIndex*2
)

// OpenLinks returns an empty numbering.
func OpenLinks() (*Links, error) {
	mem, err := syscall.Mmap(-1, 0, int(linksSize), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("no memory for the links of vservers with -l2Conn (%d bytes): %w", linksSize, err)
	}
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return &Links{base: uintptr(unsafe.Pointer(&mem[0])), fresh: 1, seed: binary.LittleEndian.Uint64(b[:]) | 1, mem: mem}, nil
}

// Close returns the memory.
func (l *Links) Close() error { return syscall.Munmap(l.mem) }

func (l *Links) at(n uint16) *link {
	return (*link)(unsafe.Add(nil, l.base+uintptr(n)*linkSize))
}

func (l *Links) word(i uint32) *uint16 {
	return (*uint16)(unsafe.Add(nil, l.base+(MaxLinks+1)*linkSize+uintptr(i%linkIndex)*2))
}

// home is where the search for a link begins; the seed is secret, so that nobody who chooses MAC addresses can make them meet.
func (l *Links) home(k Link) uint32 {
	hi, lo := bits.Mul64(uint64(k)^l.seed, 0x9e3779b97f4a7c15^l.seed<<1)
	return uint32(hi^lo) % linkIndex
}

// Link is the link of a number that is in use.
func (l *Links) Link(n uint16) Link { return l.at(n).link }

// Find is the number of a link; 0 if it has none.
func (l *Links) Find(k Link) uint16 {
	n, _ := l.search(k)
	return n
}

// search finds a link's number and word, or the free word where it would be.
func (l *Links) search(k Link) (n uint16, at uint32) {
	for at = l.home(k); ; at++ {
		if n = *l.word(at); n == 0 || l.at(n).link == k {
			return n, at
		}
	}
}

// Take counts a use of a link and returns its number; 0 if there are as many links as there may be.
func (l *Links) Take(k Link) uint16 {
	n, at := l.search(k)
	if n == 0 {
		switch {
		case l.free != 0:
			n = l.free
			l.free = uint16(l.at(n).next)
		case l.fresh <= MaxLinks:
			n = uint16(l.fresh)
			l.fresh++
		default:
			return 0
		}
		*l.at(n) = link{link: k}
		*l.word(at) = n
		l.used++
	}
	l.at(n).uses++
	return n
}

// Use counts another use of a number that is in use; 0 is none.
func (l *Links) Use(n uint16) uint16 {
	if n != 0 {
		l.at(n).uses++
	}
	return n
}

// Release ends a use; with the last one the number is free. 0 is none.
func (l *Links) Release(n uint16) {
	if n == 0 {
		return
	}
	e := l.at(n)
	if e.uses--; e.uses != 0 {
		return
	}
	l.used--
	_, hole := l.search(e.link)
	*l.word(hole) = 0
	// What stands behind and was looked for past the hole moves into it, so that a search may end at a free word.
	for i := hole + 1; *l.word(i) != 0; i++ {
		m := *l.word(i)
		if home := l.home(l.at(m).link); (i-home)%linkIndex >= (i-hole)%linkIndex {
			*l.word(hole), *l.word(i) = m, 0
			hole = i
		}
	}
	e.next, l.free = uint32(l.free), n
}

// Len is how many links have a number.
func (l *Links) Len() int { return int(l.used) }
