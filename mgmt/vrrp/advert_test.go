package vrrp

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"slices"
	"testing"
	"time"
)

var (
	peer = netip.MustParseAddr("192.0.2.1")
	vip  = netip.MustParseAddr("192.0.2.100")
)

func sample(version uint8, form Checksum) advert {
	return advert{version: version, id: 51, priority: 150, interval: time.Second, addresses: []netip.Addr{vip}, checksum: form}
}

// TestAdvertBytes: messages as RFC 3768, section 5.1, and RFC 9568, section 5.1, draw them.
func TestAdvertBytes(t *testing.T) {
	half := sample(3, ChecksumRFC9568)
	half.interval = 500 * time.Millisecond
	for _, row := range []struct {
		name, want string
		a          advert
	}{
		{"version 2", "21339601000186 65c0000264 0000000000000000", sample(2, 0)},
		{"version 3, sum of the message", "31339601003276 34c0000264", half},
	} {
		want, _ := hex.DecodeString(string(bytes.ReplaceAll([]byte(row.want), []byte(" "), nil)))
		if got := row.a.append(nil, peer); !bytes.Equal(got, want) {
			t.Errorf("%s:\n%x\nwant\n%x", row.name, got, want)
		}
	}
}

func TestAdvertsComeBackAsTheyWere(t *testing.T) {
	for _, a := range []advert{sample(2, ChecksumRFC9568), sample(3, ChecksumRFC9568), sample(3, ChecksumRFC5798)} {
		for _, n := range []int{1, 2, 255} {
			a.addresses = slices.Repeat([]netip.Addr{vip}, n)
			h, why := read(a.frame(peer))
			if why != "" || h.src != peer || h.mac != MAC(51) || !equal(h.advert, a) {
				t.Errorf("version %d, %s, %d addresses: %+v refused %q", a.version, a.checksum, n, h, why)
			}
		}
	}
}

func equal(a, b advert) bool {
	return a.version == b.version && a.id == b.id && a.priority == b.priority && a.interval == b.interval && a.checksum == b.checksum && slices.Equal(a.addresses, b.addresses)
}

func TestAdvertOfManyAddressesNames255(t *testing.T) {
	a := sample(3, ChecksumRFC9568)
	a.addresses = slices.Repeat([]netip.Addr{vip}, 300)
	if h, why := read(a.frame(peer)); why != "" || len(h.addresses) != 255 {
		t.Errorf("%d addresses, refused %q", len(h.addresses), why)
	}
}

