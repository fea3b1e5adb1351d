package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// ICMP types (RFC 792).
const (
	icmpEchoReply   = 0
	icmpUnreachable = 3
	icmpEcho        = 8
)

// echoLen is the length of our echo requests: header of 8 bytes and a token of 8.
const echoLen = 16

// Pinger sends ICMP echo requests and matches the replies, all over one raw socket: with one socket a probe the kernel
// would copy every reply to each of them. The socket is opened with the first probe.
type Pinger struct {
	mu      sync.Mutex
	conn    *net.IPConn
	waiting map[echo]chan string // "" for a reply, otherwise what went wrong
	seq     uint16
	done    chan struct{} // closed when the reader has ended
}

// echo identifies a request on its way.
type echo struct {
	target [4]byte
	seq    uint16
	token  uint64 // random, so that a late or forged reply is not taken for an answer
}

var errPingRights = errors.New("management has no right to send ICMP (CAP_NET_RAW)")

// Check is a monitor of type PING: the server must answer an echo request with its number and token.
func (g *Pinger) Check(ctx context.Context, p *compile.Probe) Outcome {
	target := p.Target.Addr().Unmap()
	if !target.Is4() {
		return unsent("the probe could not be sent: PING to %s needs IPv6, which is not built yet", target)
	}
	w, err := wayTo(ctx, p)
	if err != nil {
		return failure(p, "PING", err)
	}
	e := echo{target: target.As4(), token: rand.Uint64()}
	answer, err := g.send(&e, p, w)
	if err != nil {
		return failure(p, "PING", err)
	}
	defer g.forget(e)
	select {
	case wrong := <-answer:
		if wrong != "" {
			return Outcome{Response: "Failure - " + wrong}
		}
		return success("ICMP echo reply received")
	case <-ctx.Done():
		return Outcome{Response: "Failure - ICMP echo reply timed out."}
	}
}

// send registers e under a sequence number that is free and sends its request from the probe's source, along a way if there is one.
func (g *Pinger) send(e *echo, p *compile.Probe, w *way) (<-chan string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.open(); err != nil {
		return nil, err
	}
	g.seq++
	e.seq = g.seq
	answer := make(chan string, 1)
	g.waiting[*e] = answer
	info := unix.Inet4Pktinfo{}
	if src := p.Source.Unmap(); src.Is4() {
		info.Spec_dst = src.As4()
	}
	var err error
	if w != nil {
		err = w.send(ipv4(unix.IPPROTO_ICMP, w.source, e.target, e.request()))
	} else {
		_, _, err = g.conn.WriteMsgIP(e.request(), unix.PktInfo4(&info), &net.IPAddr{IP: e.target[:]})
	}
	if err != nil {
		delete(g.waiting, *e)
		if missing := bindable(p.Source); missing != nil {
			err = missing // the kernel's own word for a source that no interface has depends on its version
		}
		return nil, err
	}
	return answer, nil
}

// bindable says why source cannot be used on this appliance.
func bindable(source netip.Addr) error {
	if !source.IsValid() {
		return nil
	}
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(source, 0)))
	if err != nil {
		return err
	}
	return c.Close()
}

func (g *Pinger) forget(e echo) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.waiting, e)
}

// open opens the socket unless it is open. The caller holds mu.
func (g *Pinger) open() error {
	if g.conn != nil {
		return nil
	}
	conn, err := net.ListenIP("ip4:icmp", nil)
	if err != nil {
		if errors.Is(err, os.ErrPermission) {
			return errPingRights
		}
		return err
	}
	if err := passReplies(conn); err != nil {
		conn.Close()
		return err
	}
	g.conn, g.waiting, g.done = conn, map[echo]chan string{}, make(chan struct{})
	go g.read(conn, g.done)
	return nil
}

// passReplies has the kernel keep everything but replies and errors from our socket.
func passReplies(conn *net.IPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	const icmpFilter = 1 // ICMP_FILTER of linux/icmp.h: a bit that is set blocks its type
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_RAW, icmpFilter, ^(1<<icmpEchoReply | 1<<icmpUnreachable))
		if failed == nil { // 10,000 answers may come in one burst
			failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
		}
	})
	return errors.Join(err, failed)
}

// read hands answers to those who wait for them until the socket is closed.
func (g *Pinger) read(conn *net.IPConn, done chan struct{}) {
	defer close(done)
	buf := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFromIP(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // an error of one packet must not spin
			continue
		}
		if e, wrong, ok := parseICMP(buf[:n], from.IP); ok {
			g.answer(e, wrong)
		}
	}
}

func (g *Pinger) answer(e echo, wrong string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.waiting[e]; c != nil {
		select {
		case c <- wrong:
		default: // a second answer to one request
		}
	}
}

// Close closes the socket.
func (g *Pinger) Close() {
	g.mu.Lock()
	conn, done := g.conn, g.done
	g.conn = nil
	g.mu.Unlock()
	if conn != nil {
		conn.Close()
		<-done
	}
}

// request is the ICMP echo request: type, code, checksum, identifier, sequence number, token. The identifier is of the
// token, too: the kernel does not change it on raw sockets.
func (e *echo) request() []byte {
	b := make([]byte, echoLen)
	b[0] = icmpEcho
	binary.BigEndian.PutUint16(b[4:], e.id())
	binary.BigEndian.PutUint16(b[6:], e.seq)
	binary.BigEndian.PutUint64(b[8:], e.token)
	binary.BigEndian.PutUint16(b[2:], checksum(b))
	return b
}

func (e *echo) id() uint16 { return uint16(e.token) }

// parseICMP says which request an ICMP message answers, and what is wrong if it is an error about it.
func parseICMP(b []byte, from net.IP) (e echo, wrong string, ok bool) {
	if len(b) < 8 || checksum(b) != 0 {
		return e, "", false
	}
	switch b[0] {
	case icmpEchoReply:
		src := from.To4()
		if src == nil {
			return e, "", false
		}
		e.target = [4]byte(src)
		return e, "", e.parse(b)
	case icmpUnreachable:
		inner := b[8:] // IPv4 header and our request; RFC 1812 section 4.3.2.3 wants as much of it as fits
		if len(inner) < 20 || inner[0]>>4 != 4 || inner[9] != unix.IPPROTO_ICMP {
			return e, "", false
		}
		hl := int(inner[0]&15) * 4
		if hl < 20 || len(inner) < hl+echoLen || inner[hl] != icmpEcho {
			return e, "", false
		}
		e.target = [4]byte(inner[16:20])
		wrong = fmt.Sprintf("server %s is unreachable: %s says so (ICMP code %d).", net.IP(e.target[:]), from, b[1])
		if from.Equal(net.IP(inner[12:16])) { // our own kernel says so
			wrong = fmt.Sprintf("server %s does not answer ARP.", net.IP(e.target[:]))
		}
		return e, wrong, e.parse(inner[hl:])
	}
	return e, "", false
}

// parse reads sequence number and token of an echo message.
func (e *echo) parse(b []byte) bool {
	if len(b) < echoLen {
		return false
	}
	e.seq = binary.BigEndian.Uint16(b[6:])
	e.token = binary.BigEndian.Uint64(b[8:])
	return binary.BigEndian.Uint16(b[4:]) == e.id()
}

// checksum is the Internet checksum (RFC 1071); over a message with a right checksum it is 0.
func checksum(b []byte) uint16 {
	var sum uint32
	for ; len(b) >= 2; b = b[2:] {
		sum += uint32(b[0])<<8 | uint32(b[1])
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}
