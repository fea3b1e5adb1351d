package schema

// Service is a port of a server that vservers can choose.
type Service struct {
	Name          string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the service"`
	Server        string `cli:"serverName" pos:"2" required:"yes" fixed:"yes" ref:"server" help:"Name or IPv4 address of the server; an address that no server has creates a server named like it"`
	ServiceType   string `cli:"serviceType" pos:"3" required:"yes" fixed:"yes" enum:"HTTP,TCP,UDP,ANY" later:"FTP,SSL,SSL_BRIDGE,SSL_TCP,DTLS,NNTP,RPCSVR,DNS,ADNS,SNMP,RTSP,DHCPRA,SIP_UDP,SIP_TCP,SIP_SSL,DNS_TCP,ADNS_TCP,MYSQL,MSSQL,ORACLE,RADIUS,RDP,DIAMETER,SSL_DIAMETER,TFTP,SMPP,SYSLOGTCP,SYSLOGUDP,FIX,SSL_FIX" help:"Protocol of the service"`
	Port          uint16 `cli:"port" pos:"4" required:"yes" fixed:"yes" any:"0" help:"Port of the service; * keeps the port that the client used"`
	USIP          string `cli:"usip" enum:"YES,NO" def:"NO" always:"yes" help:"The server sees the client's address as source"`
	UseProxyPort  string `cli:"useproxyport" enum:"YES,NO" def:"YES" always:"yes" help:"With usip: the source port is ours (YES) or the client's (NO)"`
	CltTimeout    uint32 `cli:"cltTimeout" max:"31536000" defby:"serviceType HTTP=180 TCP=9000 UDP=120 ANY=120" always:"yes" unit:"seconds" help:"Idle time of the client's side before a flow is forgotten; 0 takes the protocol's own"`
	SvrTimeout    uint32 `cli:"svrTimeout" max:"31536000" defby:"serviceType HTTP=360 TCP=9000 UDP=120 ANY=120" always:"yes" unit:"seconds" help:"Idle time of the server's side before a flow is forgotten; 0 takes the protocol's own"`
	HealthMonitor string `cli:"healthMonitor" enum:"YES,NO" def:"YES" help:"Watch the service by its monitors; NO takes it for UP"`
	MaxClient     uint32 `cli:"maxClient" def:"0" max:"4294967294" help:"Open connections at a time, of all virtual servers and workers together, beyond which the service is not chosen; 0 is no limit"`
	MaxReq        uint32 `cli:"maxReq" def:"0" max:"65535" help:"Requests that a connection to the server carries at most; at layer 4 a connection is one request and has one of its own, so that any number is kept; 0 is no limit"`
	MaxBandwidth  uint32 `cli:"maxBandwidth" def:"0" max:"4294967287" unit:"kbit/s" help:"Traffic in both directions in the last second beyond which the service gets no new connections; 0 is no limit"`
	SP            string `cli:"sp" enum:"ON,OFF" def:"OFF" help:"Surge protection: new connections wait their turn while every service has its maxClient; with OFF they are dropped"`
	MonThreshold  uint32 `cli:"monThreshold" def:"0" max:"65535" help:"Sum of the weights of monitors that must say UP for the service to be UP; 0 asks for all of them"`

	DownStateFlush string `cli:"downStateFlush" enum:"ENABLED,DISABLED" def:"ENABLED" help:"When the service goes DOWN its connections are reset at both ends and its other flows forgotten; DISABLED lets them go on"`
	HashID         uint32 `cli:"hashId" min:"1" help:"Hash methods: who the service is, in place of its address and port; one that replaces it under the same number gets the same clients"`
	State          string `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Administrative state"`
	Comment        string `cli:"comment" max:"255" help:"Any text about the service"`

	Delay        uint32 `cli:"delay" pos:"9" only:"disable" max:"31536000" unit:"seconds" help:"How long it keeps its connections before it is out of service; with graceFul: at most"`
	GraceFul     string `cli:"graceFul" only:"disable" enum:"YES,NO" def:"NO" help:"It is out of service when its last connection has ended"`
	LeavingSince uint64 `cli:"leavingSince" kept:"yes" max:"253402300799999" help:"When it began to go out of service, in milliseconds since 1970"`
}

// ServiceMonitor binds a monitor to a service. While none is bound the service has its protocol's default monitor.
type ServiceMonitor struct {
	Service string `cli:"name" key:"1" ref:"service" help:"Name of the service"`
	Monitor string `cli:"monitorName" key:"2" keyword:"yes" ref:"lb monitor" help:"Name of the monitor"`
	State   string `cli:"monState" only:"bind" enum:"ENABLED,DISABLED" def:"ENABLED" help:"A monitor whose binding is disabled does not probe this service and does not count"`
	Weight  uint32 `cli:"weight" only:"bind" min:"1" max:"100" def:"1" help:"What the monitor counts for when the service has a monThreshold"`
}

func init() {
	register[Service]("service", "service", "add set unset rm rename enable disable show stat", "Service: a port of a server", true)
	unbuilt[Service]("clearTextPort cacheType cacheable=NO cip=DISABLED pathMonitor=NO pathMonitorIndv=NO " +
		"rtspSessionidRemap=OFF CustomServerID=None CKA=NO TCPB=NO CMP=NO accessDown=NO " +
		"tcpProfileName httpProfileName appflowLog=DISABLED netProfile td=0 processLocal=DISABLED " +
		"dnsProfileName monConnectionClose=NONE IPAddress gslb=NONE")
	register[ServiceMonitor]("service", "service-monitor", "bind unbind", "Monitor bound to a service", true)
	unbuilt[ServiceMonitor]("passive policyName")
}
