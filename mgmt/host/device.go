package host

import (
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// tables are the names of our nftables table, of family netdev: one of the two is there. See silence.
var tables = [2]string{"sluice", "sluice-2"}

// applyDevice readies the kernel's device of a port: up, and without addresses of its own, since the port's addresses
// live on its twin. It returns nil for a port that is no kernel device.
func (h *Host) applyDevice(p compile.Port) (netlink.Link, error) {
	if p.Device == "" {
		return nil, nil
	}
	dev, err := h.link(p.Device)
	if err != nil {
		return nil, fmt.Errorf("port %s: device %s: %w", p.Name, p.Device, err)
	}
	if dev == nil {
		return nil, fmt.Errorf("port %s: device %s does not exist. Check `ports` in the settings, or connect the card", p.Name, p.Device)
	}
	var errs []error
	errs = append(errs, sysctlIfBuilt("net/ipv6/conf/"+p.Device+"/disable_ipv6", "1"))
	addrs, err := h.nl.AddrList(dev, netlink.FAMILY_V4)
	errs = append(errs, err)
	for _, a := range addrs {
		h.log.Warn("address removed: the addresses of a port live on its twin", "port", p.Name, "device", p.Device, "address", a.IPNet.String())
		errs = append(errs, h.nl.AddrDel(dev, &a))
	}
	errs = append(errs, receiveUnmerged(p.Device))
	if dev.Attrs().RawFlags&unix.IFF_UP == 0 {
		errs = append(errs, h.nl.LinkSetUp(dev))
	}
	if err := errors.Join(errs...); err != nil {
		return dev, fmt.Errorf("port %s: device %s: %w", p.Name, p.Device, err)
	}
	return dev, nil
}

// receiveUnmerged turns off what merges received packets into larger ones (GRO, LRO): the dataplane must see packets
// as they were on the wire, no longer than the MTU. A device that cannot merge is fine.
func receiveUnmerged(device string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	const lro = 1 << 15 // ETH_FLAG_LRO
	if _, err := ethtool(fd, device, unix.ETHTOOL_SGRO, 0); err != nil && !cannot(err) {
		return fmt.Errorf("cannot turn off generic receive offload: %w", err)
	}
	flags, err := ethtool(fd, device, unix.ETHTOOL_GFLAGS, 0)
	if err == nil && flags&lro != 0 {
		_, err = ethtool(fd, device, unix.ETHTOOL_SFLAGS, flags&^lro)
	}
	if err != nil && !cannot(err) {
		return fmt.Errorf("cannot turn off large receive offload: %w", err)
	}
	return nil
}

func cannot(err error) bool { return errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EINVAL) }

// ethtool gets or sets one value of a device.
func ethtool(fd int, device string, command, value uint32) (uint32, error) {
	v := [2]uint32{command, value} // struct ethtool_value
	req, err := unix.NewIfreq(device)
	if err != nil {
		return 0, err
	}
	// struct ifreq with a pointer in its union.
	var raw struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(raw.name[:], req.Name())
	raw.data = unsafe.Pointer(&v)
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&raw)))
	if errno != 0 {
		return 0, errno
	}
	return v[1], nil
}

// silence has the kernel drop what it receives on the devices, after the dataplane has its copy (AF_PACKET comes before
// the ingress hook): otherwise every ping would be answered twice, and a server's packet that the kernel sees is reset. When
// something is amiss a second table is made before the first one goes: in a transaction that replaces a table the kernel lets
// a packet in now and then, and one is enough to end a connection.
func (h *Host) silence() error {
	devices := map[string]int{}
	for _, p := range h.ports {
		if p.Device == "" {
			continue
		}
		if dev, err := h.link(p.Device); err == nil && dev != nil {
			devices[p.Device] = dev.Attrs().Index
		}
	}
	if len(devices) == 0 && len(h.silenced) == 0 && !slices.ContainsFunc(h.ports, func(p compile.Port) bool { return p.Device != "" }) {
		return nil // no port is a kernel device, on a kernel that may not have nftables
	}
	conn, err := nftables.New()
	if err != nil {
		return fmt.Errorf("cannot reach nftables: %w", err)
	}
	there := tablesThere(conn)
	if there[0] != there[1] && h.isSilent(conn, devices) {
		return nil
	}
	next, before := tables[0], tables[1]
	if there[0] && !there[1] {
		next, before = before, next
	}
	remove(conn, next) // of a management that ended between the two steps
	t := conn.AddTable(&nftables.Table{Name: next, Family: nftables.TableFamilyNetdev})
	drop := nftables.ChainPolicyDrop
	for name := range devices {
		conn.AddChain(&nftables.Chain{
			Name: chainOf(name), Table: t, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookIngress,
			Priority: nftables.ChainPriorityFirst, Policy: &drop, Device: name,
		})
	}
	err = conn.Flush()
	if err == nil {
		remove(conn, before)
		err = conn.Flush()
	}
	if err != nil {
		return fmt.Errorf("cannot silence the kernel on the ports (nftables table netdev %s): %w. "+
			"Does the kernel have nf_tables with netdev ingress?", next, err)
	}
	h.silenced = devices
	return nil
}

// remove deletes a table with the next Flush, whether it is there or not.
func remove(conn *nftables.Conn, table string) {
	t := &nftables.Table{Name: table, Family: nftables.TableFamilyNetdev}
	conn.AddTable(t) // so that there is one to delete
	conn.DelTable(t)
}

// tablesThere tells which of our tables the kernel has.
func tablesThere(conn *nftables.Conn) (there [2]bool) {
	list, err := conn.ListTablesOfFamily(nftables.TableFamilyNetdev)
	if err != nil {
		return there // Flush will say what is wrong
	}
	for _, t := range list {
		for i, name := range tables {
			there[i] = there[i] || t.Name == name
		}
	}
	return there
}

// isSilent tells whether our table is as it was made here for these very devices.
func (h *Host) isSilent(conn *nftables.Conn, devices map[string]int) bool {
	chains, err := conn.ListChainsOfTableFamily(nftables.TableFamilyNetdev)
	if err != nil || len(devices) != len(h.silenced) {
		return false
	}
	found := map[string]bool{}
	for _, c := range chains {
		if slices.Contains(tables[:], c.Table.Name) && c.Policy != nil && *c.Policy == nftables.ChainPolicyDrop {
			found[c.Name] = true
		}
	}
	for name, index := range devices {
		if !found[chainOf(name)] || h.silenced[name] != index {
			return false
		}
	}
	return true
}

func chainOf(device string) string { return "ingress-" + device }
