package packet

// Reason names why a packet ended as it did. Each packet is counted under exactly one; the name's first word is its verdict.
type Reason uint8

// The order is the order in which counters are shown.
const (
	NoReason Reason = iota

	ForwardFlow
	ForwardNewFlow
	ForwardSessionless
	ForwardICMPError
	ForwardToMaster
	ForwardFromKernel
	ReplyARP
	ReplyICMPEcho
	ReplyFragNeeded
	ReplyReset

	PuntARP
	PuntIPv6
	PuntNotIP
	PuntGroup
	PuntVRRP
	PuntLocal
	PuntFragment
	PuntOptions

	HeldNeighbor
	HeldSurge

	DropTruncated
	DropOversized
	DropBadIPHeader
	DropBadIPChecksum
	DropBadL4Header
	DropBadARP
	DropBadICMP
	DropTTLExpired
	DropFragment
	DropOptions
	DropNotOurMAC
	DropNotForUs
	DropMartian
	DropARPDisabled
	DropARPBackup
	DropBackupVIP
	DropICMPDisabled
	DropICMPUnhandled
	DropICMPNoFlow
	DropNoVserver
	DropNoServiceUp
	DropSpillover
	DropServicesFull
	DropSurgeFull
	DropSurgeRepeated
	DropSurgeExpired
	DropNoFlow
	DropFlowTableFull
	DropPortPoolExhausted
	DropTupleInUse
	DropLinksFull
	DropPartialChecksum
	DropNoRoute
	DropNotOnLink
	DropLoop
	DropNeighborUnresolved
	DropHoldFull
	DropPuntLimit
	DropFrameTooLong
	DropFlowEnding
	DropHandoverFull
	DropTxFull

	// Reasons is their number, for arrays of counters.
	Reasons
)

type reasonText struct{ name, help string }

