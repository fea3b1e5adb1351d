package port

/*
#cgo pkg-config: libdpdk
#include <errno.h>
#include <stdlib.h>
#include <rte_config.h>
#include <rte_bus_vdev.h>
#include <rte_malloc.h>
#include "log.h"
#include "turn.h"

// How many bytes of DPDK's memory nobody has.
static size_t memory_free(void)
{
	struct rte_malloc_socket_stats s;
	size_t free = 0;

	for (unsigned int i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &s) == 0)
			free += s.heap_freesz_bytes;
	return free;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"unsafe"

	"github.com/yerden/go-dpdk/ethdev"
	"github.com/yerden/go-dpdk/mempool"
	"golang.org/x/sys/unix"
)

// Device is a port of the appliance: a NIC and its twin, the tap that is the kernel's side of the same port.
type Device struct {
	Name   string // the operator's name, e.g. "1/1"
	Device string // kernel network device, e.g. "da"; empty for one on the PCI bus
	PCI    string // instead: address of a NIC that DPDK drives itself, e.g. "0000:00:04.0"
	Twin   string // tap, e.g. "tw0": created beforehand by management, since one made by DPDK vanishes with it
}

// scarce is how many bytes an af_packet device of 16 workers may want in vain: 64 KiB a queue, and as much for gaps between pieces. By
// the time that its driver has failed it has given back what it had.
const scarce = 2 << 20

// maxMTU is what an af_packet frame of 2048 bytes can hold besides its header, an Ethernet header and two tags.
const maxMTU = 1960

// Ports are the open ports of the dataplane.
type Ports struct {
	devices []Device
	opened  []openPort // two a device: NIC, twin
	pool    *mempool.Mempool
	buffers int // in the pool
	queues  []*dpdkQueue
	notes   []string
	asking  sync.Mutex // a driver on the bus is asked
}

// openPort is a device that is open: as one DPDK port, or a twin of many workers as several.
type openPort struct {
	device  string // of the kernel, or its PCI address
	ifindex int    // 0 on the PCI bus
	pci     bool
	twin    bool
	parts   []part
	each    int    // workers that a part serves, each with a queue
	missed  uint64 // packets that the kernel has dropped for want of room
}

// part is a DPDK port on a kernel device.
type part struct {
	vdev    string // "" of a NIC on the PCI bus
	port    ethdev.Port
	started bool
	rx      int   // receive queues
	fds     []int // of its queues, in their order: to sleep on, and for the kernel's own counters
}

// tapQueues is how many queues a DPDK port on a tap may have. At its start the driver writes the descriptors of both directions of all
// queues into a message that has room for 8 (RTE_MP_MAX_FD_NUM), and beyond it into the stack.
const tapQueues = 4

// Open opens the devices with one queue for each worker, that is for each of DPDK's lcores. Where a driver has fewer receive
// queues the first workers receive for all and hand over what is not theirs. DPDK must have been started with s, all devices and twins must exist. An error is one sentence that names the device and says what to do.
func Open(devices []Device, s *EALSettings) (*Ports, error) {
	workers := len(s.Lcores)
	if len(devices) == 0 || 2*len(devices) > MaxLanes {
		return nil, fmt.Errorf("the dataplane needs 1 to %d ports, not %d: see `ports`", MaxLanes/2, len(devices))
	}
	n, err := poolSize(s.MemoryMB, s.Huge)
	if err != nil {
		return nil, err
	}
	p := &Ports{devices: devices, buffers: int(n)}
	if p.pool, err = newPool("packets", n); err != nil {
		return nil, err
	}
	for i, d := range devices {
		if err := p.open(i, d, workers); err != nil {
			p.Close()
			return nil, fmt.Errorf("port %s: %w", d.Name, err)
		}
	}
	for w := range workers {
		q, err := newQueue(p.lanes(w))
		if err != nil {
			p.Close()
			return nil, err
		}
		q.stock(p.pool)
		p.queues = append(p.queues, q)
	}
	return p, nil
}

// open opens the NIC and the twin of one device.
func (p *Ports) open(i int, d Device, workers int) error {
	if d.PCI != "" {
		if err := p.openPCI(d, workers); err != nil {
			return err
		}
	} else if err := p.openDevice(i, d, workers); err != nil {
		return err
	}
	l, err := p.Link(i)
	if err != nil {
		return err
	}
	return p.openTwin(i, d, l, workers)
}

// openDevice opens a NIC that is the kernel's.
func (p *Ports) openDevice(i int, d Device, workers int) error {
	nic, err := net.InterfaceByName(d.Device)
	if err != nil {
		return fmt.Errorf("device %s does not exist: create it or correct `ports`", d.Device)
	}
	if nic.MTU > maxMTU {
		return fmt.Errorf("device %s has an MTU of %d bytes and %d are the most: `ip link set %s mtu 1500`", d.Device, nic.MTU, maxMTU, d.Device)
	}
	splitPackets(d.Device)
	args := fmt.Sprintf("iface=%s,blocksz=65536,framesz=2048,framecnt=2048,qdisc_bypass=1", d.Device)
	if workers > 1 {
		args += ",qpairs=" + strconv.Itoa(workers)
	}
	o := p.add(nic, workers)
	if err := p.attach(o, fmt.Sprintf("net_af_packet%d", i), args); err != nil {
		return fmt.Errorf("device %s cannot be opened: run as root and check that it is an Ethernet device: %w", d.Device, err)
	}
	return nil
}

// openTwin opens the twin of a NIC, with its MAC address and MTU.
func (p *Ports) openTwin(i int, d Device, nic Link, workers int) error {
	twin, err := net.InterfaceByName(d.Twin)
	if err != nil {
		return fmt.Errorf("twin %s does not exist: `ip tuntap add dev %s mode tap multi_queue` or start management", d.Twin, d.Twin)
	}
	args := fmt.Sprintf("iface=%s,mac=%s", d.Twin, net.HardwareAddr(nic.MAC[:]))
	o := p.add(twin, min(workers, tapQueues))
	for first := 0; first < workers; first += o.each {
		if err := p.attach(o, fmt.Sprintf("net_tap%d", i+len(o.parts)*MaxLanes), args); err != nil {
			return fmt.Errorf("twin %s cannot be opened: it must be a tap made with multi_queue that no other program has open: %w", d.Twin, err)
		}
	}
	// The driver gives every tap an MTU of 1500; the kernel must not send more through the twin than the NIC takes.
	for _, t := range o.parts {
		if nic.MTU == 1500 {
			break
		}
		if err := t.port.SetMTU(uint16(nic.MTU)); err != nil {
			return fmt.Errorf("twin %s does not take the MTU %d of port %s: %w", d.Twin, nic.MTU, d.Name, err)
		}
	}
	return nil
}

// add appends a device, each of whose parts will serve so many workers. The next add may move it.
func (p *Ports) add(dev *net.Interface, each int) *openPort {
	p.opened = append(p.opened, openPort{device: dev.Name, ifindex: dev.Index, twin: len(p.opened)%2 == 1, each: each})
	return &p.opened[len(p.opened)-1]
}

// attach makes a DPDK port of a kernel device, its next part, and starts it.
func (p *Ports) attach(o *openPort, vdev, args string) error {
	C.log_capture()
	defer C.log_release()
	name, carg := C.CString(vdev), C.CString(args)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(carg))
	others := o.descriptors()
	if rc := C.rte_vdev_init(name, carg); rc < 0 {
		return because(unix.Errno(-rc))
	}
	o.parts = append(o.parts, part{vdev: vdev})
	t := &o.parts[len(o.parts)-1]
	var err error
	if t.port, err = ethdev.GetPortByName(vdev); err != nil {
		return because(err)
	}
	if t.rx, err = startPort(t.port, p.pool, o.each, 0); err != nil {
		return because(err)
	}
	t.started = true
	t.fds = slices.DeleteFunc(o.descriptors(), func(fd int) bool { return slices.Contains(others, fd) })
	if o.twin && len(t.fds) > 0 {
		t.fds = t.fds[1:] // the first one keeps the tap attached and gets no packets
	}
	if err := t.port.PromiscEnable(); err != nil {
		return fmt.Errorf("it cannot be made promiscuous: %w", because(err))
	}
	return nil
}

// descriptors are those of all parts, ascending.
func (o *openPort) descriptors() []int {
	if o.twin {
		return tapDescriptors(o.device)
	}
	return packetDescriptors(o.ifindex)
}

// because adds what DPDK has logged to an error, or that its memory is used up, which drivers do not say.
func because(err error) error {
	if free := C.memory_free(); free < scarce {
		return fmt.Errorf("%w (DPDK has only %d KiB of memory left: set `memory` higher)", err, free>>10)
	}
	if said := captured(); said != "" {
		return fmt.Errorf("%w (DPDK says %q)", err, said)
	}
	return err
}

// lanes lists a worker's lanes with their descriptors.
func (p *Ports) lanes(worker int) []lane {
	var ls []lane
	for i := range p.opened {
		o := &p.opened[i]
		t, index, fd := &o.parts[worker/o.each], worker%o.each, -1
		// A queue of a tap has two descriptors, one for each direction, which are of one file.
		if n := len(t.fds) / o.each; n > 0 {
			fd = t.fds[index*n]
		}
		ls = append(ls, lane{port: t.port, index: index, fd: fd, deaf: index >= t.rx})
	}
	return ls
}

// Queue returns a worker's queue.
func (p *Ports) Queue(worker int) Queue { return p.queues[worker] }

// Devices returns the devices in the order of their ports.
func (p *Ports) Devices() []Device { return p.devices }

// PoolFree returns the number of packet buffers that nobody holds.
func (p *Ports) PoolFree() int { return p.pool.AvailCount() }

// Buffers returns how many packet buffers there are and how many of them nobody holds.
func (p *Ports) Buffers() (all, free int) { return p.buffers, p.pool.AvailCount() }

// Close stops and closes the ports. The workers must have ended.
func (p *Ports) Close() {
	for _, q := range p.queues {
		q.close()
	}
	for _, o := range p.opened {
		for _, t := range o.parts {
			if t.started {
				t.port.Stop()
			}
			if o.pci {
				t.port.Close()
				continue
			}
			name := C.CString(t.vdev)
			C.rte_vdev_uninit(name)
			C.free(unsafe.Pointer(name))
		}
	}
	p.opened, p.queues = nil, nil
	p.pool.Free()
}

// Link is the state of a port's link.
type Link struct {
	Up  bool
	MTU int // bytes
	MAC [6]byte
}

// ErrReplaced tells that a device is another one now than when it was opened: the dataplane must start over to use it.
var ErrReplaced = errors.New("the device has been replaced since the dataplane opened it")

// Link reads the state of port i's NIC. A device that has vanished is a link that is down; one that came back under
// the same name is ErrReplaced, since its old descriptor is dead.
func (p *Ports) Link(i int) (Link, error) {
	if o := &p.opened[NICLane(i)]; o.pci {
		return p.readPCILink(o)
	}
	return readLink(p.opened[NICLane(i)])
}

// TwinLink reads the state of port i's twin.
func (p *Ports) TwinLink(i int) (Link, error) { return readLink(p.opened[TwinLane(i)]) }

func readLink(o openPort) (Link, error) {
	dev, err := net.InterfaceByName(o.device)
	if err != nil {
		return Link{}, nil
	}
	if dev.Index != o.ifindex {
		return Link{}, fmt.Errorf("%s: %w", o.device, ErrReplaced)
	}
	l := Link{Up: dev.Flags&net.FlagUp != 0 && dev.Flags&net.FlagRunning != 0, MTU: dev.MTU}
	copy(l.MAC[:], dev.HardwareAddr)
	return l, nil
}

// Counters reads what DPDK has counted at port i's NIC and twin, and what the kernel could not hand over for want of room,
// which DPDK's af_packet driver does not ask for. One goroutine calls it at a time.
func (p *Ports) Counters(i int) (nic, twin ethdev.GoStats, err error) {
	if nic, err = p.opened[NICLane(i)].counters(); err != nil {
		return
	}
	nic.Imissed += p.opened[NICLane(i)].lost()
	twin, err = p.opened[TwinLane(i)].counters()
	return
}

// counters adds up what DPDK has counted at the parts.
func (o *openPort) counters() (sum ethdev.GoStats, err error) {
	for _, t := range o.parts {
		var s ethdev.Stats
		if err := t.port.StatsGet(&s); err != nil {
			return sum, err
		}
		c := s.Cast()
		sum.Ipackets, sum.Opackets = sum.Ipackets+c.Ipackets, sum.Opackets+c.Opackets
		sum.Ibytes, sum.Obytes = sum.Ibytes+c.Ibytes, sum.Obytes+c.Obytes
		sum.Imissed, sum.Ierrors = sum.Imissed+c.Imissed, sum.Ierrors+c.Ierrors
		sum.Oerrors, sum.RxNoMbuf = sum.Oerrors+c.Oerrors, sum.RxNoMbuf+c.RxNoMbuf
	}
	return sum, nil
}

// lost is how many packets the kernel has dropped because the worker was slower than the device. The kernel forgets them when
// they are read.
func (o *openPort) lost() uint64 {
	for _, fd := range o.parts[0].fds {
		if s, err := unix.GetsockoptTpacketStats(fd, unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
			o.missed += uint64(s.Drops)
		}
	}
	return o.missed
}
