package schema

// NSTCPProfile is a set of TCP options.
type NSTCPProfile struct {
	Name                        string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the profile"`
	WS                          string `cli:"WS" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Window scaling"`
	SACK                        string `cli:"SACK" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Selective acknowledgements"`
	WSVal                       uint8  `cli:"WSVal" def:"4" max:"14" help:"Shift of the window"`
	Nagle                       string `cli:"nagle" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Gather small segments"`
	AckOnPush                   string `cli:"ackOnPush" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Acknowledge pushed segments at once"`
	MSS                         uint16 `cli:"mss" max:"9176" unit:"bytes" help:"Greatest segment; 0 is as the interface says"`
	MaxBurst                    uint8  `cli:"maxBurst" def:"6" min:"1" help:"Most segments sent in a row"`
	InitialCwnd                 uint8  `cli:"initialCwnd" def:"4" min:"1" max:"44" help:"Initial congestion window in segments"`
	DelayedAck                  uint16 `cli:"delayedAck" def:"100" min:"10" max:"300" unit:"milliseconds" help:"How long an acknowledgement may wait"`
	OooQSize                    uint16 `cli:"oooQSize" def:"64" help:"Most segments kept out of order; 0 is no limit"`
	MaxPktPerMSS                uint16 `cli:"maxPktPerMss" max:"1460" help:"Most packets for one segment"`
	PktPerRetx                  uint16 `cli:"pktPerRetx" def:"1" min:"1" max:"512" help:"Most packets sent again at a time"`
	MinRTO                      uint16 `cli:"minRTO" def:"1000" min:"10" max:"64000" unit:"milliseconds" help:"Least time until a segment is sent again"`
	SlowStartIncr               uint8  `cli:"slowStartIncr" def:"2" min:"1" max:"100" help:"Growth of the window for an acknowledgement in slow start"`
	BufferSize                  uint32 `cli:"bufferSize" def:"8190" min:"8190" max:"20971520" unit:"bytes" help:"Buffer for what is received"`
	SYNCookie                   string `cli:"synCookie" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Answer SYNs by cookies"`
	KAprobeUpdateLastactivity   string `cli:"KAprobeUpdateLastactivity" enum:"ENABLED,DISABLED" def:"ENABLED" help:"An answered keep-alive counts as activity"`
	Flavor                      string `cli:"flavor" enum:"Default,Westwood,BIC,CUBIC,Nile" def:"Default" help:"Congestion control"`
	DynamicReceiveBuffering     string `cli:"dynamicReceiveBuffering" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Let the receive buffer grow"`
	KA                          string `cli:"KA" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send keep-alives"`
	KAconnIdleTime              uint16 `cli:"KAconnIdleTime" min:"1" max:"4095" unit:"seconds" help:"Idle time before the first keep-alive"`
	KAmaxProbes                 uint8  `cli:"KAmaxProbes" min:"1" max:"254" help:"Keep-alives without an answer after which a connection is dropped"`
	KAprobeInterval             uint16 `cli:"KAprobeInterval" min:"1" max:"4095" unit:"seconds" help:"Time between keep-alives"`
	SendBuffsize                uint32 `cli:"sendBuffsize" def:"8190" min:"8190" max:"20971520" unit:"bytes" help:"Buffer for what is sent"`
	Mptcp                       string `cli:"mptcp" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Multipath TCP"`
	EstablishClientConn         string `cli:"EstablishClientConn" enum:"AUTOMATIC,CONN_ESTABLISHED,ON_FIRST_DATA" def:"AUTOMATIC" help:"When a client's connection is established"`
	TCPSegOffload               string `cli:"tcpSegOffload" enum:"AUTOMATIC,DISABLED" def:"AUTOMATIC" help:"Let the NIC cut segments"`
	RSTWindowAttenuate          string `cli:"rstWindowAttenuate" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Accept resets only within a narrow window"`
	RSTMaxAck                   string `cli:"rstMaxAck" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Accept resets that acknowledge the last byte only"`
	SpoofSYNDrop                string `cli:"spoofSynDrop" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Drop SYNs on a connection that is open"`
	Ecn                         string `cli:"ecn" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Explicit congestion notification"`
	MptcpDropDataOnPreEstSF     string `cli:"mptcpDropDataOnPreEstSF" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Drop data on a subflow that is not established"`
	MptcpFastOpen               string `cli:"mptcpFastOpen" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Accept data on a subflow before its last acknowledgement"`
	MptcpSessionTimeout         uint32 `cli:"mptcpSessionTimeout" def:"0" max:"86400" unit:"seconds" help:"Idle time of a multipath session; 0 is that of the vserver"`
	TimeStamp                   string `cli:"TimeStamp" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Timestamps"`
	Dsack                       string `cli:"dsack" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Report duplicates by SACK"`
	AckAggregation              string `cli:"ackAggregation" enum:"ENABLED,DISABLED" def:"DISABLED" help:"One acknowledgement for several segments"`
	Frto                        string `cli:"frto" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Recognise needless retransmissions"`
	Maxcwnd                     uint32 `cli:"maxcwnd" def:"524288" min:"8190" max:"20971520" unit:"bytes" help:"Greatest congestion window"`
	Fack                        string `cli:"fack" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Forward acknowledgements"`
	Tcpmode                     string `cli:"tcpmode" enum:"TRANSPARENT,ENDPOINT" def:"TRANSPARENT" help:"Whether options of clients are passed on (TRANSPARENT) or each side has its own"`
	TCPFastOpen                 string `cli:"tcpFastOpen" enum:"ENABLED,DISABLED" def:"DISABLED" help:"TCP Fast Open"`
	Hystart                     string `cli:"Hystart" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Leave slow start before packets are lost"`
	Dupackthresh                uint8  `cli:"dupackthresh" def:"3" min:"1" max:"15" help:"Duplicate acknowledgements after which a segment is sent again"`
	BurstRateControl            string `cli:"burstRateControl" enum:"DISABLED,FIXED,DYNAMIC" def:"DISABLED" help:"Spread what is sent over time"`
	Tcprate                     uint32 `cli:"tcprate" def:"0" max:"10000000" unit:"kbit/s" help:"Rate of a connection with FIXED; 0 is no limit"`
	Rateqmax                    uint32 `cli:"rateqmax" def:"0" max:"1000000000" unit:"bytes" help:"Most data that waits for its turn; 0 is no limit"`
	DropHalfClosedConnOnTimeout string `cli:"DropHalfClosedConnOnTimeout" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Drop half-closed connections without a reset when they are idle"`
	DropEstConnOnTimeout        string `cli:"DropEstConnOnTimeout" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Drop open connections without a reset when they are idle"`
}

func init() {
	stored[NSTCPProfile]("ns tcpProfile", "ns-tcp-profile", "add set unset rm show", "TCP options of connections")
}
