package ethdev

/*
#cgo pkg-config: libdpdk
#include <stdint.h>
#include <stdlib.h>
#include <rte_ethdev.h>

// struct rte_eth_link is made of bit fields, which Go cannot read.
struct go_rte_eth_link {
	uint32_t speed;
	uint8_t duplex, autoneg, status;
};

static int link_get_nowait(uint16_t port, struct go_rte_eth_link *out) {
	struct rte_eth_link l;
	int rc = rte_eth_link_get_nowait(port, &l);
	if (rc == 0) {
		out->speed = l.link_speed;
		out->duplex = l.link_duplex;
		out->autoneg = l.link_autoneg;
		out->status = l.link_status;
	}
	return rc;
}
*/
import "C"

import (
	"fmt"
	"net"
	"syscall"
	"unsafe"
)

// Port is an Ethernet port's number in DPDK.
type Port uint16

func (pid Port) c() C.uint16_t { return C.uint16_t(pid) }

// failed makes an error of a negative errno that an ethdev call has returned.
func (pid Port) failed(what string, rc C.int) error {
	if rc >= 0 {
		return nil
	}
	return fmt.Errorf("port %d: %s: %w", pid, what, syscall.Errno(-rc))
}

// CountAvail returns how many ports there are.
func CountAvail() int { return int(C.rte_eth_dev_count_avail()) }

// ValidPorts returns the ports that nobody owns, ascending.
func ValidPorts() []Port {
	var ports []Port
	for p := C.rte_eth_find_next_owned_by(0, C.RTE_ETH_DEV_NO_OWNER); p < C.RTE_MAX_ETHPORTS; p = C.rte_eth_find_next_owned_by(C.uint16_t(p+1), C.RTE_ETH_DEV_NO_OWNER) {
		ports = append(ports, Port(p))
	}
	return ports
}

// GetPortByName returns the port of a device, e.g. "net_tap0".
func GetPortByName(name string) (Port, error) {
	cname := C.CString(name)
	defer C.free(unsafe.Pointer(cname))
	var id C.uint16_t
	if rc := C.rte_eth_dev_get_port_by_name(cname, &id); rc != 0 {
		return 0, fmt.Errorf("port %q: %w", name, syscall.Errno(-rc))
	}
	return Port(id), nil
}

// Start starts the port: its queues must be set up.
func (pid Port) Start() error { return pid.failed("starting", C.rte_eth_dev_start(pid.c())) }

// Stop stops the port; it can be started again.
func (pid Port) Stop() { C.rte_eth_dev_stop(pid.c()) }

// Close closes the port for good. It must be stopped.
func (pid Port) Close() { C.rte_eth_dev_close(pid.c()) }

// Reset brings the port back to the state it had before DevConfigure.
func (pid Port) Reset() error { return pid.failed("resetting", C.rte_eth_dev_reset(pid.c())) }

// PromiscEnable has the port receive frames for every destination.
func (pid Port) PromiscEnable() error {
	return pid.failed("entering promiscuous mode", C.rte_eth_promiscuous_enable(pid.c()))
}

// PromiscDisable has the port receive frames for its own addresses only.
func (pid Port) PromiscDisable() error {
	return pid.failed("leaving promiscuous mode", C.rte_eth_promiscuous_disable(pid.c()))
}

// GetMTU returns the port's MTU in bytes.
func (pid Port) GetMTU() (uint16, error) {
	var mtu C.uint16_t
	err := pid.failed("reading the MTU", C.rte_eth_dev_get_mtu(pid.c(), &mtu))
	return uint16(mtu), err
}

// SetMTU sets the port's MTU in bytes.
func (pid Port) SetMTU(mtu uint16) error {
	return pid.failed(fmt.Sprintf("setting MTU %d", mtu), C.rte_eth_dev_set_mtu(pid.c(), C.uint16_t(mtu)))
}

// MACAddr is an Ethernet address.
type MACAddr C.struct_rte_ether_addr

// HardwareAddr returns a copy of the address.
func (addr *MACAddr) HardwareAddr() net.HardwareAddr {
	mac := make(net.HardwareAddr, len(addr.addr_bytes))
	for i, b := range addr.addr_bytes {
		mac[i] = byte(b)
	}
	return mac
}

// String writes the address as six pairs of hexadecimal digits with colons.
func (addr *MACAddr) String() string { return addr.HardwareAddr().String() }

// MACAddrGet reads the port's address.
func (pid Port) MACAddrGet(addr *MACAddr) error {
	return pid.failed("reading the MAC address", C.rte_eth_macaddr_get(pid.c(), (*C.struct_rte_ether_addr)(addr)))
}

// EthLink is the state of a port's link.
type EthLink C.struct_go_rte_eth_link

// AutoNeg tells whether the speed was negotiated.
func (link *EthLink) AutoNeg() bool { return link.autoneg != 0 }

// Duplex tells whether the link is full duplex.
func (link *EthLink) Duplex() bool { return link.duplex != 0 }

// Speed returns the link's speed in Mbit/s.
func (link *EthLink) Speed() uint32 { return uint32(link.speed) }

// Status tells whether the link is up.
func (link *EthLink) Status() bool { return link.status != 0 }

// EthLinkGetNowait reads the link's state without waiting for a negotiation to end.
func (pid Port) EthLinkGetNowait() (EthLink, error) {
	var link EthLink
	err := pid.failed("reading the link", C.link_get_nowait(pid.c(), (*C.struct_go_rte_eth_link)(&link)))
	return link, err
}

// DevInfo tells what a port and its driver can do.
type DevInfo C.struct_rte_eth_dev_info

// InfoGet reads what the port can do.
func (pid Port) InfoGet(info *DevInfo) error {
	return pid.failed("reading the device's info", C.rte_eth_dev_info_get(pid.c(), (*C.struct_rte_eth_dev_info)(info)))
}

// MaxMTU returns the largest MTU in bytes that the port can take.
func (info *DevInfo) MaxMTU() uint16 { return uint16(info.max_mtu) }

// DriverName returns the driver's name, e.g. "net_af_packet".
func (info *DevInfo) DriverName() string { return C.GoString(info.driver_name) }
