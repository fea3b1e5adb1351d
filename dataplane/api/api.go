// Package api is the contract between the dataplane and management: the tables that management compiles, the figures
// that the dataplane counts and the events it raises, and a client and a server for them over one Unix socket.
// It decides nothing and knows neither packets nor configuration.
package api

import (
	"context"
	"net/netip"
)

// Dataplane is what management sees of the packet plane.
type Dataplane interface {
	// Apply replaces each part of t that is not nil, all or nothing. It returns after every worker forwards with
	// the new tables, or with the reason why nothing has changed.
	Apply(ctx context.Context, t *Tables) error
	// Stats reads the counters. The figures of one call are not one instant: workers go on counting.
	Stats(ctx context.Context) (*Stats, error)
	// Events delivers events until ctx ends or the connection is lost; then the channel is closed.
	Events(ctx context.Context) (<-chan Event, error)
	// Where tells what would become of the first packet of a flow, by the tables and flows of the moment. It changes nothing.
	Where(ctx context.Context, flow *Tuple) (*Where, error)
	// Trace begins or ends a trace of packets, and tells what the last one has seen. While one runs there is no other.
	Trace(ctx context.Context, order *TraceOrder) (*Trace, error)
	// Capture begins or ends a capture of frames, and gives what it has. One that begins takes the place of the one before.
	Capture(ctx context.Context, order *CaptureOrder) (*Capture, error)
	// Sessions tells or clears persistence sessions.
	Sessions(ctx context.Context, order *SessionOrder) (*Sessions, error)
	// Lease lets the roles of its version be played for a while longer: see Lease. It never waits for other calls.
	Lease(ctx context.Context, lease *Lease) error
}

// Tables are the dataplane's whole instructions in parts, each with a version of its own. A nil part stays as it is.
type Tables struct {
	Config    *Config
	Health    *Health
	FIB       *FIB
	Neighbors *Neighbors
	Roles     *Roles
}

// Config is what the operator has said: it changes with commands only.
type Config struct {
	Version   uint64
	Addresses []Address
	SNIPs     []SNIP
	Vservers  []Vserver
	Services  []Service

	// StartupFactor is how many flows for each service that is up go round robin when a vserver with a load-aware method starts
	// up: when it or a service of it is new, a service came up, or its method has changed. 0 = none.
	StartupFactor uint32

	DownStateRST bool // SYNs to vservers that are down are answered with resets

	Timeouts Timeouts

	// LinkParts is what of layer 2 tells flows of vservers with PerLink apart; 0: all of it.
	LinkParts LinkParts

	// PortVLANs are the VLANs that untagged frames belong to, by the index of the port; 1 for ports beyond the list's end.
	PortVLANs []uint16
}

// Timeouts are seconds without a packet after which flows end that are not established any more or not yet; 0 in any of them leaves it
// to the dataplane.
type Timeouts struct {
	Opening    uint32 // TCP: the handshake is not finished
	HalfClosed uint32 // TCP: one side has closed; 0 is no other time than for an established one
	Closed     uint32 // TCP: both sides have
	Reset      uint32 // TCP: either side has reset the connection
	Sweep      uint32 // flows whose time is over are gone after so many more; never later than 10
}

// AddressKind tells who owns an address and so who answers for it.
type AddressKind uint8

const (
	// OwnVIP is answered (ARP, ICMP echo) by the dataplane itself.
	OwnVIP AddressKind = iota + 1
	// OwnSNIP lives on a twin: the kernel answers, the dataplane punts.
	OwnSNIP
	// OwnNSIP is the management address; if it lives on a twin the dataplane punts.
	OwnNSIP
	// OwnElsewhere is the kernel's on a device that is none of our ports: what comes for it by a port is dropped, and no wildcard
	// vserver takes it.
	OwnElsewhere
)

// Address is one of our own IP addresses.
type Address struct {
	IP   netip.Addr
	Kind AddressKind
	ARP  bool // answers ARP requests (VIP only)
	ICMP bool // answers ICMP echo (VIP only)

	VRID uint8 // VIP: its virtual router, in whose Role it is answered for; 0: it is this appliance's alone
}

