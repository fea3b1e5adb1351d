package host

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// detourMTU is small enough that a header more fits every link, and large enough for any probe.
const detourMTU = 1280

// Detour makes a device by which the kernel hands over the packets of sockets that are marked with compile.ProbeMark: reading it
// gives a packet each. What reads is to send them on. The device ends with the reader; the rule that is left leads nowhere then.
func (h *Host) Detour() (io.ReadCloser, error) {
	dev, name, err := createTun("probe%d")
	if err != nil {
		return nil, fmt.Errorf("cannot make a device for probes: %w", err)
	}
	if err := h.divert(name); err != nil {
		dev.Close()
		return nil, fmt.Errorf("the kernel cannot hand probes over: %w%s", err, remedy(err, name))
	}
	return dev, nil
}

// divert leads marked packets to a device.
func (h *Host) divert(name string) error {
	link, err := h.nl.LinkByName(name)
	if err != nil {
		return err
	}
	if err := errors.Join(sysctlIfBuilt("net/ipv6/conf/"+name+"/disable_ipv6", "1"), h.nl.LinkSetMTU(link, detourMTU), h.nl.LinkSetUp(link)); err != nil {
		return err
	}
	all := &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
	if err := h.nl.RouteReplace(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: all, Scope: netlink.SCOPE_LINK, Protocol: ourRoutes, Table: compile.ProbeMark}); err != nil {
		return fmt.Errorf("cannot add a route by %s: %w", name, err)
	}
	rule := netlink.NewRule()
	rule.Family, rule.Mark, rule.Table, rule.Priority, rule.Protocol = unix.AF_INET, compile.ProbeMark, compile.ProbeMark, compile.ProbeMark, ourRoutes
	if err := h.nl.RuleAdd(rule); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("cannot add a rule for marked packets: %w", err)
	}
	return nil
}

// createTun creates a device of whose packets its file is the other end. It lives as long as the file is open.
func createTun(pattern string) (dev *os.File, name string, err error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "", fmt.Errorf("/dev/net/tun: %w. Is the tun driver there, and may management use it?", err)
	}
	req, err := unix.NewIfreq(pattern)
	if err == nil {
		req.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req)
	}
	if err != nil {
		unix.Close(fd)
		return nil, "", err
	}
	return os.NewFile(uintptr(fd), "/dev/net/tun"), req.Name(), nil
}

// Answerable tells why the answers of a host that is not asked by a route would be refused: the kernel takes packets from addresses
// to which it has a route, whichever that is.
func (h *Host) Answerable(ip netip.Addr) error {
	if routes, err := h.nl.RouteGet(ip.AsSlice()); err != nil || len(routes) == 0 {
		return fmt.Errorf("no route to %s, without which its answers are not taken. Add a route", ip)
	}
	return nil
}
