package schema

import "net/netip"

// NSTrace is a capture of packets into a file. The reference product's -filter is an expression; here there are arguments, named as
// those of start trace, since a capture must not cost the workers an evaluation a packet.
type NSTrace struct {
	SrcIP    netip.Addr `cli:"srcIP" only:"start" help:"One end of the packets, which are captured in both directions; any if left out"`
	SrcPort  uint16     `cli:"srcPort" only:"start" min:"1" help:"Port of that end"`
	DestIP   netip.Addr `cli:"destIP" only:"start" help:"The other end, e.g. a VIP"`
	DestPort uint16     `cli:"destPort" only:"start" min:"1" help:"Port of the other end"`
	Protocol string     `cli:"protocol" only:"start" syntax:"protocol" help:"TCP, UDP or the number of an IP protocol, e.g. 1 for ICMP"`
	Count    uint32     `cli:"count" only:"start" def:"1000000" min:"1" max:"100000000" help:"Packets after which the capture ends; one that comes in and goes out counts twice"`
	Time     uint16     `cli:"time" only:"start" def:"3600" min:"1" max:"3600" unit:"seconds" help:"Time after which it ends"`
	Size     uint16     `cli:"size" only:"start" def:"164" max:"1514" unit:"bytes" help:"How much of each packet is kept; 0 is all of it"`
	FileName string     `cli:"fileName" only:"start" max:"100" help:"Name of the file in the folder traces, which SFTP fetches as /traces/NAME; one of the time if left out"`
	FileSize uint16     `cli:"filesize" only:"start" def:"100" min:"1" max:"1024" unit:"MB" help:"Size of the file at which the capture ends"`
}

func init() {
	register[NSTrace]("nstrace", "nstrace", "start stop show", "Capture of packets at the ports into a pcapng file", false)
	unbuilt[NSTrace]("nf mode perNIC=ENABLED fileId filter link=DISABLED nodes traceformat=PCAP merge=ONTHEFLY doruntimecleanup=DISABLED " +
		"traceBuffers skipRPC=DISABLED skipLocalSSH=DISABLED capsslkeys=DISABLED capdroppkt=ENABLED inMemoryTrace=DISABLED")
}