// SNIP is an address from which the dataplane may allocate source ports toward servers.
type SNIP struct {
	ID     uint32 // stable across commits, from 1
	IP     netip.Addr
	PortLo uint16 // first port of ours, inclusive
	PortHi uint16 // last port of ours, inclusive
}

// Method is a balancing method.
type Method uint8

// The numbers travel between programs: new ones go to the end.
const (
	RoundRobin Method = iota + 1
	LeastConnection
	LeastPackets
	LeastBandwidth
	LeastResponseTime
	SourceIPHash
	DestinationIPHash
	SourceDestinationIPHash
	SourceIPSourcePortHash
	CustomLoad
	TokenHash
	CallIDHash
	LeastMonitorTime // open flows x response time to monitors
)

// Startup is why a vserver goes round robin for a while before its method.
type Startup uint8

// The numbers travel between programs: new ones go to the end.
const (
	StartupVserver Startup = iota + 1 // the vserver is new
	StartupMethod                     // its method has changed
	StartupBound                      // a service was bound to it
	StartupUp                         // a service of it came up
)

// Spillover is what a vserver's new flows are counted against to decide that they go to its backup.
type Spillover uint8

// The numbers travel between programs: new ones go to the end.
const (
	SpillNever      Spillover = iota
	SpillConnection           // open flows of the vserver
	SpillDynamic              // the same, against the sum of MaxClient of its services that are up
	SpillBandwidth            // kbit/s in both directions in the last second
	SpillHealth               // percent of the weights that belongs to services that are up: below it
)

// IP protocol numbers of a vserver or service. ProtoAny matches every protocol.
const (
	ProtoAny uint8 = 0
	ProtoTCP uint8 = 6
	ProtoUDP uint8 = 17
)

// Vserver is a virtual address that clients reach. Disabled vservers are left out by management, so that
// packets to them are dropped as for no vserver.
type Vserver struct {
	ID            uint32 // stable across commits, from 1
	Name          string
	Proto         uint8
	IP            netip.Addr
	Port          uint16 // 0 = every port
	Method        Method
	ClientTimeout uint32 // seconds idle before a flow is forgotten
	Bindings      []Binding
	HashMask      uint32 // SourceIPHash, DestinationIPHash: bits of the address that count, 0xffffff00 for a /24; 0 = all

	Persistence          Persistence
	PersistMask          uint32 // bits of each address that count, as HashMask
	PersistSeconds       uint32 // without a new flow until a client is forgotten
	PersistBackup        Persistence
	PersistBackupSeconds uint32

	// IPMask makes IP a pattern, zero: IP is one address. Who has a pattern takes packets to addresses that are not ours and
	// equal IP in the bits of IPMask: with 0.0.0.0, a wildcard, all of them.
	IPMask netip.Addr
	Range  uint16 // how many addresses from IP on, where it is no pattern; 0 = 1
	// Listen narrows a pattern to the packets that match the expression (see api/expr); "": all of them. Of patterns with equally
	// many bits the lowest ListenPriority is asked first, then those that are narrowed, then the more exact port and protocol, then
	// by name, so that the order of configuration decides nothing.
	Listen         string
	ListenPriority uint8

	// TokenHash: the bytes of a datagram's payload that are hashed; CallIDHash: at most so many of its Call-ID, the offset is 0.
	TokenOffset, TokenLength uint16
	// TokenRule says in the place of the offset what TokenHash hashes (see api/expr); of a datagram TokenLength bytes at most.
	TokenRule string

	Mode        Mode
	DSCP        uint8  // ModeTOS: what the server knows the VIP by, 1-63
	PerLink     bool   // flows are told apart by where their packets come from at layer 2, too, and answers go back there
	Sessionless bool   // each packet is balanced by itself: no flow is kept
	Hidden      bool   // clients reach it through other vservers only: it listens nowhere, and IP is none
	Backup      uint32 // Vserver.ID that takes new flows while this one cannot; 0 = none

	Spillover       Spillover
	SpillThreshold  uint32 // connections, kbit/s or percent, as Spillover says
	SpillAccept     bool   // beyond the threshold flows are taken all the same if no backup can take them
	SpillSeconds    uint32 // a client whose flow went to a backup beyond the threshold stays there, so long without a new flow; 0 = it does not
	HealthThreshold uint32 // percent of bound services that must be up for the vserver to be; 0 = one of them

	PersistLeaving bool // clients stay with a service that is leaving: see Health

	// SlowRate is how many new flows a second a service takes at first once it has come up or was bound, and how many more after
	// each SlowSeconds, until it has had 100 of them; 0: as many as the method gives it. With SlowSeconds 0 it stays at the first rate.
	// SlowPercent: SlowRate is percent of what the method gives the service in the mean, 100 at most.
	SlowRate, SlowSeconds uint32
	SlowPercent           bool
}

