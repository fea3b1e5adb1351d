package vrrp

import (
	"log/slog"
	"maps"
	"slices"
	"time"
)

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

// hint is what an operator is told of a refusal.
func (r Refusal) hint() string {
	switch r {
	case Version:
		return "it is of another version of VRRP; use the same on all nodes"
	case Authentication:
		return "it is authenticated, which RFC 3768 has no more; turn that off on the other node"
	case Interval:
		return "its interval is not that of this node, as version 2 of VRRP demands; use the same on all nodes"
	case OwnAddress:
		return "it claims this node's own address; two nodes have the same one, or the network returns what is sent"
	case OffLink:
		return "it comes from an address outside of the subnets of this interface"
	case TTL:
		return "its TTL is not 255: it has come through a router, or is forged"
	case Sum:
		return "its checksum is wrong"
	}
	return "it is malformed"
}

// Counters are those of all routers and devices, by device and ID.
func (s *Speaker) Counters() []Count {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Count, 0, len(s.counts))
	for _, k := range slices.SortedFunc(maps.Keys(s.counts), key.compare) {
		c := *s.counts[k]
		c.Refused = maps.Clone(c.Refused)
		list = append(list, c)
	}
	return list
}

// count changes the counters of a router or a device.
func (s *Speaker) count(k key, change func(*Count)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s.counter(k))
}

func (s *Speaker) counter(k key) *Count {
	c := s.counts[k]
	if c == nil {
		c = &Count{ID: k.id, Device: k.device, Refused: map[Refusal]uint64{}}
		s.counts[k] = c
	}
	return c
}

// refuse counts an advert that is not believed, for the router that it claims to be for if there is one here. What other
// groups on the same network say to each other is no news, so that a foreign vrID is counted only.
func (s *Speaker) refuse(device string, h *heard, why Refusal) {
	s.mu.Lock()
	k := key{device, h.id}
	if s.counts[k] == nil {
		k.id = 0
	}
	s.counter(k).Refused[why]++
	s.mu.Unlock()
	if why != ID {
		s.complain(device, h, why, why.hint())
	}
}

// complaint is what is logged of once a minute at most, however often it comes.
type complaint struct {
	device string
	id     uint8
	why    Refusal
}

const (
	complaintPause = time.Minute
	maxComplaints  = 256
)

func (s *Speaker) complain(device string, h *heard, why Refusal, hint string) {
	c, now := complaint{device, h.id, why}, time.Now()
	s.mu.Lock()
	if s.counts[key{device, h.id}] == nil {
		c.id = 0
	}
	at, again := s.logged[c]
	quiet := again && now.Sub(at) < complaintPause
	if !quiet {
		if len(s.logged) >= maxComplaints {
			clear(s.logged)
		}
		s.logged[c] = now
	}
	s.mu.Unlock()
	if quiet {
		return
	}
	text := "a VRRP advertisement is ignored"
	if why == "addresses" {
		text = "a VRRP advertisement is heeded with a doubt"
	}
	s.remark(slog.LevelWarn, text, "vrID", h.id, "interface", device, "from", h.src, "because", hint)
}
