package schema

// NSTimeout is how long connections are remembered that are not established any more or not yet, and what holds for vservers and
// services whose own timeout is 0. There is one at most, which is not there while everything is at its default.
type NSTimeout struct {
	Zombie       uint32 `cli:"zombie" min:"1" max:"600" def:"120" unit:"seconds" help:"TCP connections whose time is over are cleared away within so many seconds; never later than 10"`
	HTTPClient   uint32 `cli:"httpClient" max:"18000" def:"0" unit:"seconds" help:"Idle time of HTTP vservers with cltTimeout 0; 0 takes the protocol's own"`
	HTTPServer   uint32 `cli:"httpServer" max:"18000" def:"0" unit:"seconds" help:"Idle time of HTTP services with svrTimeout 0; 0 takes the protocol's own"`
	TCPClient    uint32 `cli:"tcpClient" max:"18000" def:"0" unit:"seconds" help:"Idle time of TCP vservers with cltTimeout 0; 0 takes the protocol's own"`
	TCPServer    uint32 `cli:"tcpServer" max:"18000" def:"0" unit:"seconds" help:"Idle time of TCP services with svrTimeout 0; 0 takes the protocol's own"`
	AnyClient    uint32 `cli:"anyClient" max:"31536000" def:"0" unit:"seconds" help:"Idle time of UDP and ANY vservers with cltTimeout 0; 0 takes the protocol's own"`
	AnyServer    uint32 `cli:"anyServer" max:"31536000" def:"0" unit:"seconds" help:"Idle time of UDP and ANY services with svrTimeout 0; 0 takes the protocol's own"`
	HalfClose    uint32 `cli:"halfclose" min:"1" max:"600" def:"10" unit:"seconds" help:"Idle time of TCP connections of which one side has closed"`
	NonTCPZombie uint32 `cli:"nontcpZombie" min:"1" max:"600" def:"60" unit:"seconds" help:"The same as zombie for other flows"`
	ReducedFin   uint32 `cli:"ReducedFinTimeOut" min:"1" max:"300" def:"30" unit:"seconds" help:"Idle time of TCP connections that both sides have closed"`
	ReducedRst   uint32 `cli:"ReducedRstTimeOut" max:"300" def:"0" unit:"seconds" help:"Idle time of TCP connections that were reset; with 0 it is 5 seconds, since a forged reset must not end what goes on"`
	NewConnIdle  uint32 `cli:"NewConnIdleTimeOut" min:"1" max:"120" def:"4" unit:"seconds" help:"Idle time of TCP connections whose handshake is not finished"`
}

func init() {
	register[NSTimeout]("ns timeout", "ns-timeout", "set unset show", "Idle times of all connections", true)
	unbuilt[NSTimeout]("anyTcpClient=0 anyTcpServer=0")
}
