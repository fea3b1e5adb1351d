package sshd

import (
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"
)

// clock is a time that a test moves.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func doormanWithClock(l Limits) (*doorman, *clock) {
	c := &clock{time.Unix(1796000000, 0)}
	return newDoorman(l.withDefaults(), c.now), c
}

var a1 = netip.MustParseAddr("192.0.2.1")

func TestTenFailuresShutAnAddressOutForATime(t *testing.T) {
	d, c := doormanWithClock(Limits{})
	var last time.Duration
	for n := 1; n <= 10; n++ {
		if d.blocked(a1) || refused(d, a1) != "" {
			t.Fatalf("shut out after %d failures", n-1)
		}
		d.known(a1)
		wait, shut := d.failed(a1)
		if wait <= last || shut != (n == 10) {
			t.Fatalf("failure %d: held back %v after %v, shut out %v", n, wait, last, shut)
		}
		last = wait
	}
	if !d.blocked(a1) || refused(d, a1) == "" {
		t.Fatal("an address with ten failures comes in")
	}
	if d.blocked(netip.MustParseAddr("192.0.2.2")) {
		t.Fatal("another address is shut out")
	}
	c.t = c.t.Add(10*time.Minute - time.Second)
	if !d.blocked(a1) {
		t.Fatal("the address is let in too early")
	}
	c.t = c.t.Add(time.Second)
	if d.blocked(a1) || refused(d, a1) != "" {
		t.Fatal("the address is shut out for longer than it should")
	}
	if wait, shut := d.failed(a1); wait != 250*time.Millisecond || shut {
		t.Fatalf("after the block: %v %v", wait, shut)
	}
}

func TestFailuresAreForgotten(t *testing.T) {
	d, c := doormanWithClock(Limits{})
	for range 100 { // somebody on a jump host mistypes every minute
		if _, shut := d.failed(a1); shut {
			t.Fatal("shut out by rare mistakes")
		}
		c.t = c.t.Add(time.Minute)
	}
}

func TestAddressesTakeBoundedMemory(t *testing.T) {
	d, c := doormanWithClock(Limits{})
	for range 10 {
		d.failed(a1)
	}
	for n := range maxAddresses + 300 {
		c.t = c.t.Add(time.Millisecond)
		d.failed(netip.AddrFrom4([4]byte{10, 1, byte(n >> 8), byte(n)}))
	}
	if len(d.failures) > maxAddresses {
		t.Fatalf("%d addresses are remembered", len(d.failures))
	}
	if !d.blocked(a1) {
		t.Fatal("a flood of other addresses has freed one that is shut out")
	}
}

func refused(d *doorman, ip netip.Addr) string {
	_, why := d.admit(ip)
	return why
}

// TestPlacesOfStrangersAreShared: who holds many places gives one to who holds none, and nobody to who holds as many.
func TestPlacesOfStrangersAreShared(t *testing.T) {
	d, _ := doormanWithClock(Limits{Strangers: 9, StrangersFrom: 4})
	crowd := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, n}) }
	for n := range 9 {
		if why := refused(d, crowd(byte(n%3))); why != "" {
			t.Fatal(why)
		}
	}
	for n, want := range []netip.Addr{crowd(0), crowd(1)} { // the second finds 2, 3, 3 and 1 of its own
		leaves, why := d.admit(a1)
		if leaves != want || why != "" {
			t.Fatalf("newcomer %d: %s leaves, %q", n, leaves, why)
		}
		d.known(leaves)
		d.gone()
	}
	if leaves, why := d.admit(a1); leaves.IsValid() || why == "" {
		t.Errorf("with 2, 2, 3 and 2 a third is let in for %s", leaves)
	}
	if d.waiting != 9 || d.all != 9 {
		t.Errorf("%d strangers, %d connections", d.waiting, d.all)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	d, _ := doormanWithClock(Limits{})
	for n := range 24 {
		if why := refused(d, a1); why != "" {
			t.Fatalf("connection %d: %s", n, why)
		}
	}
	if refused(d, a1) == "" {
		t.Fatal("a 25th stranger of one address")
	}
	d.known(a1) // one of them logs in
	if why := refused(d, a1); why != "" {
		t.Fatal(why)
	}
	for n := range 40 {
		if why := refused(d, netip.AddrFrom4([4]byte{10, 0, 0, byte(n)})); why != "" {
			t.Fatalf("stranger %d: %s", n, why)
		}
	}
	if leaves, why := d.admit(netip.MustParseAddr("10.0.0.1")); leaves != a1 || why != "" {
		t.Fatalf("for a 65th stranger %s leaves, %q", leaves, why)
	}
	for range 24 {
		d.known(a1)
		d.gone()
	}
	if len(d.strangers) != 40 || d.waiting != 41 || d.all != 42 {
		t.Fatalf("%d addresses, %d strangers, %d connections", len(d.strangers), d.waiting, d.all)
	}
}

func TestOriginOfAnAddress(t *testing.T) {
	for in, want := range map[string]string{"192.0.2.1:5": "192.0.2.1", "[::ffff:192.0.2.1]:5": "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:5": "2001:db8:1:2::", "[fe80::1%lo]:5": "fe80::"} {
		addr, err := net.ResolveTCPAddr("tcp", in)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(origin(addr)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
