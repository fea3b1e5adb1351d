package dataplane

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

// What follows up to homeOf says by another way where a hash method sends a flow, from the papers alone: SipHash-1-3 over bytes
// (Aumasson, Bernstein), the lists of preferences of Maglev written out (Eisenbud et al., 3.4), the slot by long multiplication.

var sipKey = [2]uint64{0x736c756963652d66, 0x6c6565742d6b6579} // of every appliance that has not been given one

func sipHash(m []byte) uint64 {
	v := [4]uint64{sipKey[0] ^ 0x736f6d6570736575, sipKey[1] ^ 0x646f72616e646f6d, sipKey[0] ^ 0x6c7967656e657261, sipKey[1] ^ 0x7465646279746573}
	round := func() {
		half := func(a, b, c, d int, s, t int) {
			v[a] += v[b]
			v[c] += v[d]
			v[b], v[d] = bits.RotateLeft64(v[b], s)^v[a], bits.RotateLeft64(v[d], t)^v[c]
			v[a] = bits.RotateLeft64(v[a], 32)
		}
		half(0, 1, 2, 3, 13, 16)
		half(2, 1, 0, 3, 17, 21)
	}
	padded := append(append([]byte{}, m...), make([]byte, 7-len(m)%8)...)
	padded = append(padded, byte(len(m)))
	for ; len(padded) > 0; padded = padded[8:] {
		w := binary.LittleEndian.Uint64(padded)
		v[3] ^= w
		round()
		v[0] ^= w
	}
	v[2] ^= 0xff
	for range 3 {
		round()
	}
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

func sipWord(w uint64) uint64 { return sipHash(binary.LittleEndian.AppendUint64(nil, w)) }

// preferences are the slots of a table of m, by member and rank.
func preferences(name uint64, m int) []int {
	offset, skip := sipWord(name)%uint64(m), sipWord(name|1<<56)%uint64(m-1)+1
	list := make([]int, m)
	for j := range list {
		list[j] = int((offset + uint64(j)*skip) % uint64(m))
	}
	return list
}

// paperTable is who has each slot: members of equal weight, in the order of their names.
func paperTable(names []uint64) []int {
	const m = 16381
	table, next := make([]int, m), make([]int, len(names))
	for i := range table {
		table[i] = -1
	}
	lists := make([][]int, len(names))
	for i, n := range names {
		lists[i] = preferences(n, m)
	}
	for n := 0; ; {
		for i := range names {
			for table[lists[i][next[i]]] >= 0 {
				next[i]++
			}
			table[lists[i][next[i]]] = i
			if n++; n == m {
				return table
			}
		}
	}
}

// homeOf is the member that a hash belongs to.
func homeOf(table []int, hash uint64) int {
	// 32 bits at a time: (high x 2^32 + low) x length / 2^64.
	n := uint64(len(table))
	return table[(hash>>32*n+(hash&0xffffffff*n)>>32)>>32]
}

// ofClient is the hash of a client's address and port.
func ofClient(who ip4, sport uint16) uint64 {
	return sipHash([]byte{who[0], who[1], who[2], who[3], byte(sport >> 8), byte(sport), 0, 0})
}

// ofToken is the hash of part of a datagram: its length, then eight bytes at a time.
func ofToken(part []byte) uint64 {
	h := sipWord(uint64(len(part)))
	for ; len(part) >= 8; part = part[8:] {
		h = sipWord(h ^ binary.LittleEndian.Uint64(part))
	}
	h = sipWord(h ^ binary.LittleEndian.Uint64(append(append([]byte{}, part...), make([]byte, 8)...)))
	return sipWord(h)
}

const tokenPort = 97

// tokens has three UDP services on a vserver of a hash method.
func tokens(change func(*api.Vserver, []api.Service)) *api.Tables {
	t := tables()
	v := api.Vserver{ID: 80, Name: "token", Proto: api.ProtoUDP, IP: addr(vip), Port: tokenPort, ClientTimeout: 180}
	var list []api.Service
	for i, ip := range webs {
		id := uint32(80 + i)
		list = append(list, api.Service{ID: id, Name: fmt.Sprint("token", i), Proto: api.ProtoUDP, IP: addr(ip), Port: 9053, SNIPs: []uint32{1}, ServerTimeout: 360})
		v.Bindings = append(v.Bindings, api.Binding{Service: id, Weight: 1})
		t.Health.Up = append(t.Health.Up, id)
	}
	change(&v, list)
	t.Config.Vservers, t.Config.Services = append(t.Config.Vservers, v), append(t.Config.Services, list...)
	return &api.Tables{Config: t.Config, Health: t.Health}
}

// datagramTo lets a datagram in and tells which of webs gets it.
func (b *bed) datagramTo(who ip4, sport uint16, payload []byte) int {
	b.t.Helper()
	f := udp(ask(sport, tokenPort, 0))
	f.SrcIP, f.Payload = who, payload
	return slices.Index(webs, b.through(nic1, nic2, f).Dst())
}

// TestHashedPayload: TOKEN and CALLIDHASH send each datagram that opens a flow where the papers say, with one worker and several;
// what has no token goes by its client's address and port.
func TestHashedPayload(t *testing.T) {
	names := make([]uint64, len(webs))
	for i, ip := range webs {
		names[i] = uint64(binary.BigEndian.Uint32(ip[:]))<<24 | 9053<<8 | 17
	}
	table := paperTable(names)
	for _, row := range []struct {
		name  string
		set   func(*api.Vserver, []api.Service)
		token func(payload string) string
	}{
		{"TOKEN at 2, 4 bytes", func(v *api.Vserver, _ []api.Service) {
			v.Method, v.TokenOffset, v.TokenLength = api.TokenHash, 2, 4
		}, func(p string) string { return p[min(2, len(p)):min(6, len(p))] }},
		{"TOKEN at 0, 100 bytes", func(v *api.Vserver, _ []api.Service) { v.Method, v.TokenLength = api.TokenHash, 100 },
			func(p string) string { return p[:min(100, len(p))] }},
		{"TOKEN by rule", func(v *api.Vserver, _ []api.Service) {
			v.Method, v.TokenLength, v.TokenRule = api.TokenHash, 5, `CLIENT.UDP.PAYLOAD(60).AFTER_STR("Call-ID: ").BEFORE_STR("\r\n").SUBSTR(1, 9)`
		}, func(p string) string {
			_, id, found := strings.Cut(p[:min(60, len(p))], "Call-ID: ")
			id, _, ends := strings.Cut(id, "\r\n")
			if !found || !ends || len(id) < 2 {
				return ""
			}
			return id[1:min(6, len(id))]
		}},
		{"CALLIDHASH", func(v *api.Vserver, _ []api.Service) { v.Method, v.TokenLength = api.CallIDHash, 80 }, callIDOf},
		{"CALLIDHASH -hashLength 5", func(v *api.Vserver, _ []api.Service) { v.Method, v.TokenLength = api.CallIDHash, 5 },
			func(p string) string { id := callIDOf(p); return id[:min(5, len(id))] }},
	} {
		for _, c := range []crew{alone, {2, 0, true}, {4, 0, true}} {
			b := newCrew(t, newMemories(t, c.workers, poolSize), c, 1<<13)
			b.apply(tokens(row.set))
			r, by := rand.New(rand.NewPCG(1, 2)), map[int]int{}
			for i := range 300 {
				p := ""
				switch r.IntN(4) {
				case 0:
					p = "abcdefghijklmnop"[:r.IntN(16)]
				default:
					p = fmt.Sprintf("INVITE sip:x SIP/2.0\r\nVia: y\r\nCall-ID: %d@host%d\r\n\r\n", r.IntN(1000), r.IntN(5))
					if r.IntN(2) == 0 {
						p = p[r.IntN(3):]
					}
				}
				who, sport := ip4{192, 0, 2, byte(r.IntN(256))}, uint16(3000+i)
				want := homeOf(table, ofClient(who, sport))
				if part := row.token(p); part != "" {
					want = homeOf(table, ofToken([]byte(part)))
				}
				if got := b.datagramTo(who, sport, []byte(p)); got != want {
					t.Fatalf("%s, %v: %q of %v:%d went to server %d, want %d", row.name, c, p, addr(who), sport, got, want)
				}
				by[want]++
			}
			if len(by) != len(webs) {
				t.Errorf("%s: only %v were reached: the test has lost its point", row.name, by)
			}
			b.close()
		}
	}
}

// callIDOf is the Call-ID of the test's messages.
func callIDOf(p string) string {
	var id, host int
	var rest string
	for i := range len(p) {
		if n, _ := fmt.Sscanf(p[i:], "Call-ID: %d@host%d%s", &id, &host, &rest); n >= 2 {
			return fmt.Sprintf("%d@host%d", id, host)
		}
	}
	return ""
}

// TestHashIDs: with numbers of their own services are who the numbers say, whatever their addresses: a flow goes where the papers
// say for the numbers.
func TestHashIDs(t *testing.T) {
	ids := []uint32{7, 4000000000, 1} // of webs
	table := paperTable([]uint64{1<<8 | 0xff, 7<<8 | 0xff, 4000000000<<8 | 0xff})
	who := []int{2, 0, 1} // of webs, in the order of their numbers
	b := newBed(t, newMemory(t), 1<<13)
	b.apply(tokens(func(v *api.Vserver, s []api.Service) {
		v.Method = api.SourceIPSourcePortHash
		for i := range s {
			s[i].HashID = ids[i]
		}
	}))
	for i := range 300 {
		from, sport := ip4{192, 0, 2, byte(i)}, uint16(4000+i)
		if got, want := b.datagramTo(from, sport, nil), who[homeOf(table, ofClient(from, sport))]; got != want {
			t.Fatalf("%v:%d went to server %d, want %d", addr(from), sport, got, want)
		}
	}
	b.close()
}

// TestHashedFacts: a rule that is an address or a port sends flows where the papers say, whatever they carry.
func TestHashedFacts(t *testing.T) {
	names := make([]uint64, len(webs))
	for i, ip := range webs {
		names[i] = uint64(binary.BigEndian.Uint32(ip[:]))<<24 | 9053<<8 | 17
	}
	table := paperTable(names)
	for rule, key := range map[string]func(who ip4, sport uint16) []byte{
		"CLIENT.IP.SRC":            func(who ip4, _ uint16) []byte { return []byte{who[0], who[1], who[2], who[3], 0, 0, 0, 0} },
		"CLIENT.IP.SRC.SUBNET(29)": func(who ip4, _ uint16) []byte { return []byte{who[0], who[1], who[2], who[3] &^ 7, 0, 0, 0, 0} },
		"CLIENT.UDP.SRCPORT":       func(_ ip4, sport uint16) []byte { return []byte{0, 0, 0, 0, byte(sport >> 8), byte(sport), 0, 0} },
	} {
		b := newBed(t, newMemory(t), 1<<13)
		b.apply(tokens(func(v *api.Vserver, _ []api.Service) { v.Method, v.TokenRule = api.TokenHash, rule }))
		by := map[int]int{}
		for i := range 200 {
			who, sport := ip4{192, 0, 2, byte(i * 7)}, uint16(3000+i)
			want := homeOf(table, sipHash(key(who, sport)))
			if got := b.datagramTo(who, sport, []byte("Call-ID: 7")); got != want {
				t.Fatalf("%s: %v:%d went to server %d, want %d", rule, addr(who), sport, got, want)
			}
			by[want]++
		}
		if len(by) != len(webs) {
			t.Errorf("%s: only %v were reached", rule, by)
		}
		b.close()
	}
}