// Mode is how packets of a vserver are sent to the server.
type Mode uint8

// The numbers travel between programs: new ones go to the end.
const (
	ModeIP     Mode = iota // to the server's address, and back through here
	ModeMAC                // unchanged, in a frame to the server's MAC address
	ModeTOS                // to the server's address with a DSCP that stands for the VIP; the server answers the client itself
	ModeTunnel             // unchanged, within an IP packet from a SNIP to the server (RFC 2003); the server answers the client itself
)

// LinkParts are parts of where a frame comes from at layer 2.
type LinkParts uint8

// The numbers travel between programs.
const (
	LinkMAC LinkParts = 1 << iota
	LinkVLAN
	LinkPort

	LinkAll = LinkMAC | LinkVLAN | LinkPort
)

// Binding is a service that a vserver may choose.
type Binding struct {
	Service uint32 // Service.ID
	Weight  uint16 // 1-100
}

// Service is a server's address and how packets are sent to it.
type Service struct {
	ID            uint32 // stable across commits, from 1
	Name          string
	Proto         uint8
	IP            netip.Addr
	Port          uint16   // 0 = keep the destination port that the client used
	UseSourceIP   bool     // the server sees the client's address (-usip YES)
	UseProxyPort  bool     // with UseSourceIP: the port is ours (-useproxyport YES) or the client's
	SNIPs         []uint32 // SNIP.IDs that may be the source, best first; unused with UseSourceIP
	ServerTimeout uint32   // seconds idle before a flow is forgotten; the shorter of both sides counts

	HashID       uint32 // who it is for hash methods, in place of its address and port; 0: these
	MaxClient    uint32 // open flows at a time; 0 = no limit
	MaxBandwidth uint32 // kbit/s in both directions beyond which it gets no new flows; 0 = no limit
	Surge        bool   // new connections wait their turn while it is full
}

// Health says which services may take new flows. It changes with monitors and with enable and disable.
type Health struct {
	Version uint64
	Up      []uint32 // Service.IDs, ascending

	// Flush and FlushVservers are whose flows end now, TCP connections by resets at both ends: IDs of services that are not up
	// and of vservers, ascending. Flows that such a vserver gets while it is listed end as well.
	Flush, FlushVservers []uint32

	Loads []Load // of services whose load is known, ascending

	Times []Load // of services whose monitors know how long they take to answer: in microseconds, ascending

	// Leaving are services on their way out of service: IDs, ascending. They are not up and keep their flows; of new ones they
	// get those of clients that persist on them, if the vserver has PersistLeaving.
	Leaving []uint32
}

// Load is what monitors say of a service: how busy it is, by which CustomLoad chooses, or how slow, for LeastMonitorTime.
type Load struct {
	Service uint32 // Service.ID
	Load    uint32
}

// FIB is the forwarding table. Several routes of one prefix share its flows.
type FIB struct {
	Version uint64
	Routes  []Route
}

// Route sends a prefix out of a port.
type Route struct {
	Prefix  netip.Prefix
	Port    uint16     // index of the port in the dataplane's settings, from 0
	Gateway netip.Addr // zero: the destination itself is the neighbor
}

// Neighbors are the resolved link addresses.
type Neighbors struct {
	Version uint64
	Entries []Neighbor
}

