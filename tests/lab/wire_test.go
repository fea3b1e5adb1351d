package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/dataplane/packet"
	"sluice/tests/lab/topology"
)

// The main thread stays with main: a thread that has entered a namespace must end, and the main thread cannot.
func init() { runtime.LockOSThread() }

// wire is a raw socket on a device of a node: it sends any frame, right or wrong, and hears every frame that arrives there.
type wire struct {
	fd  int
	MAC [6]byte
}

// dial opens the device of a node. A thread enters the namespace for the moment and ends with its goroutine.
func dial(t *testing.T, node, device string) *wire {
	t.Helper()
	type opened struct {
		w   *wire
		err error
	}
	done := make(chan opened)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is of no use to anybody else
		w, err := dialHere(lab.NS(node), device)
		done <- opened{w, err}
	}()
	o := <-done
	if o.err != nil {
		t.Fatalf("raw socket on %s of %s: %v", device, node, o.err)
	}
	t.Cleanup(func() { unix.Close(o.w.fd) })
	return o.w
}

func dialHere(ns, device string) (*wire, error) {
	f, err := os.Open("/run/netns/" + ns)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := unix.Setns(int(f.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	dev, err := net.InterfaceByName(device)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(packet.Swap16(unix.ETH_P_ALL)))
	if err != nil {
		return nil, err
	}
	w := &wire{fd: fd, MAC: [6]byte(dev.HardwareAddr)}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: packet.Swap16(unix.ETH_P_ALL), Ifindex: dev.Index}); err != nil {
		unix.Close(fd)
		return nil, err
	}
	// The kernel takes VLAN tags out of frames and tells them beside: see hear.
	return w, unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1)
}

// send puts a frame on the wire and reports whether the kernel took it: it refuses what is shorter than an Ethernet header.
func (w *wire) send(frame []byte) bool {
	for {
		_, err := unix.Write(w.fd, frame)
		if err != unix.ENOBUFS {
			return err == nil
		}
		time.Sleep(time.Millisecond)
	}
}

// hear waits for the first frame from elsewhere that fits, tags put back in; nil if none comes within the time.
func (w *wire) hear(within time.Duration, fits func(packet.Ether) bool) packet.Ether {
	buf, oob := make([]byte, 65536), make([]byte, 256)
	for deadline := time.Now().Add(within); ; {
		left := time.Until(deadline)
		if left <= 0 {
			return nil
		}
		fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
		if n, _ := unix.Poll(fds, int(left.Milliseconds())+1); n <= 0 {
			continue
		}
		n, k, _, from, err := unix.Recvmsg(w.fd, buf, oob, unix.MSG_DONTWAIT)
		if ll, ok := from.(*unix.SockaddrLinklayer); err != nil || ok && ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		if f := packet.Ether(retag(buf[:n], oob[:k])); len(f) >= packet.EtherLen && fits(f) {
			return f
		}
	}
}

// retag puts a tag back where it was on the wire: struct tpacket_auxdata has it.
func retag(frame, oob []byte) []byte {
	frame = append([]byte(nil), frame...)
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return frame
	}
	for _, m := range msgs {
		if m.Header.Type != unix.PACKET_AUXDATA || len(m.Data) < 20 {
			continue
		}
		if status := binary.NativeEndian.Uint32(m.Data); status&unix.TP_STATUS_VLAN_VALID != 0 {
			tag := []byte{0x81, 0, 0, 0}
			binary.BigEndian.PutUint16(tag[2:], binary.NativeEndian.Uint16(m.Data[16:]))
			frame = append(frame[:12], append(tag, frame[12:]...)...)
		}
	}
	return frame
}

// macOf is the MAC address of a device.
func macOf(t *testing.T, node, device string) [6]byte {
	t.Helper()
	out, err := lab.Command(node, "cat", "/sys/class/net/"+device+"/address").Output()
	if err != nil {
		t.Fatal(err)
	}
	m, err := net.ParseMAC(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return [6]byte(m)
}

func address(s string) [4]byte { return [4]byte(net.ParseIP(s).To4()) }

// toVIP is a TCP frame from the client to the web VIP.
func toVIP(t *testing.T, w *wire, sport uint16, flags uint8) packet.Frame {
	t.Helper()
	return packet.Frame{Dst: macOf(t, "adc", "da"), Src: w.MAC, SrcIP: address(topology.ClientIP), DstIP: address(topology.VIP),
		SrcPort: sport, DstPort: 80, Flags: flags}
}

// figures are what `stat ns` says: counters and buffers.
func figures(t *testing.T) map[string]int {
	t.Helper()
	out := shell(t, "stat ns")
	got := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][a-z-]+)\s+[-\d]+\s+(\d+)\s*$`).FindAllStringSubmatch(out, -1) {
		got[m[1]], _ = strconv.Atoi(m[2])
	}
	for _, m := range regexp.MustCompile(`(?m)^(Packet buffers|Flow entries) in use\s+(\d+) of`).FindAllStringSubmatch(out, -1) {
		got[m[1]], _ = strconv.Atoi(m[2])
	}
	return got
}

// buffersCome waits until no more packet buffers are in use than before: nothing has been lost.
func buffersCome(t *testing.T, before int) {
	t.Helper()
	if err := topology.Eventually(5*time.Second, func() error {
		if now := figures(t)["Packet buffers"]; now > before {
			return fmt.Errorf("%d packet buffers are in use, before it were %d", now, before)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
