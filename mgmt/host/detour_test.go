package host

import (
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// TestDetour: packets of marked sockets come out of the device, whole and with their checksums, and of no others; a second one can be
// opened after the first, though its rule was left, and answers are asked of routes.
func TestDetour(t *testing.T) {
	l := newLab(t)
	h := l.open(ports)
	l.must(h.Apply(t.Context(), compile.HostPlan{Twins: []compile.TwinPlan{{Port: ports[0], Addresses: []netip.Prefix{netip.MustParsePrefix("10.1.0.5/24")}}}}))
	for range 2 {
		dev, err := h.Detour()
		l.must(err)
		d := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.IPv4(10, 1, 0, 5)}}
		for _, marked := range []bool{false, true} {
			d.Control = func(_, _ string, c syscall.RawConn) (err error) {
				if marked {
					_ = c.Control(func(fd uintptr) {
						err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MARK, compile.ProbeMark)
					})
				}
				return err
			}
			c, err := d.Dial("udp4", "10.1.0.60:9")
			l.must(err)
			_, err = c.Write([]byte(map[bool]string{true: "marked", false: "plain"}[marked]))
			l.must(err)
			c.Close()
		}
		b := make([]byte, 2000)
		n, err := dev.Read(b)
		l.must(err)
		if got := string(b[:n]); n != 34 || !strings.HasSuffix(got, "marked") || b[9] != unix.IPPROTO_UDP || sum(b[:20]) != 0xffff || udpSum(b[:n]) != 0xffff {
			t.Errorf("%d bytes came out: %q", n, got)
		}
		closed := make(chan error, 1)
		go func() { _, err := dev.Read(b); closed <- err }()
		dev.Close()
		select {
		case <-closed:
		case <-time.After(30 * time.Second):
			t.Fatal("the reader does not end with the device")
		}
	}
	if err := h.Answerable(netip.MustParseAddr("10.1.0.60")); err != nil {
		t.Error(err)
	}
	if err := h.Answerable(netip.MustParseAddr("192.0.2.1")); err == nil || !strings.Contains(err.Error(), "Add a route") {
		t.Error(err)
	}
}

// sum is the sum of RFC 1071 over b, 0xffff where a checksum in it is right.
func sum(b []byte) uint32 {
	s := uint32(0)
	for i, c := range b {
		s += uint32(c) << (8 * (1 - i%2))
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return s
}

// udpSum is the same over a datagram and what its checksum covers of the header before it, which has no options.
func udpSum(b []byte) uint32 {
	pseudo := append(append([]byte{}, b[12:20]...), 0, b[9], 0, byte(len(b)-20))
	return sum(append(pseudo, b[20:]...))
}
