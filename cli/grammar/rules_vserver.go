package grammar

import (
	"net/netip"
	"strconv"

	"sluice/vendor-config/schema"
)

// prepareVserver takes 0.0.0.0 0 for a vserver that is not addressed and 0.0.0.0 with a port for *, and creates the VIPs that
// the addresses need.
func prepareVserver(c *schema.Config, v *schema.LBVserver) error {
	if v.NewServiceRequest == 0 {
		v.NewServiceRequestUnit = "PER_SECOND" // of nothing there is no unit, and none is written
	}
	if v.IPAddress == netip.IPv4Unspecified() {
		if v.IPAddress = (netip.Addr{}); v.Port != 0 {
			v.IPAddress = schema.AnyAddress
		}
	}
	if err := modeChanged(c, v); err != nil {
		return err
	}
	if checkRange(v) != nil {
		return nil // checkVserver has a word on it
	}
	for ip := range v.VIPs() {
		if !schema.Unicast(ip) || schema.Get[schema.NSIP](c, ip.String()) != nil {
			continue // checkVserver has a word on it
		}
		vip := schema.Of[schema.NSIP]().Fresh().(*schema.NSIP)
		vip.IPAddress, vip.Netmask, vip.Type = ip, netip.AddrFrom4([4]byte{255, 255, 255, 255}), "VIP"
		if err := put(c, schema.Of[schema.NSIP](), vip); err != nil {
			return err
		}
	}
	return nil
}

func checkVserver(c *schema.Config, v *schema.LBVserver) error {
	if err := checkSpillover(c, v); err != nil {
		return err
	}
	switch n := bits(v.Netmask); {
	case n < 1:
		return badMask("netmask", v.Netmask)
	case n != 32 && v.LBMethod != "SOURCEIPHASH" && v.LBMethod != "DESTINATIONIPHASH":
		return schema.Refuse(schema.NoPrereq, "netmask", v.Netmask.String()).
			Because("it is for the methods SOURCEIPHASH and DESTINATIONIPHASH; with " + v.LBMethod + " give -netmask 255.255.255.255")
	}
	if err := checkPersistence(v); err != nil {
		return err
	}
	if err := checkToken(v); err != nil {
		return err
	}
	if err := checkMode(v); err != nil {
		return err
	}
	if err := checkPattern(v); err != nil {
		return err
	}
	if err := checkListening(v); err != nil {
		return err
	}
	if !v.IPAddress.IsValid() && !v.Foreign() && v.Port != 0 {
		return schema.Refuse(schema.Missing, "IPAddress")
	}
	if err := checkRange(v); err != nil {
		return err
	}
	for ip := range v.VIPs() {
		if err := checkVIP(c, ip); err != nil {
			return err
		}
	}
	return nil
}

// checkVIP: a vserver may listen on the address.
func checkVIP(c *schema.Config, a netip.Addr) error {
	if !schema.Unicast(a) {
		return schema.Refuse(schema.BadAddress, "IPAddress", a.String()).Because("a VIP is an address of a host; 0.0.0.0 0 is a vserver that is not addressed")
	}
	ip := schema.Get[schema.NSIP](c, a.String())
	switch {
	case ip == nil:
		return schema.Refuse(schema.NoSuchRow, "IPAddress", a.String()).Because("no ns ip has the address")
	case ip.Type != "VIP":
		return schema.Refuse(schema.NotPermitted, a.String()).Because("it is a " + ip.Type + "; give the vserver an address of its own")
	case ip.VServer == "DISABLED":
		return schema.Refuse(schema.NotPermitted, a.String()).Because("its vServer option is DISABLED")
	}
	return nil
}

// checkRange: several addresses begin with one and stay among those of hosts. The reference product lets the last octet go on
// with 0 after 255, into the next network of 256 addresses, and so does this one.
func checkRange(v *schema.LBVserver) error {
	switch {
	case v.Range <= 1 || !v.IPAddress.IsValid() && !v.Foreign():
		return nil
	case v.Foreign():
		return schema.Refuse(schema.BadArgument, "range", strconv.Itoa(int(v.Range))).Because("a range begins with an IPAddress, and the vserver is on " + v.Place())
	}
	for ip := range v.VIPs() {
		if !schema.Unicast(ip) {
			return schema.Refuse(schema.OutOfRange, "range", strconv.Itoa(int(v.Range))).Because("from " + v.IPAddress.String() + " on it ends beyond the addresses of hosts")
		}
	}
	return nil
}

// checkPattern: a pattern has a mask and stands alone.
func checkPattern(v *schema.LBVserver) error {
	switch {
	case v.IPPattern.IsValid() && !v.IPMask.IsValid():
		return schema.Refuse(schema.Missing, "IPMask").Because("it says which bits of the IPPattern count")
	case v.IPMask.IsValid() && !v.IPPattern.IsValid():
		return schema.Refuse(schema.NoPrereq, "IPMask", v.IPMask.String()).Because("it goes with an IPPattern")
	case !v.IPPattern.IsValid():
		return nil
	case v.IPAddress.IsValid():
		return schema.Refuse(schema.BadArgument, "IPAddress", "IPPattern").Because("a vserver has one of the two: unset -IPPattern -IPMask, or remove it and add it without an address")
	}
	b := v.IPMask.As4()
	reverse := netip.AddrFrom4([4]byte{^b[0], ^b[1], ^b[2], ^b[3]})
	if bits(v.IPMask) < 1 && (bits(reverse) < 1 || bits(reverse) == 32) {
		return schema.Refuse(schema.BadValue, "IPMask", v.IPMask.String()).
			Because("its ones come first (255.255.0.0) or last (0.0.0.255); for every address give * in the place of the pattern")
	}
	return nil
}

// checkListening: listen policies narrow vservers for foreign addresses. The expression itself is checked where it is compiled.
func checkListening(v *schema.LBVserver) error {
	switch {
	case v.ListenPolicy == "NONE" && v.ListenPriority != 101:
		return schema.Refuse(schema.NoPrereq, "Listenpriority", strconv.Itoa(int(v.ListenPriority))).Because("it goes with a Listenpolicy: give one, or unset -Listenpriority as well")
	case v.ListenPolicy != "NONE" && !v.Foreign():
		return schema.Refuse(schema.NoPrereq, "Listenpolicy").Because("it narrows a vserver on * or an IPPattern, and " + v.Name + " is on " + v.Place())
	}
	return nil
}