// TestRefusedAdverts: what is wrong has its name, whichever version it has.
func TestRefusedAdverts(t *testing.T) {
	for _, row := range []struct {
		name  string
		want  Refusal
		spoil func(f []byte) []byte // what follows is given right checksums again, unless the row is about those
	}{
		{"nothing is wrong", "", func(f []byte) []byte { return f }},
		{"padding behind the datagram", "", func(f []byte) []byte { return append(f, make([]byte, 14)...) }},
		{"TTL 254", TTL, func(f []byte) []byte { f[22] = 254; return f }},
		{"to one node", Destination, func(f []byte) []byte { f[30] = 10; return f }},
		{"by broadcast of Ethernet", Destination, func(f []byte) []byte { copy(f, "\xff\xff\xff\xff\xff\xff"); return f }},
		{"another protocol", Header, func(f []byte) []byte { f[23] = 17; return f }},
		{"a fragment", Header, func(f []byte) []byte { f[20] = 0x20; return f }},
		{"IP version 5", Header, func(f []byte) []byte { f[14] = 0x55; return f }},
		{"a header of 16 bytes", Header, func(f []byte) []byte { f[14] = 0x44; return f }},
		{"a header of 60 bytes", Header, func(f []byte) []byte { f[14] = 0x4f; return f }},
		{"a total length beyond the frame", Header, func(f []byte) []byte { f[16] = 1; return f }},
		{"no message", Length, func(f []byte) []byte { f[17] = 20; return f }},
		{"seven bytes of message", Length, func(f []byte) []byte { f[17] = 27; return f }},
		{"no address", Length, func(f []byte) []byte { f[37] = 0; return f }},
		{"more addresses than there are", Length, func(f []byte) []byte { f[37] = 2; return f }},
		{"255 addresses", Length, func(f []byte) []byte { f[37] = 255; return f }},
		{"bytes behind the addresses", Length, func(f []byte) []byte { f[17] += 4; return append(f, 0, 0, 0, 0) }},
		{"version 4", Version, func(f []byte) []byte { f[34] = 0x41; return f }},
		{"version 0", Version, func(f []byte) []byte { f[34] = 0x01; return f }},
		{"type 2", Type, func(f []byte) []byte { f[34] = f[34]&0xf0 | 2; return f }},
		{"vrID 0", ID, func(f []byte) []byte { f[35] = 0; return f }},
	} {
		for _, version := range []uint8{2, 3} {
			a := sample(version, ChecksumRFC9568)
			f := row.spoil(a.frame(peer))
			if _, why := read(resum(f)); why != row.want {
				t.Errorf("version %d, %s: refused %q, want %q", version, row.name, why, row.want)
			}
		}
	}
	for _, row := range []struct {
		name    string
		version uint8
		at      int
		with    byte
		sums    bool
		want    Refusal
	}{
		{"no interval", 2, 39, 0, true, Interval},
		{"no interval", 3, 39, 0, true, Interval},
		{"reserved bits", 3, 38, 0xf0, true, ""},
		{"a password", 2, 38, 1, true, Authentication},
		{"an MD5", 2, 38, 2, true, Authentication},
		{"a flipped bit", 2, 45, 1, false, Sum},
		{"a flipped bit", 3, 45, 1, false, Sum},
		{"a flipped bit of the header", 3, 15, 0xc1, false, Header},
	} {
		a := sample(row.version, ChecksumRFC9568)
		f := a.frame(peer)
		f[row.at] = row.with
		if row.version == 3 && row.name == "no interval" {
			f[38] = 0
		}
		if row.sums {
			f = resum(f)
		}
		if _, why := read(f); why != row.want {
			t.Errorf("version %d, %s: refused %q, want %q", row.version, row.name, why, row.want)
		}
	}
	if _, why := read(make([]byte, 33)); why != Header {
		t.Errorf("a frame of 33 bytes is refused %q", why)
	}
}

// resum gives a frame right checksums where its lengths allow for it.
func resum(f []byte) []byte {
	ip := f[etherLen:]
	n := int(ip[0]&0xf) * 4
	total := min(int(ip[2])<<8|int(ip[3]), len(ip))
	if n >= ipLen && n <= len(ip) {
		ip[10], ip[11] = 0, 0
		c := checksum(0, ip[:n])
		ip[10], ip[11] = byte(c>>8), byte(c)
	}
	if total >= n+fixedLen {
		m := ip[n:total]
		m[6], m[7] = 0, 0
		c := checksum(0, m)
		m[6], m[7] = byte(c>>8), byte(c)
	}
	return f
}

// FuzzFrame: whatever comes in, nothing breaks; what is believed is what we would send ourselves, but for reserved bits.
func FuzzFrame(f *testing.F) {
	for _, form := range []Checksum{ChecksumRFC9568, ChecksumRFC5798} {
		for _, version := range []uint8{2, 3} {
			a := sample(version, form)
			f.Add(a.frame(peer))
			a.addresses, a.priority = slices.Repeat(a.addresses, 4), 0
			b := a.frame(peer)
			f.Add(b)
			f.Add(b[:len(b)-5])
		}
	}
	f.Add(gratuitous(51, vip))
	f.Fuzz(func(t *testing.T, frame []byte) {
		check := func() {
			h, why := read(frame)
			if why != "" {
				if !slices.Contains(Refusals, why) {
					t.Fatalf("refused %q, which is no name", why)
				}
				return
			}
			again, why := read(h.frame(h.src))
			if why != "" || again.src != h.src || !equal(again.advert, h.advert) {
				t.Fatalf("%+v came back as %+v, refused %q", h, again, why)
			}
		}
		check()
		if len(frame) >= etherLen+ipLen { // by chance sums are never right
			frame = resum(slices.Clone(frame))
			check()
		}
	})
}

func TestGratuitousARP(t *testing.T) {
	want := "ffffffffffff00005e0001330806" + "0001080006040001" + "00005e000133c0000264" + "000000000000c0000264"
	if got := hex.EncodeToString(gratuitous(51, vip)); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
