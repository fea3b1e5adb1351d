package schema

// L2Param are parameters of layer 2.
type L2Param struct {
	MbfPeermacUpdate       uint32 `cli:"mbfPeermacUpdate" def:"10" unit:"10ms" help:"How often the MAC address of a peer is taken over with MAC-based forwarding"`
	MaxBridgeCollision     uint32 `cli:"maxBridgeCollision" def:"20" help:"Moves of a MAC address within a second that are taken for a loop"`
	BdggrpProxyARP         string `cli:"bdggrpProxyArp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer ARP for others in a bridge group"`
	BdgSetting             string `cli:"bdgSetting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Bridge between ports of a group by software"`
	GarpOnVridIntf         string `cli:"garpOnVridIntf" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Announce shared addresses on the ports of their virtual router only"`
	MACModeFwdMyPkt        string `cli:"macModeFwdMyPkt" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send packets to the appliance's own MAC address on in MAC mode"`
	UseMyMAC               string `cli:"useMyMAC" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Leave by the port's MAC address though the destination has asked for another"`
	ProxyARP               string `cli:"proxyArp" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer ARP for addresses of other networks"`
	GarpReply              string `cli:"garpReply" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Answer gratuitous ARP"`
	MbfInstLearning        string `cli:"mbfInstLearning" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Learn at once where a peer has gone with MAC-based forwarding"`
	RSTIntfOnHaFo          string `cli:"rstIntfOnHaFo" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Reset the ports after a failover"`
	SkipProxyingBsdTraffic string `cli:"skipProxyingBsdTraffic" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Leave management traffic to the kernel"`
	ReturnToEthernetSender string `cli:"returnToEthernetSender" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send answers back to where the packet came from"`
	StopMACMoveUpdate      string `cli:"stopMacMoveUpdate" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Keep to the port where a MAC address was seen first"`
	BridgeAgeTimeout       uint16 `cli:"bridgeAgeTimeout" def:"300" min:"60" max:"300" unit:"seconds" help:"Time after which a MAC address is forgotten"`
}

// L3Param are parameters of layer 3.
type L3Param struct {
	Srcnat               string `cli:"srcnat" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Translate source addresses of what is forwarded"`
	ICMPGenRateThreshold uint32 `cli:"icmpGenRateThreshold" def:"100" unit:"10ms" help:"Most ICMP errors in 10 ms; 0 is no limit"`
	OverrideRnat         string `cli:"overrideRnat" enum:"ENABLED,DISABLED" def:"DISABLED" help:"The source address of an lb vserver comes before that of rnat"`
	DropDFFlag           string `cli:"dropDFFlag" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Forward packets that are too large though they may not be fragmented"`
	MipRoundRobin        string `cli:"mipRoundRobin" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Use the SNIPs of a network in turn"`
	ExternalLoopBack     string `cli:"externalLoopBack" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Accept packets to 127.0.0.0/8 from outside"`
	TnlPmtuWoConn        string `cli:"tnlPmtuWoConn" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Pay heed to path MTU messages about tunnels without a connection"`
	USIPServerStrayPkt   string `cli:"usipServerStrayPkt" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Look up connections for stray packets of servers with usip"`
	ForwardICMPFragments string `cli:"forwardICMPFragments" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Forward fragments of ICMP"`
	DropIPFragments      string `cli:"dropIPFragments" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Drop fragments of IP"`
	ACLLogTime           uint32 `cli:"AclLogTime" def:"5000" unit:"milliseconds" help:"Time between two log messages of an ACL"`
	ImplicitACLAllow     string `cli:"implicitACLAllow" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Let through what no ACL matches"`
	DynamicRouting       string `cli:"dynamicRouting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Routing protocols run on it"`
	Ipv6DynamicRouting   string `cli:"ipv6DynamicRouting" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Routing protocols for IPv6 run on it"`
	ICMPErrGenerate      string `cli:"icmpErrGenerate" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Tell senders by ICMP what went wrong"`
}

// L4Param are parameters of layer 4. There is one at most, which is not there while everything is at its default.
type L4Param struct {
	L2ConnMethod string `cli:"l2ConnMethod" enum:"Channel,Vlan,VlanChannel,Mac,MacChannel,MacVlan,MacVlanChannel" def:"MacVlanChannel" help:"What of layer 2 tells connections apart with -l2Conn"`
}

func init() {
	stored[L2Param]("L2Param", "l2-param", "set unset show", "Parameters of layer 2")
	stored[L3Param]("L3Param", "l3-param", "set unset show", "Parameters of layer 3")
	register[L4Param]("L4Param", "l4-param", "set unset show", "Parameters of layer 4", true)
	unbuilt[L4Param]("l4switch=DISABLED")
}
