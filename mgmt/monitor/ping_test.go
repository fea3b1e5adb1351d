package monitor

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"sluice/mgmt/compile"
)

func pong(e echo) []byte {
	b := e.request()
	b[0] = icmpEchoReply
	binary.BigEndian.PutUint16(b[2:], 0)
	binary.BigEndian.PutUint16(b[2:], checksum(b))
	return b
}

// unreachable is an ICMP error of code 1 about the request of e, sent from source.
func unreachable(e echo, source net.IP, quote int) []byte {
	ip := make([]byte, 20)
	ip[0], ip[9] = 0x45, 1
	copy(ip[12:], source.To4())
	copy(ip[16:], e.target[:])
	b := append([]byte{icmpUnreachable, 1, 0, 0, 0, 0, 0, 0}, append(ip, e.request()...)[:quote]...)
	binary.BigEndian.PutUint16(b[2:], checksum(b))
	return b
}

func TestParseICMP(t *testing.T) {
	e := echo{[4]byte{10, 2, 0, 11}, 7, 0x1122334455667788}
	server, snip, router := net.IP{10, 2, 0, 11}, net.IP{10, 2, 0, 5}, net.IP{10, 2, 0, 1}
	broken := pong(e)
	broken[12] ^= 1
	otherID := pong(e)
	binary.BigEndian.PutUint16(otherID[4:], 99)
	binary.BigEndian.PutUint16(otherID[2:], 0)
	binary.BigEndian.PutUint16(otherID[2:], checksum(otherID))
	rows := []struct {
		name  string
		b     []byte
		from  net.IP
		ok    bool
		wrong string
	}{
		{"reply", pong(e), server, true, ""},
		{"reply with more behind it", withTail(pong(e)), server, true, ""},
		{"broken checksum", broken, server, false, ""},
		{"of another identifier", otherID, server, false, ""},
		{"short", pong(e)[:7], server, false, ""},
		{"from no IPv4 address", pong(e), net.ParseIP("2001:db8::1"), false, ""},
		{"a request", e.request(), server, false, ""},
		{"router says unreachable", unreachable(e, snip, 36), router, true, "10.2.0.1 says so (ICMP code 1)"},
		{"own kernel says unreachable", unreachable(e, snip, 36), snip, true, "does not answer ARP"},
		{"quote too short", unreachable(e, snip, 28), router, false, ""},
		{"no quote", unreachable(e, snip, 0), router, false, ""},
	}
	for _, row := range rows {
		got, wrong, ok := parseICMP(row.b, row.from)
		if ok != row.ok || ok && (got != e || !strings.Contains(wrong, row.wrong) || (wrong == "") != (row.wrong == "")) {
			t.Errorf("%s: %+v %q %v", row.name, got, wrong, ok)
		}
	}
}

func withTail(b []byte) []byte {
	b = append(b, 1, 2, 3)
	b[2], b[3] = 0, 0
	binary.BigEndian.PutUint16(b[2:], checksum(b))
	return b
}

func FuzzParseICMP(f *testing.F) {
	e := echo{[4]byte{10, 2, 0, 11}, 7, 42}
	f.Add(pong(e))
	f.Add(unreachable(e, net.IP{10, 2, 0, 5}, 36))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		got, _, ok := parseICMP(b, net.IP{10, 2, 0, 11})
		if ok && b[0] == icmpEchoReply && !bytes.Equal(pong(got)[4:], b[4:echoLen]) {
			t.Errorf("%x taken for %+v", b, got)
		}
		if !bytes.Equal(before, b) {
			t.Error("the message was changed")
		}
	})
}

func pingProbe(source, target string) *compile.Probe {
	p := &compile.Probe{Type: "PING", Target: netip.AddrPortFrom(netip.MustParseAddr(target), 0)}
	if source != "" {
		p.Source = netip.MustParseAddr(source)
	}
	return p
}

func TestPing(t *testing.T) {
	noLeaks(t)
	g := &Pinger{}
	defer g.Close()
	var all sync.WaitGroup
	for range 200 { // at once, over one socket
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if o := g.Check(ctx, pingProbe("127.0.0.5", "127.0.0.11")); !o.OK || o.Response != "Success - ICMP echo reply received." {
				t.Error(o)
			}
		})
	}
	all.Wait()
	if o := g.Check(t.Context(), pingProbe("192.0.2.77", "127.0.0.11")); o.OK || !strings.Contains(o.Response, "source 192.0.2.77 is not up") {
		t.Errorf("from an address that is not ours: %v", o)
	}
	if o := g.Check(t.Context(), pingProbe("", "2001:db8::1")); o.OK || !strings.Contains(o.Response, "IPv6") {
		t.Error(o)
	}
	if len(g.waiting) != 0 {
		t.Errorf("%d requests are still waited for", len(g.waiting))
	}
}

// TestPingNobody pings an address of a subnet in which nobody answers, in a namespace of its own: first shorter than
// the kernel asks by ARP (3 s), then longer.
func TestPingNobody(t *testing.T) {
	type got struct {
		short, long Outcome
		err         error
	}
	c := make(chan got, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine, and the namespace with it
		var r got
		if r.err = emptySubnet(); r.err == nil {
			g := &Pinger{}
			defer g.Close()
			r.short = within(g, 300*time.Millisecond)
			r.long = within(g, 30*time.Second)
		}
		c <- r
	}()
	r := <-c
	if r.err != nil {
		t.Fatal(r.err)
	}
	if r.short.OK || r.short.Response != "Failure - ICMP echo reply timed out." {
		t.Error(r.short)
	}
	if r.long.OK || r.long.Response != "Failure - server 10.9.9.2 does not answer ARP." {
		t.Error(r.long)
	}
}

func within(g *Pinger, d time.Duration) Outcome {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return g.Check(ctx, pingProbe("10.9.9.1", "10.9.9.2"))
}

// emptySubnet moves the thread to a new namespace without a name that has 10.9.9.1/24 on a link to nobody.
func emptySubnet() error {
	ns, err := netns.New()
	if err != nil {
		return err
	}
	ns.Close() // the thread stays in it
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a"}, PeerName: "b"}); err != nil {
		return err
	}
	for _, name := range []string{"lo", "a", "b"} {
		l, err := netlink.LinkByName(name)
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(l); err != nil {
			return err
		}
		if name == "a" {
			addr, _ := netlink.ParseAddr("10.9.9.1/24")
			if err := netlink.AddrAdd(l, addr); err != nil {
				return err
			}
		}
	}
	return nil
}

// noLeaks fails the test if goroutines or descriptors are left at its end.
func noLeaks(t *testing.T) {
	t.Helper()
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	t.Cleanup(func() {
		var g, f int
		for range 100 { // the poller and ended goroutines need a moment
			if g, f = runtime.NumGoroutine(), openFiles(t); g <= goroutines && f <= files {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("left over: %d goroutines of %d, %d descriptors of %d", g, goroutines, f, files)
	})
}

func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range all {
		link, _ := os.Readlink("/proc/self/fd/" + e.Name())
		if strings.HasPrefix(link, "socket:") {
			n++
		}
	}
	return n
}
