package lease

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Keep has the port an address until ctx ends or somebody else gives it one: the address that was ours is then gone, and with it every
// reason to ask for one (ErrTaken).
func (p *Port) Keep(ctx context.Context) error {
	var ours netip.Prefix // ours alone are touched
	have, err := p.addresses()
	if err != nil {
		return fmt.Errorf("the management port %s: %w", p.Device, err)
	}
	for _, a := range have {
		if a != p.told() { // the first boot may have asked already; anything else is not ours
			return ErrTaken
		}
		ours = a
	}
	for {
		l, err := p.Acquire(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			fmt.Fprintf(p.Log, "sluice: %v\n", err)
			if ours, err = p.fallBack(ours); err != nil {
				return err
			}
			err = p.watch(ctx, ours, again)
		default:
			a, lifetime, _ := address(l)
			if ours.IsValid() && ours != a {
				p.remove(ours)
			}
			ours = a
			fmt.Fprintf(p.Log, "sluice: the management port %s has the address %s by DHCP for %v\n", p.Device, a, lifetime)
			err = p.renew(ctx, l, a)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrTaken):
			fmt.Fprintf(p.Log, "sluice: the management port %s has another address now: DHCP ends\n", p.Device)
			return errors.Join(p.tell(netip.Prefix{}), ErrTaken)
		}
	}
}

// fallBack gives the port the address of a new machine, if it has none.
func (p *Port) fallBack(ours netip.Prefix) (netip.Prefix, error) {
	have, err := p.addresses()
	if err != nil {
		return ours, fmt.Errorf("the management port %s: %w", p.Device, err)
	}
	if len(have) > 0 {
		return have[0], nil
	}
	if !p.Fallback.IsValid() {
		return ours, nil
	}
	link, err := netlink.LinkByName(p.Device)
	if err == nil {
		err = netlink.AddrReplace(link, &netlink.Addr{IPNet: ipNet(p.Fallback)})
	}
	if err != nil {
		return ours, fmt.Errorf("the management port %s: %w", p.Device, err)
	}
	fmt.Fprintf(p.Log, "sluice: the management port %s has the address %s until there is another one\n", p.Device, p.Fallback)
	return p.Fallback, p.tell(p.Fallback)
}

// renew asks for more time at half of it (RFC 2131, 4.4.5), again and again until the last eighth.
func (p *Port) renew(ctx context.Context, l *nclient4.Lease, a netip.Prefix) error {
	for {
		_, lifetime, _ := address(l)
		if err := p.watch(ctx, a, lifetime/2); err != nil {
			return err
		}
		next, err := p.once(ctx, l)
		if err != nil {
			fmt.Fprintf(p.Log, "sluice: DHCP on %s: %v\n", p.Device, err)
			return p.watch(ctx, a, lifetime/8) // then from the beginning, with anybody
		}
		link, err := netlink.LinkByName(p.Device)
		if err == nil {
			err = p.apply(link, next)
		}
		if err != nil {
			return err
		}
		if b, _, _ := address(next); b != a {
			return nil
		}
		l = next
	}
}

// once renews a lease.
func (p *Port) once(ctx context.Context, l *nclient4.Lease) (*nclient4.Lease, error) {
	c, err := nclient4.New(p.Device, nclient4.WithTimeout(oneTry), nclient4.WithRetry(retries))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Renew(ctx, l)
}

// watch waits, and looks at whether the address is still there and the only one.
func (p *Port) watch(ctx context.Context, a netip.Prefix, wait time.Duration) error {
	for end := time.Now().Add(wait); ; {
		have, err := p.addresses()
		switch {
		case err != nil:
			return fmt.Errorf("the management port %s: %w", p.Device, err)
		case a.IsValid() && !slices.Contains(have, a):
			return ErrTaken
		}
		if !time.Now().Before(end) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(look, time.Until(end))):
		}
	}
}

// remove takes an address from the port.
func (p *Port) remove(a netip.Prefix) {
	link, err := netlink.LinkByName(p.Device)
	if err == nil {
		err = netlink.AddrDel(link, &netlink.Addr{IPNet: ipNet(a)})
	}
	if err != nil && !errors.Is(err, unix.EADDRNOTAVAIL) {
		fmt.Fprintf(p.Log, "sluice: the address %s stays on %s: %v\n", a, p.Device, err)
	}
}
