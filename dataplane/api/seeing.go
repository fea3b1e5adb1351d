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

// TraceOrder begins or ends a trace; a zero one only asks what there is.
type TraceOrder struct {
	Start *TraceFilter
	Stop  bool
}

// TraceFilter says which packets a trace follows: those of flows between these ends, in both directions. What is zero is any.
type TraceFilter struct {
	Proto            uint8
	Src, Dst         netip.Addr // as the client's packets have them
	SrcPort, DstPort uint16
	Count            uint32        // packets after which it ends
	Time             time.Duration // after which it ends
}

// Trace is what became of packets that were followed. It stays to be read until another one begins.
type Trace struct {
	Filter  *TraceFilter // nil: there has been no trace yet
	Running bool
	Left    time.Duration // while it runs
	Walks   []Walk        // of packets that have ended, in the order in which they came
}

// Walk is what became of one packet, stage by stage.
type Walk struct {
	UnixNano                   int64
	Worker                     uint32
	Port                       string // by which it came
	Steps                      []Step
	Reason                     string // the counter under which it was counted; empty if it was handed over
	Help                       string // of that counter
	Handed                     bool   // to the worker Owner
	Owner                      uint32
	Vserver, Service           string
	Before                     Frame
	After                      Frame // if Sent
	Sent                       bool  // it left, waits or went to the kernel, as After
	To                         string
	ToKernel, Dropped, Waiting bool
}

// StepKind is how a packet leaves a stage.
type StepKind uint8

// What stages make of packets.
const (
	StepPassed     StepKind = iota + 1 // nothing: it goes on as it is
	StepTranslated                     // it goes on with other addresses and wants a next hop
	StepSent                           // it was translated and is on its way
	StepDecided                        // it has its verdict
	StepHandedOver                     // it belongs to another worker
)

// Step is what one stage made of a packet.
type Step struct {
	Stage string
	Kind  StepKind
}

// Frame is what the beginning of a frame says.
type Frame struct {
	Length      uint16 // bytes, of the whole frame
	Dst, Src    [6]byte
	Tagged      bool
	VLAN        uint16
	EtherType   uint16
	IPv4        bool // the rest holds
	Flow        Tuple
	TTL         uint8
	Fragment    bool
	TotalLength uint16 // bytes
	TCPFlags    uint8
}
