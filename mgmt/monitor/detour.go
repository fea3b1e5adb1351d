package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// Probes of services behind vservers with -m MAC, IPTUNNEL and TOS must go the way that clients' packets go, and the kernel, whose
// sockets they are sent by, knows none of these ways (of some kernels not even IP in IP). So such a socket bears a mark by which
// the kernel hands its packets over instead of sending them, and the detour sends them on in their new form. Answers need no
// detour: they come from the target's address to that of the socket.

// lingering is how long after its end packets of a probe are still sent on: its last one is an RST.
const lingering = 2 * time.Second

// Detour is where the packets of marked sockets come out, and what says whether an address may answer.
type Detour interface {
	Detour() (io.ReadCloser, error)
	Answerable(netip.Addr) error
}

// detours sends packets of probes on their ways. Its device and sockets are opened with the first probe that needs them.
type detours struct {
	by Detour // nil: there is none

	mu     sync.Mutex
	dev    io.ReadCloser
	raw    int // takes whole IPv4 packets
	frames int // takes IPv4 packets with the MAC address that they go to
	ways   map[origin]*way
	cards  map[[4]byte]*card // of devices that probes go Through
	done   chan struct{}     // closed when the reader has ended
}

// origin is what a packet of a probe is known by: the socket that sent it.
type origin struct {
	proto uint8
	ip    [4]byte
	port  uint16
}

// way is where the packets of one probe go.
type way struct {
	kind   compile.Way
	dscp   uint8
	source [4]byte // address of the socket
	target [4]byte
	via    [4]byte
	dev    int     // Through: index of the link
	mac    [6]byte // Through: of the device
	mine   *detours
	keep   time.Duration
}

// card is the MAC address of a device: the answer to the one question that all who want to know it wait for.
type card struct {
	known chan struct{} // closed when the answer is there
	dev   int           // index of the link
	mac   [6]byte
	err   error
	until time.Time // it is asked for again afterwards, or when a probe has failed: the device may have been replaced
}

// cardKept is how long an answer holds, on average. ARP of many devices each second would be more than the ports let through.
const cardKept = 10 * time.Second

// cardsMax is how many answers are kept beside those that are being waited for, before old ones are dropped.
const cardsMax = 4096

type detourKey struct{}

// withDetours is a context in which probes can be sent on detours.
func withDetours(ctx context.Context, d *detours) context.Context {
	return context.WithValue(ctx, detourKey{}, d)
}

// astray is why a probe cannot take its way.
type astray struct {
	text   string
	unsent bool // by a fault of this appliance
}

func (a astray) Error() string { return a.text }

func strayed(format string, a ...any) error { return astray{fmt.Sprintf(format, a...), true} }

// wayTo is the way of a probe, or nil if it goes straight to its target.
func wayTo(ctx context.Context, p *compile.Probe) (*way, error) {
	if p.Way == compile.Direct {
		return nil, nil
	}
	d, _ := ctx.Value(detourKey{}).(*detours)
	if d == nil || d.by == nil {
		return nil, strayed("this appliance has no detour for it")
	}
	source, target, via := p.Source.Unmap(), p.Target.Addr().Unmap(), p.Via.Unmap()
	switch {
	case !source.Is4():
		return nil, strayed("there is no SNIP toward %s", via)
	case !target.Is4() || !via.Is4():
		return nil, strayed("it needs IPv6, which is not built yet")
	}
	if err := errors.Join(d.open(), d.by.Answerable(target)); err != nil {
		return nil, strayed("%v", err)
	}
	w := &way{kind: p.Way, dscp: p.DSCP, source: source.As4(), target: target.As4(), via: via.As4(), mine: d, keep: time.Minute}
	if end, ok := ctx.Deadline(); ok {
		w.keep = time.Until(end) + lingering
	}
	if p.Way == compile.Through {
		c, err := d.cardOf(ctx, p)
		if err != nil {
			return nil, err
		}
		w.dev, w.mac = c.dev, c.mac
	}
	return w, nil
}

// cardOf finds the MAC address of the device that a probe goes Through.
func (d *detours) cardOf(ctx context.Context, p *compile.Probe) (*card, error) {
	via := p.Via.Unmap().As4()
	d.mu.Lock()
	c := d.cards[via]
	asks := c == nil || isDone(c.known) && time.Now().After(c.until)
	if asks {
		c = &card{known: make(chan struct{})}
		maps.DeleteFunc(d.cards, func(_ [4]byte, c *card) bool { return len(d.cards) > cardsMax && isDone(c.known) })
		d.cards[via] = c
	}
	d.mu.Unlock()
	if asks {
		d.ask(ctx, p, c)
	}
	select {
	case <-c.known:
		return c, c.err
	case <-ctx.Done():
		return nil, astray{text: "ARP reply timed out"}
	}
}

// ask has the device of a probe asked for its MAC address. It goes on though the probe is taken away, since others wait for it.
func (d *detours) ask(ctx context.Context, p *compile.Probe, c *card) {
	defer close(c.known)
	if end, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(context.WithoutCancel(ctx), end)
		defer cancel()
	}
	device := *p
	device.Target = netip.AddrPortFrom(p.Via, 0)
	dev, mac, err := askARP(ctx, &device)
	until := time.Now().Add(cardKept*3/4 + rand.N(cardKept/2))
	d.mu.Lock()
	defer d.mu.Unlock()
	if c.mac, c.err = mac, err; err == nil {
		c.dev, c.until = dev.Index, until
	}
}

