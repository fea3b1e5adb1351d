package api

import (
	"net/netip"
	"time"
)

// Tuple is what the packets of one direction of a flow have in common. Protocols without ports have the ports 0.
type Tuple struct {
	Proto    uint8
	Src, Dst Endpoint
}

// Endpoint is one end of a flow.
type Endpoint struct {
	IP   netip.Addr
	Port uint16
}

// String is the endpoint as people write it, e.g. "10.1.0.50:80".
func (e Endpoint) String() string { return netip.AddrPortFrom(e.IP, e.Port).String() }

// Where is what would become of the first packet of a flow, whole and short, with a TTL that suffices, to the MAC address of the
// port that it enters by; of TCP it is a SYN.
type Where struct {
	Flow                 Tuple
	Worker               uint32     // whose flow it is, from 0
	Reason               string     // the counter under which the packet would be counted, e.g. "forward-new-flow"
	Help                 string     // of that counter
	Entry                *FlowEntry // the flow, nil if there is none
	Reopens              bool       // the packet opens a new connection in the place of Entry's
	VserverID, ServiceID uint32     // that take it, 0: none
	Vserver, Service     string     // their names; empty if they have none any more
	Sent                 bool       // it is translated to To
	To                   Tuple
	Pool                 bool // the source port of To is from a pool: for a new flow the one that is next
	Hop                  *Hop // the way of To, nil if there is none
}

// FlowEntry is a flow that exists.
type FlowEntry struct {
	Client, Server                           Tuple // as the client sends, as the server receives
	FromServer                               bool  // the packet in question is one of the server's
	State                                    string
	Idle, Limit                              time.Duration // silent for so long, forgotten after so long
	PacketsIn, BytesIn, PacketsOut, BytesOut uint64        // from the client and to it; packets wrap at 2^32
}

// Hop is where a packet goes next.
type Hop struct {
	Prefix   netip.Prefix // of the route
	Gateway  netip.Addr   // zero: the destination itself is the neighbor
	Neighbor netip.Addr
	Known    bool // MAC is that of the neighbor
	MAC      [6]byte
	Port     string
	MTU      uint16 // bytes
}