var reasonTexts = [Reasons]reasonText{
	NoReason: {"undecided", "Packets that no stage decided about: this should stay 0."},

	ForwardFlow:        {"forward-flow", "Packets of known flows, translated and sent on."},
	ForwardNewFlow:     {"forward-new-flow", "First packets of new flows, balanced to a service and sent on."},
	ForwardSessionless: {"forward-sessionless", "Packets of sessionless virtual servers, each balanced by itself and sent on."},
	ForwardICMPError:   {"forward-icmp-error", "ICMP errors about a flow, translated and sent to the flow's other side."},
	ForwardToMaster:    {"forward-to-master", "Packets for VIPs of a virtual router that is not MASTER here, sent on to its master (vrIDParam -sendToMaster)."},
	ForwardFromKernel:  {"forward-from-kernel", "Packets that this appliance's own kernel sent, passed to the network."},
	ReplyARP:           {"reply-arp", "ARP requests for virtual addresses, answered."},
	ReplyICMPEcho:      {"reply-icmp-echo", "Pings to virtual addresses, answered."},
	ReplyFragNeeded:    {"reply-frag-needed", "Packets longer than the outgoing port's MTU, answered with the size that fits (ICMP fragmentation needed)."},
	ReplyReset:         {"reply-reset", "TCP packets of connections that are being ended, and SYNs to virtual servers that are DOWN (ns tcpParam -downStateRST), answered with a reset."},

	PuntARP:      {"punt-arp", "ARP packets given to the kernel."},
	PuntIPv6:     {"punt-ipv6", "IPv6 packets given to the kernel."},
	PuntNotIP:    {"punt-not-ip", "Frames that are neither IP nor ARP, or carry two VLAN tags, given to the kernel."},
	PuntGroup:    {"punt-multicast", "IPv4 multicast and broadcast packets given to the kernel."},
	PuntVRRP:     {"punt-vrrp", "VRRP advertisements of this appliance's virtual routers, given to the kernel."},
	PuntLocal:    {"punt-local", "Packets to the appliance's own addresses that belong to no flow, given to the kernel."},
	PuntFragment: {"punt-fragment", "IPv4 fragments to the appliance's own addresses, given to the kernel."},
	PuntOptions:  {"punt-ip-options", "Packets with IP options to the appliance's own addresses, given to the kernel."},

	HeldNeighbor: {"held-neighbor", "Packets kept for a moment until the MAC address of their next hop is known."},
	HeldSurge:    {"held-surge-queue", "New connections that wait because every service of their virtual server has its -maxClient; they are counted once more when they go on."},

	DropTruncated:          {"drop-truncated", "Frames too short for the headers that they announce."},
	DropOversized:          {"drop-oversized", "Frames longer than a packet buffer, merged by a network card or never split by their sender: switch off gro and lro at the port, or tso and gso at a sender on the same machine (ethtool -K)."},
	DropBadIPHeader:        {"drop-bad-ip-header", "IPv4 packets whose version, header length or total length cannot be true."},
	DropBadIPChecksum:      {"drop-bad-ip-checksum", "IPv4 packets whose header checksum is wrong."},
	DropBadL4Header:        {"drop-bad-l4-header", "TCP or UDP packets whose header or length field does not fit the packet."},
	DropBadARP:             {"drop-bad-arp", "ARP packets that are not for IPv4 over Ethernet or are cut short."},
	DropBadICMP:            {"drop-bad-icmp", "ICMP packets that are cut short, contradict themselves or whose checksum is wrong."},
	DropTTLExpired:         {"drop-ttl-expired", "Packets to be forwarded whose time to live has run out: look for a routing loop."},
	DropFragment:           {"drop-fragment", "IPv4 fragments to virtual addresses: lower the sender's MTU or let it discover the path MTU."},
	DropOptions:            {"drop-ip-options", "Packets with IP options to virtual addresses."},
	DropNotOurMAC:          {"drop-not-our-mac", "Frames flooded by a switch: their destination MAC address is not this port's."},
	DropNotForUs:           {"drop-not-for-us", "Packets to an address that this appliance does not own, nor does a wildcard vserver take them."},
	DropMartian:            {"drop-martian-source", "Packets to virtual addresses that cannot come from a host: their source is of this network (0), loopback, multicast, broadcast or the destination itself."},
	DropARPDisabled:        {"drop-arp-disabled", "ARP requests for an address with ARP disabled (ns ip -arp)."},
	DropARPBackup:          {"drop-arp-backup", "ARP requests for VIPs of a virtual router that is not MASTER here: its master answers them."},
	DropBackupVIP:          {"drop-backup-vip", "Packets for VIPs of a virtual router that is not MASTER here, and that neither shares (vrID -sharing) nor sends to a known master (vrIDParam -sendToMaster)."},
	DropICMPDisabled:       {"drop-icmp-disabled", "Pings to an address with ICMP disabled (ns ip -icmp)."},
	DropICMPUnhandled:      {"drop-icmp-unhandled", "ICMP packets to virtual addresses that are neither pings nor errors about a flow."},
	DropICMPNoFlow:         {"drop-icmp-no-flow", "ICMP errors about a flow that is not known (any more)."},
	DropNoVserver:          {"drop-no-vserver", "Packets to a virtual address on a port or protocol that has no enabled virtual server."},
	DropNoServiceUp:        {"drop-no-service-up", "New connections to a virtual server none of whose services is UP."},
	DropSpillover:          {"drop-spillover", "New connections beyond the spillover threshold of a virtual server whose backups cannot take them (-soBackupAction)."},
	DropServicesFull:       {"drop-services-full", "New connections to a virtual server each of whose services has reached -maxClient or -maxBandwidth."},
	DropSurgeFull:          {"drop-surge-queue-full", "New connections for which the surge queue had no place left."},
	DropSurgeRepeated:      {"drop-surge-repeated", "SYNs that clients sent again while their connection waits in the surge queue."},
	DropSurgeExpired:       {"drop-surge-expired", "Connections in the surge queue whose clients gave up."},
	DropNoFlow:             {"drop-no-flow", "TCP packets to a virtual server that neither belong to a flow nor open one."},
	DropFlowTableFull:      {"drop-flow-table-full", "New connections refused because the flow table is full: raise flows in dataplane.yaml."},
	DropPortPoolExhausted:  {"drop-port-pool-exhausted", "New connections refused because no source port toward the service is free: add a SNIP."},
	DropTupleInUse:         {"drop-tuple-in-use", "New connections refused because their addresses and ports toward the service are in use by another flow."},
	DropLinksFull:          {"drop-links-full", "Packets to virtual servers with -l2Conn from more MAC addresses than a worker tells apart."},
	DropPartialChecksum:    {"drop-partial-checksum", "Packets with an unfinished checksum that could not be completed: switch tx offload off at the sender (ethtool -K)."},
	DropNoRoute:            {"drop-no-route", "Packets whose destination has no route."},
	DropNotOnLink:          {"drop-not-on-link", "Packets of virtual servers with -m MAC whose service is behind a gateway: only what is on a subnet of this appliance has a MAC address here."},
	DropLoop:               {"drop-loop", "Packets that the device behind a vserver with -m MAC has sent back, which would get them again: give it another next hop than this appliance."},
	DropNeighborUnresolved: {"drop-neighbor-unresolved", "Packets whose next hop did not answer ARP in time."},
	DropHoldFull:           {"drop-hold-full", "Packets for which no place was left while the MAC address of their next hop was being asked for."},
	DropPuntLimit:          {"drop-punt-limit", "Packets for the kernel beyond the rate that protects it."},
	DropFrameTooLong:       {"drop-frame-too-long", "Packets longer than the outgoing port's MTU whose sender could not be told: they allow fragmentation, which is not done here, or were too many."},
	DropFlowEnding:         {"drop-flow-ending", "Resets, and packets in pieces, of connections that are being ended."},
	DropHandoverFull:       {"drop-handover-full", "Packets for which the worker that owns their flow had no room left: it is overloaded, look at the workers' load."},
	DropTxFull:             {"drop-tx-full", "Packets that the outgoing port did not take."},
}

// Name is the counter's name, e.g. "drop-no-vserver".
func (r Reason) Name() string {
	if r >= Reasons {
		return "unknown"
	}
	return reasonTexts[r].name
}

// String is Name.
func (r Reason) String() string { return r.Name() }

// Help is one sentence for the operator.
func (r Reason) Help() string {
	if r >= Reasons {
		return ""
	}
	return reasonTexts[r].help
}

// Verdict is the verdict that a packet of this reason has.
func (r Reason) Verdict() Verdict {
	switch {
	case r == NoReason || r >= Reasons:
		return Undecided
	case r < PuntARP:
		return Transmit
	case r < HeldNeighbor:
		return Punt
	case r < DropTruncated:
		return Held
	}
	return Drop
}
