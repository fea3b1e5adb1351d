package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// ARP over Ethernet for IPv4 (RFC 826).
const (
	arpLen     = 28 // bytes of a message
	arpRequest = 1
	arpReply   = 2
)

// CheckARP is a monitor of type ARP: the server, which must be on a subnet of this appliance, must answer an ARP request.
// One request is sent every 500 ms until the response timeout, as a single frame may get lost on the way.
func CheckARP(ctx context.Context, p *compile.Probe) Outcome {
	if _, _, err := askARP(ctx, p); err != nil {
		return failure(p, "ARP", err)
	}
	return success("ARP reply received")
}

// askARP asks for the MAC address of a probe's target, and tells on which link it is.
func askARP(ctx context.Context, p *compile.Probe) (dev *net.Interface, mac [6]byte, err error) {
	target := p.Target.Addr().Unmap()
	if !target.Is4() {
		return nil, mac, strayed("ARP is for IPv4, and %s is none", target)
	}
	dev, source, err := arpDevice(p)
	if err != nil {
		return nil, mac, strayed("%v", err)
	}
	fd, err := arpSocket(dev.Index, target.As4())
	if errors.Is(err, unix.EPERM) {
		return nil, mac, strayed("management has no right to send ARP (CAP_NET_RAW)")
	}
	if err != nil {
		return nil, mac, err
	}
	defer unix.Close(fd)
	to := &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ARP), Ifindex: dev.Index, Halen: 6, Addr: [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
	b := make([]byte, 256)
	for last := (time.Time{}); ; {
		if ctx.Err() != nil {
			return nil, mac, astray{text: "ARP reply timed out"}
		}
		if time.Since(last) > 500*time.Millisecond {
			last = time.Now()
			if err := unix.Sendto(fd, arpMessage(dev.HardwareAddr, source, target.As4()), 0, to); err != nil {
				return nil, mac, err
			}
		}
		n, _, err := unix.Recvfrom(fd, b, 0) // for at most 50 ms
		if err == nil && arpAnswers(b[:n], target.As4()) {
			return dev, [6]byte(b[8:14]), nil
		}
	}
}

// arpDevice is the device on whose link the target is, and our address there.
func arpDevice(p *compile.Probe) (*net.Interface, [4]byte, error) {
	target := p.Target.Addr().Unmap()
	routes, err := netlink.RouteGet(target.AsSlice())
	if err != nil || len(routes) == 0 {
		return nil, [4]byte{}, errors.New("no route to " + target.String() + "; add a SNIP in its subnet")
	}
	r := routes[0]
	if r.Gw != nil {
		return nil, [4]byte{}, errors.New("server " + target.String() + " is behind a router, where ARP does not reach; use PING")
	}
	dev, err := net.InterfaceByIndex(r.LinkIndex)
	if err != nil {
		return nil, [4]byte{}, err
	}
	if len(dev.HardwareAddr) != 6 {
		return nil, [4]byte{}, errors.New("server " + target.String() + " is not on an Ethernet, where ARP is spoken")
	}
	var source [4]byte
	copy(source[:], r.Src.To4())
	if p.Source.Unmap().Is4() {
		source = p.Source.Unmap().As4()
	}
	return dev, source, nil
}

// arpSocket takes replies of the target only: with a socket a probe, each would else see those of all others.
func arpSocket(device int, target [4]byte) (fd int, err error) {
	if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return -1, err
	}
	ip := binary.BigEndian.Uint32(target[:])
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 6}, // operation
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 3, K: arpReply},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 14}, // address of the sender
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: ip},
		{Code: unix.BPF_RET | unix.BPF_K, K: 256},
		{Code: unix.BPF_RET | unix.BPF_K},
	}
	err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
	if err == nil {
		err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 50_000})
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ARP), Ifindex: device})
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func htons(n uint16) uint16 { return n<<8 | n>>8 }

func arpMessage(mac net.HardwareAddr, source, target [4]byte) []byte {
	b := make([]byte, 0, arpLen)
	b = append(b, 0, 1, 8, 0, 6, 4, 0, arpRequest)
	b = append(append(b, mac...), source[:]...)
	return append(append(b, 0, 0, 0, 0, 0, 0), target[:]...)
}

// arpAnswers tells whether a message is a reply of the target.
func arpAnswers(b []byte, target [4]byte) bool {
	return len(b) >= arpLen && b[0] == 0 && b[1] == 1 && b[2] == 8 && b[3] == 0 && b[4] == 6 && b[5] == 4 &&
		b[6] == 0 && b[7] == arpReply && [4]byte(b[14:18]) == target
}
