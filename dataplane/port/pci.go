package port

/*
#cgo pkg-config: libdpdk
#include <rte_config.h>
#include <rte_eal.h>
#include <rte_ethdev.h>
#include "log.h"

// Queues of a NIC are as deep as it allows, up to what was wished.
static void pci_depth(uint16_t port, uint16_t *rx, uint16_t *tx) { rte_eth_dev_adjust_nb_rx_tx_desc(port, rx, tx); }

// Old virtio NICs are spoken to by I/O ports, a right that each thread must ask for and that its children inherit.
static void pci_rights(void) { rte_eal_iopl_init(); }

static int pci_link(uint16_t port, uint8_t mac[6], uint16_t *mtu)
{
	struct rte_eth_link link;
	struct rte_ether_addr addr;
	int rc;

	pci_rights();
	if ((rc = rte_eth_macaddr_get(port, &addr)) != 0 || (rc = rte_eth_dev_get_mtu(port, mtu)) != 0 || (rc = rte_eth_link_get_nowait(port, &link)) != 0)
		return rc;
	for (int i = 0; i < 6; i++)
		mac[i] = addr.addr_bytes[i];
	return link.link_status == RTE_ETH_LINK_UP;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"

	"github.com/yerden/go-dpdk/ethdev"
	"golang.org/x/sys/unix"
)

// pciDepth is how many descriptors a queue of a NIC has if the NIC allows: packets that come while a worker sleeps for a millisecond.
const pciDepth = 1024

var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)

// IsPCIAddress tells whether a word is the address of a PCI device as the kernel writes it.
func IsPCIAddress(word string) bool { return pciAddress.MatchString(word) }

// pciDrivers are the kernel's drivers under which DPDK drives a device: those that hand it over, and those that share it.
var pciDrivers = []string{"vfio-pci", "uio_pci_generic", "igb_uio", "mlx5_core", "mana"}

// CheckPCI tells what is wrong with a PCI device for DPDK, in the tree of sysfs whose root is given.
func CheckPCI(sysfs, address string) error {
	dir := filepath.Join(sysfs, "bus/pci/devices", address)
	if _, err := os.Stat(dir); err != nil {
		return fmt.Errorf("this machine has no PCI device %s", address)
	}
	driver, err := os.Readlink(filepath.Join(dir, "driver"))
	if err != nil {
		return fmt.Errorf("PCI device %s has no driver: it must be bound to vfio-pci or uio_pci_generic", address)
	}
	if name := filepath.Base(driver); !slices.Contains(pciDrivers, name) {
		return fmt.Errorf("PCI device %s belongs to the kernel's driver %s: it must be bound to vfio-pci or uio_pci_generic", address, name)
	}
	return nil
}

// openPCI opens a NIC that EAL has found on the bus.
func (p *Ports) openPCI(d Device, workers int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.pci_rights()
	found := captured() // what the drivers said when EAL looked at the bus
	port, err := ethdev.GetPortByName(d.PCI)
	if err != nil {
		if found != "" {
			found = fmt.Sprintf(" (DPDK says %q)", found)
		}
		return fmt.Errorf("PCI device %s is not driven by DPDK%s: check that it is bound to vfio-pci or uio_pci_generic and that its driver is installed", d.PCI, found)
	}
	C.log_capture()
	defer C.log_release()
	p.opened = append(p.opened, openPort{device: d.PCI, pci: true, each: workers, parts: []part{{port: port}}})
	t := &p.opened[len(p.opened)-1].parts[0]
	if t.rx, err = startPort(port, p.pool, workers, pciDepth); err != nil {
		if said := captured(); said != "" {
			err = fmt.Errorf("%w (DPDK says %q)", err, said)
		}
		return fmt.Errorf("PCI device %s cannot be opened: %w", d.PCI, err)
	}
	t.started = true
	if err := port.PromiscEnable(); errors.Is(err, unix.ENOTSUP) {
		p.notes = append(p.notes, fmt.Sprintf("port %s takes frames to its own MAC address only, as its NIC cannot be made promiscuous: "+
			"virtual MAC addresses do not work there", d.Name))
	} else if err != nil {
		return fmt.Errorf("PCI device %s cannot be made promiscuous: %w", d.PCI, err)
	}
	return nil
}

// depth returns how many descriptors a port's receive and transmit queues have, at most so many.
func depth(port ethdev.Port, most uint16) (rx, tx uint16) {
	r, t := C.uint16_t(most), C.uint16_t(most)
	C.pci_depth(C.uint16_t(port), &r, &t)
	return uint16(r), uint16(t)
}

// readPCILink asks a NIC for its link. Drivers must not be asked by two threads at once.
func (p *Ports) readPCILink(o *openPort) (Link, error) {
	p.asking.Lock()
	defer p.asking.Unlock()
	var mac [6]C.uint8_t
	var mtu C.uint16_t
	up := C.pci_link(C.uint16_t(o.parts[0].port), &mac[0], &mtu)
	if up < 0 {
		return Link{}, fmt.Errorf("PCI device %s does not tell its link: %w", o.device, unix.Errno(-up))
	}
	l := Link{Up: up == 1, MTU: int(mtu)}
	for i, b := range mac {
		l.MAC[i] = byte(b)
	}
	return l, nil
}

// Quiet stops the NICs on the bus, so that none writes into memory that is another's once the process has ended. The workers must have
// ended. Kernel devices and twins are left to the kernel, since the tap driver's own way takes twins down and management's
// routes with them.
func (p *Ports) Quiet() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.pci_rights()
	for _, o := range p.opened {
		for i := range o.parts {
			if o.pci && o.parts[i].started {
				o.parts[i].port.Stop()
				o.parts[i].started = false
			}
		}
	}
}

// Notes are sentences about what the ports cannot do.
func (p *Ports) Notes() []string { return p.notes }
