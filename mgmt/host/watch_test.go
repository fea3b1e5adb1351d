package host

import (
	"context"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
)

// heard is what a watch has told last.
type heard struct {
	mu         sync.Mutex
	changed    chan struct{}
	neighbors  []api.Neighbor
	interfaces []Interface
	elsewhere  []netip.Prefix
	calls      int // about neighbors
}

// watch watches h in the appliance's namespace until the test ends or stop is called.
func (l *lab) watch(h *Host, slow time.Duration) (w *heard, stop func()) {
	l.t.Helper()
	w = &heard{changed: make(chan struct{}, 1)}
	note := func(f func()) {
		w.mu.Lock()
		f()
		w.mu.Unlock()
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	done := l.inside(l.adc, func() {
		err = h.Watch(ctx, News{
			Neighbors:  func(n []api.Neighbor) { time.Sleep(slow); note(func() { w.neighbors = n; w.calls++ }) },
			Interfaces: func(i []Interface) { note(func() { w.interfaces = i }) },
			Elsewhere:  func(a, _ []netip.Prefix) { note(func() { w.elsewhere = a }) },
		})
	})
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case <-done:
			if err != nil {
				l.t.Error(err)
			}
		case <-time.After(30 * time.Second):
			l.t.Error("Watch did not end")
		}
	})
	l.t.Cleanup(stop)
	return w, stop
}

// until waits for ok, which is called with what has been told.
func (l *lab) until(w *heard, what string, ok func() bool) {
	l.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		w.mu.Lock()
		done := ok()
		w.mu.Unlock()
		if done {
			return
		}
		select {
		case <-w.changed:
		case <-time.After(100 * time.Millisecond):
		case <-deadline:
			w.mu.Lock()
			defer w.mu.Unlock()
			l.t.Fatalf("in 30 s not: %s. Neighbors %v, interfaces %+v, elsewhere %v", what, w.neighbors, w.interfaces, w.elsewhere)
		}
	}
}

func (l *lab) mac(h *netlink.Handle, name string) [6]byte {
	l.t.Helper()
	return [6]byte(l.link(h, name).Attrs().HardwareAddr)
}

// quick has the kernel ask every 300 ms in place of every second. An answer then comes within the second
// in which the kernel believes no other link address (locktime), so that goes, too.
func (l *lab) quick(twin string) {
	l.t.Helper()
	l.must(sysctl("net/ipv4/neigh/"+twin+"/locktime", "0"))
	l.must(sysctl("net/ipv4/neigh/"+twin+"/retrans_time_ms", "300"))
}

func TestNeighbors(t *testing.T) {
	l := newLab(t)
	h := l.open(ports)
	h.reprobe = 400 * time.Millisecond
	l.apply(h, basic...)
	l.quick("tw1")
	// A neighbor that is quiet goes stale at once, so that the test need not wait for half a minute.
	l.must(sysctl("net/ipv4/neigh/tw1/base_reachable_time_ms", "200"))
	l.connect("da", "tw0")
	l.connect("db", "tw1")
	l.must(h.Resolve(t.Context(), "tw0", netip.MustParseAddr("10.1.0.100")))
	l.awaitNeighbor(h, "10.1.0.100", "REACHABLE")

	// What is known already is told at the start.
	w, _ := l.watch(h, 0)
	client := api.Neighbor{Port: 0, IP: netip.MustParseAddr("10.1.0.100"), MAC: l.mac(l.far, "pa")}
	l.until(w, "client at the start", func() bool { return slices.Equal(w.neighbors, []api.Neighbor{client}) })

	// A server is resolved; nobody has 10.2.0.99.
	l.must(h.Resolve(t.Context(), "tw1", netip.MustParseAddr("10.2.0.99")))
	l.must(h.Resolve(t.Context(), "tw1", netip.MustParseAddr("10.2.0.11")))
	server := api.Neighbor{Port: 1, IP: netip.MustParseAddr("10.2.0.11"), MAC: l.mac(l.far, "pb")}
	both := []api.Neighbor{client, server}
	l.until(w, "client and server", func() bool { return slices.Equal(w.neighbors, both) })
	l.awaitNeighbor(h, "10.2.0.99", "")
	l.until(w, "still both", func() bool { return slices.Equal(w.neighbors, both) })

	// The server's card is replaced: nothing tells us but our own asking.
	pb := l.link(l.far, "pb")
	l.must(sysctlIn(l, "net/ipv4/conf/pb/arp_notify", "0"))
	l.must(l.far.LinkSetHardwareAddr(pb, net.HardwareAddr{2, 0, 0, 0, 0, 77}))
	server.MAC = [6]byte{2, 0, 0, 0, 0, 77}
	l.until(w, "the server's new card", func() bool { return slices.Equal(w.neighbors, []api.Neighbor{client, server}) })

	// The server dies: it leaves the list and the kernel's table.
	l.must(l.far.LinkSetDown(pb))
	l.until(w, "the client alone", func() bool { return slices.Equal(w.neighbors, []api.Neighbor{client}) })
	l.awaitNeighbor(h, "10.2.0.11", "")

	// An operator's entry is as good, and never asked for.
	l.must(l.nl.NeighAdd(&netlink.Neigh{LinkIndex: l.link(l.nl, "tw1").Attrs().Index, IP: net.IP{10, 2, 0, 12},
		State: netlink.NUD_PERMANENT, HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 12}}))
	fixed := api.Neighbor{Port: 1, IP: netip.MustParseAddr("10.2.0.12"), MAC: [6]byte{2, 0, 0, 0, 0, 12}}
	l.until(w, "the fixed one", func() bool { return slices.Equal(w.neighbors, []api.Neighbor{client, fixed}) })
	list, err := h.Neighbors()
	l.must(err)
	if len(list) != 2 || list[1].Port != "1/2" || list[1].State != "PERMANENT" || list[1].Origin != "STATIC" || list[1].MAC != fixed.MAC ||
		list[0].Origin != "DYNAMIC" || list[0].Port != "1/1" {
		t.Errorf("Neighbors: %+v", list)
	}

	// A twin that goes down takes its neighbors with it.
	l.must(l.nl.LinkSetDown(l.link(l.nl, "tw0")))
	l.until(w, "the fixed one alone", func() bool { return slices.Equal(w.neighbors, []api.Neighbor{fixed}) })
}

