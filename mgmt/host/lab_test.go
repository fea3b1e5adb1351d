package host

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// lab is two network namespaces without names: that of the appliance, in which the test's goroutine runs, and that of
// the peers at the other ends of its devices. The kernel removes them when the last thread and descriptor is gone,
// however the test ends.
//
//	appliance: da --- pa :peer    10.1.0.0/24
//	           db --- pb          10.2.0.0/24
type lab struct {
	t         *testing.T
	adc, peer netns.NsHandle
	nl        *netlink.Handle // appliance
	far       *netlink.Handle // peer
}

var ports = []compile.Port{
	{Name: "1/1", Device: "da", Twin: "tw0"},
	{Name: "1/2", Device: "db", Twin: "tw1"},
}

// newLab makes a lab and moves the test's goroutine into the appliance. The goroutine keeps its thread to its end.
func newLab(t *testing.T) *lab {
	t.Helper()
	runtime.LockOSThread()
	l := &lab{t: t}
	var err error
	l.peer, err = netns.New()
	l.must(err)
	l.adc, err = netns.New()
	l.must(err)
	l.nl, err = netlink.NewHandle(unix.NETLINK_ROUTE)
	l.must(err)
	l.far, err = netlink.NewHandleAt(l.peer, unix.NETLINK_ROUTE)
	l.must(err)
	t.Cleanup(func() { l.nl.Close(); l.far.Close(); l.adc.Close(); l.peer.Close() })
	l.up(l.nl, "lo")
	l.cable("da", "pa")
	l.cable("db", "pb")
	l.address(l.far, "pa", "10.1.0.100/24")
	l.address(l.far, "pb", "10.2.0.11/24")
	return l
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// cable connects device near of the appliance with far of the peer. Only the far end is up.
func (l *lab) cable(near, far string) {
	l.t.Helper()
	attrs := netlink.NewLinkAttrs()
	attrs.Name = near
	l.must(l.nl.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: far, PeerNamespace: netlink.NsFd(l.peer)}))
	l.up(l.far, far)
}

func (l *lab) up(h *netlink.Handle, name string) {
	l.t.Helper()
	l.must(h.LinkSetUp(l.link(h, name)))
}

func (l *lab) link(h *netlink.Handle, name string) netlink.Link {
	l.t.Helper()
	link, err := h.LinkByName(name)
	l.must(err)
	return link
}

func (l *lab) address(h *netlink.Handle, name, addr string) {
	l.t.Helper()
	a, err := netlink.ParseAddr(addr)
	l.must(err)
	l.must(h.AddrAdd(l.link(h, name), a))
}

// inside runs f in a goroutine of its own in a namespace. The result is closed when f has ended.
func (l *lab) inside(ns netns.NsHandle, f func()) <-chan struct{} {
	l.t.Helper()
	done, entered := make(chan struct{}), make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // the thread ends with the goroutine
		err := netns.Set(ns)
		entered <- err
		if err == nil {
			f()
		}
	}()
	l.must(<-entered)
	return done
}

// open opens a host whose log goes to the test.
func (l *lab) open(p []compile.Port) *Host {
	l.t.Helper()
	h, err := Open(p, slog.New(slog.NewTextHandler(l.t.Output(), nil)))
	l.must(err)
	l.t.Cleanup(h.Close)
	return h
}

// state is what the kernel has of links, addresses, routes and parameters of ports, as lines.
func (l *lab) state() string {
	l.t.Helper()
	var b strings.Builder
	links, err := l.nl.LinkList()
	l.must(err)
	for _, k := range links {
		a := k.Attrs()
		fmt.Fprintf(&b, "%d %s %s %s mtu %d qlen %d up %v\n", a.Index, a.Name, k.Type(), a.HardwareAddr, a.MTU, a.TxQLen, a.RawFlags&unix.IFF_UP != 0)
		for _, addr := range l.addresses(a.Name) {
			fmt.Fprintf(&b, "  %s\n", addr)
		}
	}
	for _, r := range l.routes() {
		fmt.Fprintln(&b, r)
	}
	return b.String()
}

func (l *lab) addresses(name string) []string {
	l.t.Helper()
	list, err := l.nl.AddrList(l.link(l.nl, name), netlink.FAMILY_V4)
	l.must(err)
	var all []string
	for _, a := range list {
		all = append(all, a.IPNet.String())
	}
	slices.Sort(all)
	return all
}

