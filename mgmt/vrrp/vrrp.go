// Package vrrp speaks the Virtual Router Redundancy Protocol over IPv4, versions 2 (RFC 3768) and 3 (RFC 5798, RFC 9568),
// on the twins of the ports: it decides, with the other nodes, who is master of each virtual router, and tells.
package vrrp

import (
	"fmt"
	"net/netip"
	"time"
)

// Intent is what the configuration and the state of the vservers want of one virtual router on one device.
type Intent struct {
	ID     uint8  // vrID, 1 to 255
	Device string // twin of the port on which it is spoken, e.g. "tw0"

	// Source is the primary address of the device with its subnet's length. Adverts leave with it, and equal priorities
	// are settled by it. Without one nothing can be said, and the router stays in INIT.
	Source netip.Prefix
	// OnLink are further subnets of the device, from which adverts are believed as well.
	OnLink []netip.Prefix

	// VIPs are the router's addresses. An advert has room for 255 of them; gratuitous ARP goes out for all.
	VIPs []netip.Addr

	Priority uint8  // effective; 0 gives mastership up and never takes it
	Reason   string // why the priority is what it is, e.g. "1 of 2 vservers DOWN"; empty if it is the configured one

	Preempt bool          // take over from a master of a lower priority
	Delay   time.Duration // how much later than at once (preemptiondelaytimer)
	Hello   time.Duration // between our adverts while master
	Dead    time.Duration // silence after which a master is dead, if three of its intervals are longer

	Version  uint8 // 3, or 2 if Hello is whole seconds
	Checksum Checksum

	Held bool   // stays backup until it is let go (force vrID N -backup)
	Down string // why it cannot take part at all, e.g. "interface 1/1 is DOWN"; empty if it can
}

// Checksum is the form of checksum that adverts of version 3 leave with. Both forms are accepted always.
type Checksum uint8

const (
	ChecksumAuto    Checksum = iota // that of the last advert heard for the router; until then that of RFC 9568
	ChecksumRFC9568                 // over the message alone
	ChecksumRFC5798                 // with a pseudo-header of IPv4, as keepalived has it
)

func (c Checksum) String() string { return [...]string{"auto", "rfc9568", "rfc5798"}[min(c, 2)] }

// Role is the state of a virtual router.
type Role uint8

const (
	Init   Role = iota // does not take part
	Backup             // listens
	Master             // answers for the addresses
)

func (r Role) String() string { return [...]string{"INIT", "BACKUP", "MASTER"}[min(r, 2)] }

// State is where a virtual router stands.
type State struct {
	ID     uint8
	Device string
	Role   Role
	Since  time.Time
	Reason string // of the last change of the role, a sentence without its end

	// Who is master, as far as it is known: of another node what its last advert said, of ourselves our own.
	MasterMAC      [6]byte // Ethernet source of its adverts: the virtual MAC, unless it does as keepalived does by default
	MasterAddress  netip.Addr
	MasterPriority uint8
	MasterInterval time.Duration // between its adverts

	Priority uint8         // effective
	Lease    time.Duration // how long mastership holds in the dataplane without a renewal
	History  []Transition  // the latest last; never written to
}

// Transition is one change of a role.
type Transition struct {
	At       time.Time
	From, To Role
	Reason   string
}

// MAC is the virtual MAC address of a router (RFC 9568, section 7.3).
func MAC(id uint8) [6]byte { return [6]byte{0, 0, 0x5e, 0, 1, id} }

// margin is how much earlier than the other nodes may take over the dataplane stops to answer when nobody renews its lease.
const margin = 300 * time.Millisecond

// Lease is how long the dataplane may go on as master without being told again.
func (in *Intent) Lease() time.Duration { return in.silence() - margin }

// silence is what it takes of a master until others with the same intervals take it for dead, but for their skew.
func (in *Intent) silence() time.Duration { return min(in.Dead, 3*in.Hello) }

// Check says what is wrong with an intent, or nil.
func (in *Intent) Check() error {
	switch {
	case in.ID == 0:
		return fmt.Errorf("vrID 0 does not exist; use 1 to 255")
	case in.Device == "":
		return fmt.Errorf("vrID %d is on no device", in.ID)
	case in.Version != 2 && in.Version != 3:
		return fmt.Errorf("vrID %d wants VRRP version %d; there are 2 and 3", in.ID, in.Version)
	case in.Version == 2 && (in.Hello%time.Second != 0 || in.Hello < time.Second || in.Hello > 255*time.Second):
		return fmt.Errorf("vrID %d: version 2 of VRRP counts in seconds, and the hello interval is %v", in.ID, in.Hello)
	case in.Hello < minHello || in.Hello > maxInterval*10*time.Millisecond:
		return fmt.Errorf("vrID %d: the hello interval is %v; use %v to %v", in.ID, in.Hello, minHello, maxInterval*10*time.Millisecond)
	case in.Dead < in.Hello || in.Dead <= margin:
		return fmt.Errorf("vrID %d: a dead interval of %v is shorter than the hello interval of %v", in.ID, in.Dead, in.Hello)
	case len(in.VIPs) == 0:
		return fmt.Errorf("vrID %d has no address on %s", in.ID, in.Device)
	}
	for _, a := range in.VIPs {
		if !a.Is4() {
			return fmt.Errorf("vrID %d: %s is not an IPv4 address", in.ID, a)
		}
	}
	if in.Source.IsValid() && !in.Source.Addr().Is4() {
		return fmt.Errorf("vrID %d: the source %s is not an IPv4 address", in.ID, in.Source.Addr())
	}
	return nil
}

// minHello leaves a lease that is worth the name.
const minHello = 200 * time.Millisecond

// maxInterval is the longest interval of version 3, in hundredths of a second (12 bits).
const maxInterval = 4095
