package vrrp

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// lan is a bridge in a network namespace without a name, and hosts at its ports, each in one of its own. The kernel removes
// them with the last thread and descriptor in them, however the test ends.
type lan struct {
	t      *testing.T
	core   netns.NsHandle
	nl     *netlink.Handle // of the switch
	bridge netlink.Link
	hosts  int

	mu     sync.Mutex
	frames []frame
}

// frame is what was seen on the bridge.
type frame struct {
	at   time.Time
	data []byte
}

// host has one device, tw0, with the address 192.0.2.N/24.
type host struct {
	lan  *lan
	ns   netns.NsHandle
	nl   *netlink.Handle
	addr netip.Prefix
	port string // of the bridge
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// within runs f on a thread in a namespace, which ends with it.
func within(ns netns.NsHandle, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err := netns.Set(ns); err != nil {
			panic(err)
		}
		f()
	}()
	<-done
}

func newNamespace(t *testing.T) (ns netns.NsHandle, nl *netlink.Handle) {
	t.Helper()
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		ns, err = netns.New()
	}()
	<-done
	must(t, err)
	nl, err = netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
	must(t, err)
	t.Cleanup(func() { nl.Close(); ns.Close() })
	return ns, nl
}

func newLAN(t *testing.T) *lan {
	t.Helper()
	l := &lan{t: t}
	l.core, l.nl = newNamespace(t)
	no, attrs := false, netlink.NewLinkAttrs()
	attrs.Name = "br0"
	// Without snooping adverts go to all ports, whoever has asked for them.
	must(t, l.nl.LinkAdd(&netlink.Bridge{LinkAttrs: attrs, MulticastSnooping: &no}))
	var err error
	l.bridge, err = l.nl.LinkByName("br0")
	must(t, err)
	must(t, l.nl.LinkSetUp(l.bridge))
	l.capture()
	return l
}

// host adds a host.
func (l *lan) host(n byte) *host {
	l.t.Helper()
	h := &host{lan: l, port: fmt.Sprintf("p%d", l.hosts), addr: netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, n}), 24)}
	l.hosts++
	h.ns, h.nl = newNamespace(l.t)
	h.plug()
	return h
}

// plug gives the host its device, with its address, and connects it.
func (h *host) plug() {
	t := h.lan.t
	t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "tw0"
	must(t, h.nl.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: h.port, PeerNamespace: netlink.NsFd(h.lan.core)}))
	far, err := h.lan.nl.LinkByName(h.port)
	must(t, err)
	must(t, h.lan.nl.LinkSetMaster(far, h.lan.bridge))
	must(t, h.lan.nl.LinkSetUp(far))
	near := h.device()
	a, err := netlink.ParseAddr(h.addr.String())
	must(t, err)
	must(t, h.nl.AddrAdd(near, a))
	must(t, h.nl.LinkSetUp(near))
}

func (h *host) device() netlink.Link {
	h.lan.t.Helper()
	d, err := h.nl.LinkByName("tw0")
	must(h.lan.t, err)
	return d
}

func (h *host) unplug() { must(h.lan.t, h.nl.LinkDel(h.device())) }

// part takes the host's port out of the bridge, or puts it in again; its device keeps its carrier.
func (h *host) part(apart bool) {
	t := h.lan.t
	t.Helper()
	far, err := h.lan.nl.LinkByName(h.port)
	must(t, err)
	if apart {
		must(t, h.lan.nl.LinkSetNoMaster(far))
	} else {
		must(t, h.lan.nl.LinkSetMaster(far, h.lan.bridge))
	}
}

// has tells whether the host's device has an address.
func (h *host) has(ip netip.Addr) bool {
	list, err := h.nl.AddrList(nil, netlink.FAMILY_V4)
	return err == nil && slices.ContainsFunc(list, func(a netlink.Addr) bool { return a.IP.Equal(ip.AsSlice()) })
}

// capture writes down adverts and ARP that pass the bridge until the test ends.
func (l *lan) capture() {
	var fd int
	var err error
	within(l.core, func() {
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err == nil {
			err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_ALL), Ifindex: l.bridge.Attrs().Index})
		}
	})
	must(l.t, err)
	file := os.NewFile(uintptr(fd), "capture")
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 2048)
		for {
			n, err := file.Read(b)
			if err != nil {
				return
			}
			f := frame{time.Now(), slices.Clone(b[:n])}
			l.mu.Lock()
			l.frames = append(l.frames, f)
			l.mu.Unlock()
		}
	}()
	l.t.Cleanup(func() { file.Close(); <-done })
}

// advertsOf are the adverts that a host has sent, as far as they can be read.
func (l *lan) advertsOf(h *host) (list []heard, raw [][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.frames {
		if a, why := read(f.data); why == "" && a.src == h.addr.Addr() {
			list, raw = append(list, a), append(raw, f.data)
		}
	}
	return list, raw
}

// gratuitousOf are the gratuitous ARP frames with that Ethernet source.
func (l *lan) gratuitousOf(mac [6]byte) (list []frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.frames {
		d := f.data
		if len(d) >= 42 && [6]byte(d[6:]) == mac && d[12] == 8 && d[13] == 6 && [4]byte(d[28:]) == [4]byte(d[38:]) {
			list = append(list, f)
		}
	}
	return list
}

// speak has a Speaker on the host, which ends with the test.
func (h *host) speak(in ...Intent) *speaking {
	h.lan.t.Helper()
	s := &speaking{host: h}
	var err error
	s.Speaker, err = New(Options{
		Log: slog.New(slog.DiscardHandler),
		Changed: func(st State) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.told = append(s.told, st)
			time.Sleep(s.pause)
		},
		enter: func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			if err := netns.Set(h.ns); err != nil {
				panic(err)
			}
		},
	})
	must(h.lan.t, err)
	h.lan.t.Cleanup(func() { s.end() })
	s.Update(in)
	return s
}

// speaking is a Speaker and what it has told.
type speaking struct {
	*Speaker
	host *host
	mu   sync.Mutex
	told []State

	pause time.Duration // that Changed takes
}

func (s *speaking) end() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	must(s.host.lan.t, s.Close(ctx))
}

// intend is what this host wants of vrID 51, version 3.
func (h *host) intend(change func(*Intent)) Intent {
	return intent(func(in *Intent) {
		in.Source = h.addr
		if change != nil {
			change(in)
		}
	})
}

func (s *speaking) state() State {
	if list := s.States(); len(list) > 0 {
		return list[0]
	}
	return State{}
}

func (s *speaking) count(id uint8) Count {
	for _, c := range s.Counters() {
		if c.ID == id {
			return c
		}
	}
	return Count{}
}

// eventually waits for something, with a deadline that only a fault misses.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !f(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in 30 s it did not come about that %s", what)
		}
	}
}

// beats waits for a beat, which only a live loop gives.
func (s *speaking) beats() {
	s.host.lan.t.Helper()
	select {
	case <-s.Beat():
	case <-time.After(30 * time.Second):
		s.host.lan.t.Fatalf("%s gives no beat", s.host.addr)
	}
}

func (s *speaking) becomes(role Role) {
	s.host.lan.t.Helper()
	eventually(s.host.lan.t, fmt.Sprintf("%s is %s", s.host.addr, role), func() bool { return s.state().Role == role })
}

// hardly asserts that something does not come about for a time.
func hardly(t *testing.T, d time.Duration, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if f() {
			t.Fatalf("it came about that %s", what)
		}
	}
}