// routes are the routes that no address brought with it: "10.3.0.0/16 via 10.2.0.11 dev tw1".
func (l *lab) routes() []string {
	l.t.Helper()
	list, err := l.nl.RouteList(nil, netlink.FAMILY_V4)
	l.must(err)
	var all []string
	for _, r := range list {
		if r.Protocol == unix.RTPROT_KERNEL {
			continue
		}
		line := prefixOf(r.Dst).String()
		for _, hop := range hopsOf(r) {
			link, err := l.nl.LinkByIndex(hop.link)
			l.must(err)
			line += fmt.Sprintf(" via %s dev %s", hop.gateway, link.Attrs().Name)
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return all
}

// same compares lists of lines.
func (l *lab) same(what string, got []string, want ...string) {
	l.t.Helper()
	if !slices.Equal(got, want) {
		l.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (l *lab) sysctl(name string) string {
	l.t.Helper()
	b, err := os.ReadFile("/proc/sys/" + name)
	l.must(err)
	return strings.TrimSpace(string(b))
}

// plan makes a plan from lines "tw0 10.1.0.5/24" and "10.3.0.0/16 via 10.2.0.11 dev tw1".
func plan(lines ...string) compile.HostPlan {
	var p compile.HostPlan
	for _, port := range ports {
		t := compile.TwinPlan{Port: port}
		for _, line := range lines {
			if f := strings.Fields(line); f[0] == port.Twin {
				t.Addresses = append(t.Addresses, netip.MustParsePrefix(f[1]))
			}
		}
		p.Twins = append(p.Twins, t)
	}
	for _, line := range lines {
		if f := strings.Fields(line); len(f) == 5 {
			p.Routes = append(p.Routes, compile.HostRoute{Prefix: netip.MustParsePrefix(f[0]), Gateway: netip.MustParseAddr(f[2]), Twin: f[4]})
		}
	}
	return p
}

// connect does for one port what the dataplane does for packets that are not its own: it carries frames between device
// and twin. It ends with the test.
func (l *lab) connect(device, twin string) {
	l.t.Helper()
	tap, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	l.must(err)
	req, err := unix.NewIfreq(twin)
	l.must(err)
	req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_MULTI_QUEUE)
	l.must(unix.IoctlIfreq(tap, unix.TUNSETIFF, req))
	const all = unix.ETH_P_ALL<<8&0xff00 | unix.ETH_P_ALL>>8 // in network byte order
	wire, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	l.must(err)
	at := &unix.SockaddrLinklayer{Protocol: all, Ifindex: l.link(l.nl, device).Attrs().Index}
	l.must(unix.Bind(wire, at))
	l.must(unix.SetsockoptInt(wire, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1))

	kernel, nic := os.NewFile(uintptr(tap), twin), os.NewFile(uintptr(wire), device)
	var ends sync.WaitGroup
	carry := func(from, to *os.File) {
		b := make([]byte, 2048)
		for {
			n, err := from.Read(b)
			if err != nil {
				if err, ok := err.(*os.PathError); ok && err.Err == unix.ENETDOWN {
					continue
				}
				return
			}
			to.Write(b[:n])
		}
	}
	ends.Go(func() { carry(kernel, nic) })
	ends.Go(func() { carry(nic, kernel) })
	l.t.Cleanup(func() { kernel.Close(); nic.Close(); ends.Wait() })
}

// flood sends datagrams from the peer to an address of the appliance on which a socket listens, while f runs. It returns how
// many were sent and how many came.
func (l *lab) flood(to string, f func()) (sent, came int) {
	l.t.Helper()
	c, err := net.ListenPacket("udp4", to)
	l.must(err)
	stop := make(chan struct{})
	var failed error
	done := l.inside(l.peer, func() {
		from, err := net.Dial("udp4", to)
		if failed = err; err != nil {
			return
		}
		defer from.Close()
		for ; ; sent++ {
			select {
			case <-stop:
				return
			default:
				from.Write([]byte{1}) // refused or not
			}
		}
	})
	f()
	close(stop)
	<-done
	l.must(failed)
	c.SetDeadline(time.Now().Add(200 * time.Millisecond))
	for b := make([]byte, 10); ; came++ {
		if _, _, err := c.ReadFrom(b); err != nil {
			c.Close()
			return sent, came
		}
	}
}

// ping sends an ICMP echo request from the peer and counts the replies: it waits for the number expected, and then a
// little for more.
func (l *lab) ping(to string, expected int) int {
	l.t.Helper()
	replies := 0
	var failed error
	<-l.inside(l.peer, func() {
		c, err := net.ListenPacket("ip4:icmp", "0.0.0.0")
		if err != nil {
			failed = err
			return
		}
		defer c.Close()
		const more = 200 * time.Millisecond
		c.SetDeadline(time.Now().Add(30 * time.Second))
		// Type 8, identifier 0x5350, sequence 1; the checksum is over these 8 bytes.
		if _, failed = c.WriteTo([]byte{8, 0, 0xa4, 0xae, 0x53, 0x50, 0, 1}, &net.IPAddr{IP: net.ParseIP(to)}); failed != nil {
			return
		}
		b := make([]byte, 1500)
		for {
			if replies == expected {
				c.SetDeadline(time.Now().Add(more))
			}
			n, _, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			if n >= 8 && b[0] == 0 && b[4] == 0x53 && b[5] == 0x50 {
				replies++
			}
		}
	})
	l.must(failed)
	return replies
}
