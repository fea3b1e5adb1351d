// Package lease gives the management port an address by DHCP, or the one of a new machine, as long as nobody has configured an NSIP.
package lease

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Port is the management port whose address is kept.
type Port struct {
	Device   string
	Fallback netip.Prefix // while no server answers
	State    string       // file that tells the address
	Resolv   string       // file of name servers; none if empty
	Log      io.Writer
}

const (
	oneTry   = 4 * time.Second // for an answer
	retries  = 3
	again    = time.Minute     // between attempts while no server answers
	look     = 2 * time.Second // at whether the address is still there
	shortest = time.Minute     // of leases: a server that says less would be asked all the time
	metric   = 1024            // of the default route, behind any of a configuration
)

// ErrTaken says that somebody else has given the port an address, which holds.
var ErrTaken = errors.New("the port has an address of its own")

// Acquire asks for an address once and gives it to the port.
func (p *Port) Acquire(ctx context.Context) (*nclient4.Lease, error) {
	link, err := p.up()
	if err != nil {
		return nil, err
	}
	c, err := nclient4.New(p.Device, nclient4.WithTimeout(oneTry), nclient4.WithRetry(retries))
	if err != nil {
		return nil, fmt.Errorf("DHCP on %s: %w", p.Device, err)
	}
	defer c.Close()
	l, err := c.Request(ctx, dhcpv4.WithRequestedOptions(dhcpv4.OptionRouter, dhcpv4.OptionDomainNameServer))
	if err != nil {
		return nil, fmt.Errorf("no DHCP server has answered on %s: %w", p.Device, err)
	}
	return l, p.apply(link, l)
}

// up readies the port.
func (p *Port) up() (netlink.Link, error) {
	link, err := netlink.LinkByName(p.Device)
	if err == nil && link.Attrs().RawFlags&unix.IFF_UP == 0 {
		err = netlink.LinkSetUp(link)
	}
	if err != nil {
		return nil, fmt.Errorf("the management port %s: %w", p.Device, err)
	}
	for end := time.Now().Add(oneTry); time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // for the link, if there is one
		if l, err := netlink.LinkByName(p.Device); err == nil && (l.Attrs().OperState == netlink.OperUp || l.Attrs().OperState == netlink.OperUnknown) {
			break
		}
	}
	return link, nil
}

// address is the one of a lease.
func address(l *nclient4.Lease) (p netip.Prefix, lifetime time.Duration, err error) {
	ip, ok := netip.AddrFromSlice(l.ACK.YourIPAddr.To4())
	if !ok || !ip.IsGlobalUnicast() && !ip.IsLinkLocalUnicast() {
		return p, 0, fmt.Errorf("the DHCP server has given no address that can be used")
	}
	bits, _ := l.ACK.SubnetMask().Size()
	if bits == 0 {
		bits = 24 // as without any mask
	}
	return netip.PrefixFrom(ip, bits), max(l.ACK.IPAddressLeaseTime(time.Hour), shortest), nil
}

// apply gives the port what was leased, for as long.
func (p *Port) apply(link netlink.Link, l *nclient4.Lease) error {
	a, lifetime, err := address(l)
	if err != nil {
		return err
	}
	seconds := int(min(lifetime/time.Second, 1<<31-2))
	err = netlink.AddrReplace(link, &netlink.Addr{IPNet: ipNet(a), ValidLft: seconds, PreferedLft: seconds})
	if err != nil {
		return fmt.Errorf("the management port %s cannot have the leased address %s: %w", p.Device, a, err)
	}
	for _, gw := range l.ACK.Router()[:min(1, len(l.ACK.Router()))] {
		err = netlink.RouteReplace(&netlink.Route{LinkIndex: link.Attrs().Index, Gw: gw, Priority: metric, Protocol: unix.RTPROT_DHCP})
		if err != nil {
			fmt.Fprintf(p.Log, "sluice: the gateway %s that DHCP says cannot be used: %v\n", gw, err)
		}
	}
	if dns := l.ACK.DNS(); len(dns) > 0 && p.Resolv != "" {
		var text strings.Builder
		for _, d := range dns[:min(3, len(dns))] {
			fmt.Fprintf(&text, "nameserver %s\n", d)
		}
		if err := os.WriteFile(p.Resolv, []byte(text.String()), 0o644); err != nil {
			fmt.Fprintf(p.Log, "sluice: the name servers that DHCP says are not kept: %v\n", err)
		}
	}
	return p.tell(a)
}

// tell writes the address down for the console.
func (p *Port) tell(a netip.Prefix) error {
	if p.State == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(p.State), 0o755); err != nil {
		return err
	}
	if !a.IsValid() {
		if err := os.Remove(p.State); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	return os.WriteFile(p.State, []byte(a.String()+"\n"), 0o644)
}

// told is what tell has written down last.
func (p *Port) told() netip.Prefix {
	text, err := os.ReadFile(p.State)
	if err != nil {
		return netip.Prefix{}
	}
	a, _ := netip.ParsePrefix(strings.TrimSpace(string(text)))
	return a
}

// addresses are those of the port.
func (p *Port) addresses() (all []netip.Prefix, err error) {
	link, err := netlink.LinkByName(p.Device)
	if err != nil {
		return nil, err
	}
	have, err := netlink.AddrList(link, netlink.FAMILY_V4)
	for _, a := range have {
		if ip, ok := netip.AddrFromSlice(a.IP.To4()); ok {
			bits, _ := a.Mask.Size()
			all = append(all, netip.PrefixFrom(ip, bits))
		}
	}
	return all, err
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), 32)}
}
