package vrrp

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// link is the packet socket on one device. The frames leave with the virtual MAC as their source, which no socket of IP does.
type link struct {
	device string
	index  int
	fd     int
}

// receiveBuffer is the room for adverts that wait to be read, in bytes: some 1,300 of them.
const receiveBuffer = 1 << 20

// openLink opens the device that has that index.
func openLink(device string, index int) (*link, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if errors.Is(err, unix.EPERM) {
		return nil, errors.New("management has no right to speak VRRP (CAP_NET_RAW)")
	}
	if err != nil {
		return nil, fmt.Errorf("no socket for VRRP on %s: %w", device, err)
	}
	if err := prepare(fd, index); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("VRRP cannot be spoken on %s: %w", device, err)
	}
	return &link{device: device, index: index, fd: fd}, nil
}

func prepare(fd, index int) error {
	filter := onlyAdverts()
	member := &unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_MULTICAST, Alen: 6}
	copy(member.Address[:], groupMAC[:])
	for _, step := range []func() error{
		func() error {
			return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
		},
		func() error { return unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1) },
		func() error {
			return unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, member)
		},
		func() error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer) },
		func() error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PRIORITY, prioControl) },
		func() error {
			return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_IP), Ifindex: index})
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// prioControl is TC_PRIO_CONTROL: ahead of data in a device's queue.
const prioControl = 7

func bigEndian(n uint16) uint16 { return n<<8 | n>>8 }

// onlyAdverts lets IPv4 frames of VRRP through. Those with a VLAN tag are another VLAN's: by now the kernel has taken the tag
// away, and marked them as somebody else's.
func onlyAdverts() []unix.SockFilter {
	const packetType = 0xfffff000 + 4 // SKF_AD_OFF + SKF_AD_PKTTYPE
	return []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: packetType},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 3, K: unix.PACKET_OTHERHOST},
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: etherLen + 9}, // protocol
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: protocol},
		{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 16},
		{Code: unix.BPF_RET | unix.BPF_K},
	}
}

// receive reads a frame, if one is there.
func (l *link) receive(b []byte) (frame []byte, there bool) {
	n, err := unix.Read(l.fd, b)
	if err != nil { // nothing more, or the device is down or gone, which attach finds out
		return nil, false
	}
	return b[:n], true
}

// send sends a frame, or fails at once.
func (l *link) send(frame []byte) error {
	proto := uint16(frame[12])<<8 | uint16(frame[13])
	return unix.Sendto(l.fd, frame, unix.MSG_DONTWAIT, &unix.SockaddrLinklayer{Protocol: bigEndian(proto), Ifindex: l.index})
}

func (l *link) close() { unix.Close(l.fd) }
