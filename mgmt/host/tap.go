package host

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// queueLen is how many packets of the kernel may wait in a twin for the dataplane.
const queueLen = 1000

// applyTwin readies the twin of a port: a persistent multi-queue tap with the device's link address and MTU, up. dev is
// the port's device, or nil; then the dataplane gives the tap its link address.
func (h *Host) applyTwin(p compile.Port, dev netlink.Link) (netlink.Link, error) {
	twin, err := h.link(p.Twin)
	if err != nil {
		return nil, fmt.Errorf("port %s: twin %s: %w", p.Name, p.Twin, err)
	}
	if twin, err = h.ensureTap(p, twin); err != nil {
		return nil, err
	}
	var errs []error
	errs = append(errs, twinSysctls(p.Twin))
	now := twin.Attrs()
	if dev != nil {
		if mac := dev.Attrs().HardwareAddr; len(mac) == 6 && !bytes.Equal(mac, now.HardwareAddr) {
			errs = append(errs, h.nl.LinkSetHardwareAddr(twin, mac))
		}
		if mtu := dev.Attrs().MTU; mtu != now.MTU {
			errs = append(errs, h.nl.LinkSetMTU(twin, mtu))
		}
	}
	if now.TxQLen != queueLen {
		errs = append(errs, h.nl.LinkSetTxQLen(twin, queueLen))
	}
	if now.RawFlags&unix.IFF_UP == 0 {
		errs = append(errs, h.nl.LinkSetUp(twin))
	}
	if err := errors.Join(errs...); err != nil {
		return twin, fmt.Errorf("port %s: twin %s: %w", p.Name, p.Twin, err)
	}
	return twin, nil
}

// ensureTap creates the tap unless it is there and as it must be. found is what has the twin's name, or nil.
func (h *Host) ensureTap(p compile.Port, found netlink.Link) (netlink.Link, error) {
	if found != nil {
		tap, ok := found.(*netlink.Tuntap)
		if !ok || tap.Mode != netlink.TUNTAP_MODE_TAP || tap.Flags&netlink.TUNTAP_MULTI_QUEUE == 0 {
			return nil, fmt.Errorf("port %s: twin %s exists and is no multi-queue tap. Remove it (ip link delete %s) or name another twin in the settings",
				p.Name, p.Twin, p.Twin)
		}
		if !tap.NonPersist {
			return found, nil
		}
	}
	if err := createTap(p.Twin); err != nil {
		return nil, fmt.Errorf("port %s: cannot create twin %s: %w", p.Name, p.Twin, err)
	}
	twin, err := h.nl.LinkByName(p.Twin)
	if err != nil {
		return nil, fmt.Errorf("port %s: twin %s: %w", p.Name, p.Twin, err)
	}
	return twin, nil
}

// createTap creates a tap that outlives us and the dataplane. A tap that is there and not persistent becomes so.
func createTap(name string) error {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("/dev/net/tun: %w. Is the tun driver there, and may management use it?", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq(name)
	if err != nil {
		return fmt.Errorf("%q is no name of a link: %w", name, err)
	}
	req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | unix.IFF_MULTI_QUEUE)
	if err := unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		return err
	}
	return unix.IoctlSetInt(fd, unix.TUNSETPERSIST, 1)
}
