package port

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestPortsOfSeveralWorkers opens a device and a twin for several workers and sends datagrams of many flows to both: each arrives once, at
// either worker, whose descriptor tells of it and the other's does not; one flow's datagrams arrive at one worker.
func TestPortsOfSeveralWorkers(t *testing.T) {
	for _, workers := range []int{2, 4, 8, 16} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) { severalWorkers(t, workers) })
	}
}

func severalWorkers(t *testing.T, workers int) {
	flows := 20 * workers
	ownNetwork(t, "link set lo up", "link add da type veth peer name c0", "link set da up", "link set c0 up",
		"tuntap add dev tw0 mode tap multi_queue", "link set tw0 up")
	p, err := Open([]Device{{Name: "1/1", Device: "da", Twin: "tw0"}}, &EALSettings{Lcores: make([]int, workers), MemoryMB: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	xs := make([]*Exchange, workers)
	for w := range xs {
		if xs[w], err = NewExchange(); err != nil {
			t.Fatal(err)
		}
		defer ReleaseExchange(xs[w])
	}
	for l, device := range []string{"c0", "tw0"} {
		send := packetSender(t, device)
		owner, share := map[int]int{}, make([]int, workers)
		for i := range 3 * flows {
			flow := i % flows
			send(datagram(uint16(1000 + flow)))
			got := -1
			// Only a worker whose descriptor tells of something receives.
			for end := time.Now().Add(30 * time.Second); got < 0 && time.Now().Before(end); {
				for w, x := range xs {
					fd := []unix.PollFd{{Fd: int32(p.lanes(w)[l].fd), Events: unix.POLLIN}}
					if unix.Poll(fd, 0); fd[0].Revents&unix.POLLIN == 0 {
						continue
					}
					if n := receive(t, p.Queue(w), x, l); n == 0 {
						continue
					} else if n != 1 || got >= 0 {
						t.Fatalf("%s, flow %d: worker %d received %d datagrams after worker %d", device, flow, w, n, got)
					}
					got = w
				}
				if got < 0 {
					time.Sleep(time.Millisecond)
				}
			}
			if before, known := owner[flow]; got < 0 || known && before != got {
				t.Fatalf("%s, flow %d: a datagram came to worker %d, one before it to %d", device, flow, got, before)
			}
			owner[flow] = got
			share[got]++
		}
		for w, n := range share {
			if n < 15 {
				t.Errorf("%s: worker %d received %d of %d datagrams", device, w, n, 3*flows)
			}
		}
	}
}

// receive has a worker receive what waits on a lane and frees it; what the kernel sends by itself on new devices is passed over.
func receive(t *testing.T, q Queue, x *Exchange, lane int) (n int) {
	t.Helper()
	for range 8 {
		q.Turn(x)
		for _, m := range x.Rx[:x.RxN] {
			if *(*uint16)(Ptr(Data(m) + 12)) == 0x0008 {
				if n++; int(x.From) != lane {
					t.Fatalf("lane %d has a datagram that was sent to lane %d", x.From, lane)
				}
			}
			x.Free[x.FreeN] = m
			x.FreeN++
		}
	}
	return n
}

// ownNetwork gives the test's thread a network of its own, which ends with the test, and has ip(8) run commands in it.
func ownNetwork(t *testing.T, commands ...string) {
	t.Helper()
	runtime.LockOSThread() // for good: the thread must not serve another test
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		t.Fatalf("a network of its own, for which this test must run as root: %v", err)
	}
	for _, c := range commands {
		if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", c, err, out)
		}
	}
}

// packetSender returns what sends frames out of a device, once that is running: while the kernel has not taken notice of a carrier that
// has just come, as that of a tap with its first queue, it drops what is sent without a word.
func packetSender(t *testing.T, device string) func(frame []byte) {
	t.Helper()
	dev, err := net.InterfaceByName(device)
	for end := time.Now().Add(30 * time.Second); err == nil && dev.Flags&net.FlagRunning == 0; dev, err = net.InterfaceByName(device) {
		if time.Now().After(end) {
			t.Fatalf("%s is not running after 30 s", device)
		}
		time.Sleep(time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return func(frame []byte) {
		if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: dev.Index, Protocol: 0x0008}); err != nil {
			t.Fatal(err)
		}
	}
}

// datagram is a frame with a UDP datagram from a port.
func datagram(sport uint16) []byte {
	f := make([]byte, 60)
	copy(f, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
	sum := uint32(0)
	for i := 14; i < 34; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(f[i:]))
	}
	binary.BigEndian.PutUint16(f[24:], ^uint16(sum+sum>>16))
	binary.BigEndian.PutUint16(f[34:], sport)
	binary.BigEndian.PutUint16(f[36:], 7)
	binary.BigEndian.PutUint16(f[38:], 26)
	return f
}

// TestDeafLaneOnlySends: a port with fewer receive queues than there are workers is received from by the first of them alone.
func TestDeafLaneOnlySends(t *testing.T) {
	r, x := newRings(t, 2, 64, 511)
	q, err := newQueue([]lane{{port: r.ports[0], fd: -1, deaf: true}, {port: r.ports[1], fd: -1, mute: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer q.close()
	for l := range 2 {
		if err := r.Inject(l, []byte("a frame")); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []uint32{1, 0, 0} {
		if q.Turn(x); x.RxN != want || want > 0 && x.From != 1 {
			t.Fatalf("%d packets from lane %d, want %d from lane 1", x.RxN, x.From, want)
		}
		for _, m := range x.Rx[:x.RxN] {
			send(x, 0, m)
		}
	}
	if n := len(r.Sent(0)); n != 1 {
		t.Errorf("%d frames left by the deaf lane", n)
	}
}

// TestUsedUpMemoryIsSaid: drivers fail without a word when DPDK's memory is used up, so that the error says it.
func TestUsedUpMemoryIsSaid(t *testing.T) {
	fault, said := errors.New("operation not permitted"), "set `memory` higher"
	if err := because(fault); strings.Contains(err.Error(), said) {
		t.Fatalf("with memory to spare: %v", err)
	}
	for i := range 64 { // MiB that DPDK was started with: a pool takes about two
		p, err := newPool(fmt.Sprint("eater", i), 511)
		if err != nil {
			break
		}
		defer p.Free()
	}
	if err := because(fault); !errors.Is(err, fault) || !strings.Contains(err.Error(), said) {
		t.Errorf("with no memory left: %v, want %q in it", err, said)
	}
}