// Neighbor is one resolved address on a port.
type Neighbor struct {
	Port uint16
	IP   netip.Addr
	MAC  [6]byte
}

// EventKind tells what has happened.
type EventKind uint8

const (
	// NeighborWanted asks management to have the kernel resolve IP on Port: packets are held for it.
	NeighborWanted EventKind = iota + 1
	// LinkUp and LinkDown tell how the link of Port is, a NIC on the PCI bus, which the kernel does not see. They are repeated.
	LinkUp
	LinkDown
)

// Event is news that management must act on.
type Event struct {
	Kind EventKind
	Port uint16
	IP   netip.Addr
}

// Stats is a reading of every counter of the dataplane.
type Stats struct {
	StartedUnixMilli int64 // when this process began; management tells a restart by it
	ConfigVersion    uint64
	HealthVersion    uint64
	FIBVersion       uint64
	NeighborsVersion uint64
	RolesVersion     uint64
	Buffers          uint64 // packet buffers there are
	BuffersFree      uint64 // of those, held by nobody; the difference at rest is what the ports keep ready
	Ports            []PortStats
	Workers          []WorkerStats
	Counters         []Counter // verdicts and drop reasons, summed over the workers, in a fixed order
	Vservers         []FlowStats
	Services         []FlowStats
	SNIPs            []SNIPStats
}

// PortStats counts at a port; Twin* count between the port and the kernel.
type PortStats struct {
	Name                                   string
	Device                                 string
	Twin                                   string
	MAC                                    [6]byte
	LinkUp                                 bool
	MTU                                    uint16 // bytes
	RxPackets, RxBytes, TxPackets, TxBytes uint64
	RxMissed, RxErrors, TxErrors, TxFull   uint64
	TwinRxPackets, TwinTxPackets           uint64
	TwinTxFull                             uint64
}

// WorkerStats tells how busy a worker is.
type WorkerStats struct {
	Lcore        uint32
	TotalCycles  uint64 // since start
	BusyCycles   uint64 // of those, spent on polls that found packets: "Packet CPU" is their quotient
	Polls        uint64
	Packets      uint64
	Sleeps       uint64
	Flows        uint64 // entries in use
	FlowCapacity uint64 // entries at which new flows are refused
	// The versions of the parts that it works with: those of the Stats unless it hangs.
	ConfigVersion, HealthVersion, FIBVersion, NeighborsVersion uint64
	Counters                                                   []uint64 // of this worker alone, in the order of Stats.Counters
	HandedOver                                                 uint64   // of Packets: those that belong to another worker's flows and were handed to it
	TakenOver                                                  uint64   // packets that other workers have handed to this one; Packets does not count them
}

// Counter is a named count.
type Counter struct {
	Name  string // e.g. "drop-no-vserver"
	Value uint64
	Help  string // one sentence for the operator
}

// FlowStats counts the traffic of one vserver or service.
type FlowStats struct {
	ID         uint32
	Name       string
	Flows      uint64 // chosen since start
	OpenFlows  uint64 // now
	PacketsIn  uint64 // from clients
	BytesIn    uint64 // L3 bytes
	PacketsOut uint64 // to clients
	BytesOut   uint64
	Up         bool // services: may take new flows, as Health said last; a management that starts anew goes on from it

	Startup     Startup // vservers: why the last start-up began
	StartupLeft uint64  // flows that are still to go round robin; 0: the vserver goes by its method

	RecentPackets uint64 // services: in both directions in the last 14 seconds, by which LEASTPACKETS chooses
	RecentBytes   uint64 // the same for LEASTBANDWIDTH

	Sessions uint64 // vservers: persistence sessions now
	Spilled  uint64 // vservers: new flows that went to a backup since start, or would have
	Waiting  uint64 // vservers: connections in the surge queue now
}

// SNIPStats tells what a SNIP is called by number, so that a management that starts anew keeps the numbers.
type SNIPStats struct {
	ID         uint32
	IP         netip.Addr
	PortsInUse uint64 // source ports taken now, over all services
}
