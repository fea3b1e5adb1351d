package flow

import (
	"math/rand/v2"
	"testing"

	"sluice/dataplane/packet"
)

func openLinks(t *testing.T) *Links {
	t.Helper()
	l, err := OpenLinks()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestLinksAgainstMap plays random uses against a map: a link has one number as long as it is used, and no two have the same.
func TestLinksAgainstMap(t *testing.T) {
	l, r := openLinks(t), rand.New(rand.NewPCG(1, 2))
	type have struct {
		n    uint16
		uses int
	}
	m := map[Link]*have{}
	var list []Link
	for i := range 300_000 {
		k := MakeLink(uint64(r.IntN(3000)), uint16(r.IntN(3)), uint8(r.IntN(2)))
		if r.IntN(100) < 52-i/10_000 {
			n := l.Take(k)
			if h := m[k]; h == nil {
				m[k] = &have{n, 1}
				list = append(list, k)
			} else if h.uses++; h.n != n {
				t.Fatalf("link %x has the number %d and %d", k, h.n, n)
			}
		} else if len(list) > 0 {
			j := r.IntN(len(list))
			k = list[j]
			h := m[k]
			l.Release(h.n)
			if h.uses--; h.uses == 0 {
				delete(m, k)
				list[j] = list[len(list)-1]
				list = list[:len(list)-1]
			}
		}
		if n, h := l.Find(k), m[k]; h == nil && n != 0 || h != nil && (n != h.n || l.Link(n) != k) {
			t.Fatalf("after %d uses link %x is %d, want %+v", i, k, n, h)
		}
	}
	numbers := map[uint16]bool{}
	for k, h := range m {
		if l.Find(k) != h.n || numbers[h.n] {
			t.Fatalf("link %x is number %d, want %d, or another one has it", k, l.Find(k), h.n)
		}
		numbers[h.n] = true
	}
	if l.Len() != len(m) {
		t.Fatalf("%d links, want %d", l.Len(), len(m))
	}
}

// TestLinksEnd: beyond the last number there is none, and one that is given back is given again.
func TestLinksEnd(t *testing.T) {
	l := openLinks(t)
	for i := range uint64(MaxLinks) {
		if l.Take(MakeLink(i, 1, 0)) == 0 {
			t.Fatalf("no number for link %d", i)
		}
	}
	if n := l.Take(MakeLink(1<<40, 1, 0)); n != 0 {
		t.Fatalf("link %d of %d", n, MaxLinks)
	}
	if l.Take(MakeLink(7, 1, 0)) == 0 {
		t.Fatal("no use of a link that has a number")
	}
	l.Release(l.Find(MakeLink(9, 1, 0)))
	if n := l.Take(MakeLink(1<<40, 1, 0)); n == 0 || l.Find(MakeLink(9, 1, 0)) != 0 {
		t.Fatalf("link %d took the place of one that was given back, which is %d", n, l.Find(MakeLink(9, 1, 0)))
	}
}

// TestLinkParts: a link keeps its parts apart, and a key its link.
func TestLinkParts(t *testing.T) {
	l := MakeLink(0xfedcba987654, 4094, 15)
	if l.MAC() != 0xfedcba987654 || l.VLAN() != 4094 || l.Port() != 15 || l&LinkMAC != MakeLink(0xfedcba987654, 0, 0) ||
		l&LinkVLAN != MakeLink(0, 4094, 0) || l&LinkPort != MakeLink(0, 0, 15) {
		t.Errorf("link %x", uint64(l))
	}
	k := packet.MakeKey(1, 2, 3, 4, packet.ProtoTCP)
	for _, n := range []uint16{0, 1, MaxLinks} {
		if on := OnLink(OnLink(k, 77), n); LinkOf(on) != n || OnLink(on, 0) != k || on.Reverse() != k.Reverse() {
			t.Errorf("link %d in key %x", n, on)
		}
	}
}