func sysctlIn(l *lab, name, value string) (err error) {
	<-l.inside(l.peer, func() { err = sysctl(name, value) })
	return err
}

// awaitNeighbor waits until the kernel has the neighbor in a state; "" means not at all.
func (l *lab) awaitNeighbor(h *Host, ip, state string) {
	l.t.Helper()
	var now string
	for range 500 {
		list, err := h.Neighbors()
		l.must(err)
		now = ""
		for _, n := range list {
			if n.IP == netip.MustParseAddr(ip) {
				now = n.State
			}
		}
		if now == state {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.t.Fatalf("neighbor %s is %q, want %q", ip, now, state)
}

func TestResolveErrors(t *testing.T) {
	l := newLab(t)
	h := l.open(ports)
	for name, want := range map[string]string{
		"tw0": "twin tw0: cannot resolve neighbor 10.1.0.1: the twin is not there",
	} {
		if err := h.Resolve(t.Context(), name, netip.MustParseAddr("10.1.0.1")); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestStorm: more events than the socket holds, while the listener is slow. In the end what was told is what the
// kernel has, and it was told in few calls.
func TestStorm(t *testing.T) {
	l := newLab(t)
	h := l.open(ports)
	l.must(h.events.SetReceiveBufferSize(4096, false))
	l.apply(h, basic...)
	w, _ := l.watch(h, 20*time.Millisecond)
	tw := l.link(l.nl, "tw1").Attrs().Index
	entry := func(i int) *netlink.Neigh {
		return &netlink.Neigh{LinkIndex: tw, IP: net.IP{10, 2, byte(i >> 8), byte(i)}, State: netlink.NUD_PERMANENT,
			HardwareAddr: net.HardwareAddr{2, 0, 0, 1, byte(i >> 8), byte(i)}}
	}
	for i := 100; i < 3100; i++ {
		l.must(l.nl.NeighSet(entry(i)))
	}
	for i := 100; i < 3100; i += 2 {
		l.must(l.nl.NeighDel(entry(i)))
	}
	l.until(w, "the 1,500 that are left", func() bool {
		if len(w.neighbors) != 1500 {
			return false
		}
		for j, n := range w.neighbors {
			i := 101 + 2*j
			if n.IP != netip.AddrFrom4([4]byte{10, 2, byte(i >> 8), byte(i)}) || n.MAC != [6]byte{2, 0, 0, 1, byte(i >> 8), byte(i)} || n.Port != 1 {
				return false
			}
		}
		return true
	})
	if w.calls > 200 {
		t.Errorf("told %d times of 4,500 changes", w.calls)
	}
}

func TestInterfaces(t *testing.T) {
	l := newLab(t)
	h := l.open(append(slices.Clone(ports), ports[0]))
	h.ports[2].Name, h.ports[2].Device, h.ports[2].Twin = "1/3", "dx", "tw2"
	l.must(h.Apply(t.Context(), plan(basic...)))
	l.cable("mg0", "pm")
	l.up(l.nl, "mg0")
	l.address(l.nl, "mg0", "192.168.77.1/24")
	w, _ := l.watch(h, 0)
	l.until(w, "two ports with a link, one without a card", func() bool {
		i := w.interfaces
		return len(i) == 3 && i[0].Present && i[0].Up && i[0].Carrier && i[0].TwinUp && !i[0].Attached &&
			i[0].MAC == l.mac(l.nl, "da") && i[0].MTU == 1500 && i[1].Carrier && !i[2].Present && !i[2].Carrier && i[2].TwinUp
	})
	l.until(w, "address elsewhere", func() bool {
		return slices.Equal(w.elsewhere, []netip.Prefix{netip.MustParsePrefix("192.168.77.1/24")})
	})
	l.address(l.nl, "mg0", "192.168.78.1/24")
	l.until(w, "two addresses elsewhere", func() bool { return len(w.elsewhere) == 2 })

	l.connect("da", "tw0")
	l.until(w, "the dataplane attached", func() bool { return w.interfaces[0].Attached })
	l.must(l.far.LinkSetDown(l.link(l.far, "pb")))
	l.until(w, "cable out", func() bool { return w.interfaces[1].Up && !w.interfaces[1].Carrier })
	l.up(l.far, "pb")
	l.until(w, "cable in", func() bool { return w.interfaces[1].Carrier })
	if now, err := h.Interfaces(); err != nil || !slices.Equal(now, w.interfaces) {
		t.Errorf("Interfaces: %+v, %v", now, err)
	}

	// A card comes late: the port is readied without anybody asking.
	l.cable("dx", "px")
	l.until(w, "the late card is up", func() bool { return w.interfaces[2].Present && w.interfaces[2].Up && w.interfaces[2].Carrier })
	// And a twin that somebody has deleted is made again, with its addresses and routes.
	l.must(l.nl.LinkDel(l.link(l.nl, "tw1")))
	l.until(w, "the new twin is up", func() bool {
		twin, err := l.nl.LinkByName("tw1")
		return err == nil && twin.Attrs().Flags&net.FlagUp != 0 && slices.Equal(l.addresses("tw1"), []string{"10.2.0.5/24"}) && len(l.routes()) == 2
	})
	if f := h.Faults(); len(f) != 0 {
		t.Errorf("faults: %q", f)
	}
}

// TestLinkOfAPCIPort: the kernel does not see the NIC, the dataplane tells of its link.
func TestLinkOfAPCIPort(t *testing.T) {
	l := newLab(t)
	h := l.open([]compile.Port{{Name: "1/1", PCI: "0000:00:04.0", Twin: "tw0"}, ports[1]})
	l.must(h.Apply(t.Context(), plan(basic...)))
	w, _ := l.watch(h, 0)
	l.until(w, "a port that is there and taken to have a link", func() bool {
		i := w.interfaces
		return len(i) == 2 && i[0].Present && i[0].Up && i[0].Carrier && i[0].TwinUp
	})
	h.Linked("tw0", false)
	h.Linked("tw1", false) // of a device, which the kernel knows better
	l.until(w, "the link down", func() bool { return !w.interfaces[0].Carrier && w.interfaces[1].Carrier })
	h.Linked("tw0", true)
	l.until(w, "the link up", func() bool { return w.interfaces[0].Carrier })
	if f := h.Faults(); len(f) != 0 {
		t.Errorf("faults: %q", f)
	}
}

// TestWatchEnds: nothing is left over, whether the context ends or the host is closed.
func TestWatchEnds(t *testing.T) {
	l := newLab(t)
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	for _, closeFirst := range []bool{false, true} {
		h, err := Open(ports, nil)
		l.must(err)
		l.must(h.Apply(t.Context(), plan(basic...)))
		w, stop := l.watch(h, 0)
		l.until(w, "told", func() bool { return w.interfaces != nil })
		if closeFirst {
			h.Close()
			stop()
		} else {
			stop()
			h.Close()
		}
	}
	var g, f int
	for range 100 {
		if g, f = runtime.NumGoroutine(), openFiles(t); g <= goroutines && f <= files {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("left over: %d goroutines of %d, %d descriptors of %d", g, goroutines, f, files)
}

func openFiles(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}
