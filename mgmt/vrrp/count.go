package vrrp

// Refusal names why an advert was not believed.
type Refusal string

const (
	Header         Refusal = "header"         // the IPv4 header is broken, or the datagram is a fragment
	Destination    Refusal = "destination"    // not sent to 224.0.0.18 by multicast
	TTL            Refusal = "ttl"            // not 255: it has passed a router
	Length         Refusal = "length"         // the message is cut off, or longer than its count of addresses says
	Version        Refusal = "version"        // neither 2 nor 3, or not that of the router
	Type           Refusal = "type"           // no advert
	Sum            Refusal = "checksum"       // neither form of it holds
	Authentication Refusal = "authentication" // of version 2: any is, for RFC 3768 has none
	ID             Refusal = "vrid"           // no router here has this number
	Interval       Refusal = "interval"       // of version 2: not ours; of version 3: 0
	OwnAddress     Refusal = "own-address"    // claims to come from us
	OffLink        Refusal = "off-link"       // comes from an address outside of the device's subnets
)

// Refusals are all of them, in the order in which they are looked for.
var Refusals = []Refusal{Header, Destination, TTL, Length, Version, Type, Sum, Authentication, ID, OwnAddress, OffLink, Interval}

// Count is what has been counted for one router, or with ID 0 for what came in on a device for none of its routers.
type Count struct {
	ID     uint8
	Device string

	Received    uint64 // adverts that were believed
	Sent        uint64 // adverts
	Gratuitous  uint64 // gratuitous ARP requests sent
	Unsent      uint64 // frames that the device did not take
	OtherVIPs   uint64 // adverts, of those believed, with other addresses than ours
	Zero        uint64 // adverts, of those believed, of priority 0
	Transitions uint64 // to MASTER
	Refused     map[Refusal]uint64
}