func isDone(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// failed has the device of a probe that has failed asked for its MAC address again.
func (d *detours) failed(p *compile.Probe) {
	if p.Way != compile.Through {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.cards[p.Via.Unmap().As4()]; c != nil && isDone(c.known) {
		c.until = time.Time{}
	}
}

// open opens device and sockets unless they are open.
func (d *detours) open() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dev != nil {
		return nil
	}
	dev, err := d.by.Detour()
	if err != nil {
		return err
	}
	if d.ways == nil {
		if d.raw, d.frames, err = sockets(); err != nil {
			dev.Close()
			return err
		}
		d.ways, d.cards = map[origin]*way{}, map[[4]byte]*card{}
	}
	d.dev, d.done = dev, make(chan struct{})
	go d.read(dev, d.done)
	return nil
}

// sockets opens what takes whole IPv4 packets, and what takes them with the MAC address that they go to.
func sockets() (raw, frames int, err error) {
	if raw, err = unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_RAW); err != nil {
		return 0, 0, fmt.Errorf("cannot open a socket for whole packets: %w", err)
	}
	if frames, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0); err != nil {
		unix.Close(raw)
		return 0, 0, fmt.Errorf("cannot open a socket for frames: %w", err)
	}
	return raw, frames, nil
}

// Close ends the detours. No probe is under way any more.
func (d *detours) Close() {
	d.mu.Lock()
	dev, done, opened := d.dev, d.done, d.ways != nil
	d.dev = nil
	d.mu.Unlock()
	if !opened {
		return
	}
	if dev != nil {
		dev.Close()
	}
	<-done
	unix.Close(d.raw)
	unix.Close(d.frames)
}

// read sends on what the kernel hands over until the device is closed. One that somebody else has removed is made anew for the next
// probe.
func (d *detours) read(dev io.ReadCloser, done chan struct{}) {
	defer close(done)
	b := make([]byte, 4096)
	for {
		n, err := dev.Read(b)
		if err != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			if d.dev == dev {
				d.dev = nil
				dev.Close()
			}
			return
		}
		o, ok := originOf(b[:n])
		if !ok {
			continue
		}
		d.mu.Lock()
		w := d.ways[o]
		d.mu.Unlock()
		if w != nil && w.target == [4]byte(b[16:20]) {
			w.send(b[:n])
		}
	}
}

// originOf reads which socket has sent a packet; ok is false if it is none of a TCP or UDP socket, or only part of one.
func originOf(b []byte) (o origin, ok bool) {
	if len(b) < ipv4Len || b[0]>>4 != 4 {
		return o, false
	}
	hl := int(b[0]&15) * 4
	if hl < ipv4Len || len(b) < hl+l4Least || binary.BigEndian.Uint16(b[6:])&0x3fff != 0 || int(binary.BigEndian.Uint16(b[2:])) != len(b) {
		return o, false
	}
	if o.proto = b[9]; o.proto != unix.IPPROTO_TCP && o.proto != unix.IPPROTO_UDP {
		return o, false
	}
	o.ip, o.port = [4]byte(b[12:16]), binary.BigEndian.Uint16(b[hl:])
	return o, true
}

// control readies a socket for the way: marked, and bound to a port that its packets are known by.
func (w *way) control(network, _ string, c syscall.RawConn) error {
	var err error
	if e := c.Control(func(fd uintptr) { err = w.bind(int(fd), network) }); e != nil {
		return e
	}
	return err
}

func (w *way) bind(fd int, network string) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_MARK, compile.ProbeMark); err != nil {
		return err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: w.source}); err != nil {
		if errors.Is(err, unix.EADDRINUSE) {
			return unix.EADDRNOTAVAIL // how a socket that is bound late says that no port is free
		}
		return err
	}
	own, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	a, ok := own.(*unix.SockaddrInet4)
	if !ok {
		return unix.EAFNOSUPPORT
	}
	o := origin{unix.IPPROTO_TCP, w.source, uint16(a.Port)}
	if network == "udp4" {
		o.proto = unix.IPPROTO_UDP
	}
	d := w.mine
	d.mu.Lock()
	d.ways[o] = w
	d.mu.Unlock()
	time.AfterFunc(w.keep, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.ways[o] == w { // and not one that has got the port since
			delete(d.ways, o)
		}
	})
	return nil
}

// send sends a packet of the way's probe, which it may change. One that the kernel does not take is lost like any other.
func (w *way) send(b []byte) error {
	switch w.kind {
	case compile.Through:
		to := unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_IP), Ifindex: w.dev, Halen: 6}
		copy(to.Addr[:], w.mac[:])
		return unix.Sendto(w.mine.frames, b, 0, &to)
	case compile.Tunnelled:
		b = wrap(b, w.source, w.via)
	case compile.Marked:
		mark(b, w.via, w.dscp)
	}
	return unix.Sendto(w.mine.raw, b, 0, &unix.SockaddrInet4{Addr: w.via})
}

// dialer dials along the way; without one as d says.
func (w *way) dialer(d net.Dialer) net.Dialer {
	if w != nil {
		d.Control, d.LocalAddr = w.control, nil // which control has bound
	}
	return d
}
