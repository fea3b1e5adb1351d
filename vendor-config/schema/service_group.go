package schema

// ServiceGroup is a group of services of one type with options in common. Each member is a service by itself.
type ServiceGroup struct {
	Name           string `cli:"serviceGroupName" key:"1" max:"127" syntax:"name" help:"Name of the service group; no service has the same"`
	ServiceType    string `cli:"serviceType" pos:"2" required:"yes" fixed:"yes" enum:"HTTP,TCP,UDP,ANY" later:"FTP,SSL,SSL_BRIDGE,SSL_TCP,DTLS,NNTP,RPCSVR,DNS,ADNS,SNMP,RTSP,DHCPRA,SIP_UDP,SIP_TCP,SIP_SSL,DNS_TCP,ADNS_TCP,MYSQL,MSSQL,ORACLE,RADIUS,RDP,DIAMETER,SSL_DIAMETER,TFTP,SMPP,SYSLOGTCP,SYSLOGUDP,FIX,SSL_FIX" help:"Protocol of the members"`
	USIP           string `cli:"usip" enum:"YES,NO" def:"NO" always:"yes" help:"The servers see the client's address as source"`
	UseProxyPort   string `cli:"useproxyport" enum:"YES,NO" def:"YES" always:"yes" help:"With usip: the source port is ours (YES) or the client's (NO)"`
	CltTimeout     uint32 `cli:"cltTimeout" max:"31536000" defby:"serviceType HTTP=180 TCP=9000 UDP=120 ANY=120" always:"yes" unit:"seconds" help:"Idle time of the client's side before a flow is forgotten; 0 takes the protocol's own"`
	SvrTimeout     uint32 `cli:"svrTimeout" max:"31536000" defby:"serviceType HTTP=360 TCP=9000 UDP=120 ANY=120" always:"yes" unit:"seconds" help:"Idle time of the server's side before a flow is forgotten; 0 takes the protocol's own"`
	HealthMonitor  string `cli:"healthMonitor" enum:"YES,NO" def:"YES" help:"Watch the members by the group's monitors; NO takes them for UP"`
	MaxClient      uint32 `cli:"maxClient" def:"0" max:"4294967294" help:"Open connections at a time, of all virtual servers and workers together, beyond which the service is not chosen; 0 is no limit"`
	MaxReq         uint32 `cli:"maxReq" def:"0" max:"65535" help:"Requests that a connection to a server carries at most; at layer 4 a connection is one request and has one of its own, so that any number is kept; 0 is no limit"`
	MaxBandwidth   uint32 `cli:"maxBandwidth" def:"0" max:"4294967287" unit:"kbit/s" help:"Traffic in both directions in the last second beyond which the service gets no new connections; 0 is no limit"`
	SP             string `cli:"sp" enum:"ON,OFF" def:"OFF" help:"Surge protection: new connections wait their turn while every service has its maxClient; with OFF they are dropped"`
	MonThreshold   uint32 `cli:"monThreshold" def:"0" max:"65535" help:"Sum of the weights of monitors that must say UP for the service to be UP; 0 asks for all of them"`
	DownStateFlush string `cli:"downStateFlush" enum:"ENABLED,DISABLED" def:"ENABLED" help:"When a member goes DOWN its connections are reset at both ends and its other flows forgotten; DISABLED lets them go on"`
	State          string `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Administrative state of all members"`
	AutoScale      string `cli:"autoScale" enum:"DISABLED,DNS" later:"POLICY,CLOUD,API" def:"DISABLED" fixed:"yes" help:"DNS: servers by domain name that are bound stand for a member for each of their addresses, which come and go with the answers of the name servers"`
	Comment        string `cli:"comment" max:"255" help:"Any text about the group"`

	Delay        uint32 `cli:"delay" only:"disable" max:"31536000" unit:"seconds" help:"How long it keeps its connections before it is out of service; with graceFul: at most"`
	GraceFul     string `cli:"graceFul" only:"disable" enum:"YES,NO" def:"NO" help:"It is out of service when its last connection has ended"`
	LeavingSince uint64 `cli:"leavingSince" kept:"yes" max:"253402300799999" help:"When it began to go out of service, in milliseconds since 1970"`
}

// ServiceGroupMember is a port of a server in a group.
type ServiceGroupMember struct {
	Group  string `cli:"serviceGroupName" key:"1" ref:"serviceGroup" help:"Name of the service group"`
	Server string `cli:"serverName" key:"2" ref:"server" within:"yes" help:"Name or IPv4 address of the server; an address that no server has creates a server named like it"`
	Port   uint16 `cli:"port" key:"3" any:"0" within:"yes" help:"Port of the member; * keeps the port that the client used"`
	Weight uint16 `cli:"weight" min:"1" max:"100" def:"1" only:"bind,set" help:"Share of the member against the others"`
	HashID uint32 `cli:"hashId" min:"1" only:"bind,set" help:"Hash methods: who the member is, in place of its address and port"`
	State  string `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"bind" help:"Administrative state of the member"`

	Delay        uint32 `cli:"delay" only:"disable" max:"31536000" unit:"seconds" help:"How long it keeps its connections before it is out of service; with graceFul: at most"`
	GraceFul     string `cli:"graceFul" only:"disable" enum:"YES,NO" def:"NO" help:"It is out of service when its last connection has ended"`
	LeavingSince uint64 `cli:"leavingSince" kept:"yes" max:"253402300799999" help:"When it began to go out of service, in milliseconds since 1970"`
}

// ServiceGroupMonitor binds a monitor to every member of a group. While none is bound each has its protocol's default monitor.
type ServiceGroupMonitor struct {
	Group   string `cli:"serviceGroupName" key:"1" ref:"serviceGroup" help:"Name of the service group"`
	Monitor string `cli:"monitorName" key:"2" keyword:"yes" ref:"lb monitor" help:"Name of the monitor"`
	State   string `cli:"monState" only:"bind" enum:"ENABLED,DISABLED" def:"ENABLED" help:"A monitor whose binding is disabled does not probe the members and does not count"`
	Weight  uint32 `cli:"weight" only:"bind" min:"1" max:"100" def:"1" help:"What the monitor counts for when the group has a monThreshold"`
}

// MemberStat asks for the counters of one member of a group.
type MemberStat struct {
	Group  string `cli:"serviceGroupName" pos:"1" required:"yes" help:"Name of the service group"`
	Server string `cli:"serverName" pos:"2" required:"yes" help:"Name or IPv4 address of the member's server"`
	Port   uint16 `cli:"port" pos:"3" required:"yes" any:"0" help:"Port of the member"`
}

func init() {
	register[ServiceGroup]("serviceGroup", "service-group", "add set unset rm rename enable disable show stat", "Services of one type with options in common", true)
	unbuilt[ServiceGroup]("cacheType td=0 cacheable=NO cip=DISABLED pathMonitor=NO pathMonitorIndv=NO " +
		"rtspSessionidRemap=OFF CKA=NO TCPB=NO CMP=NO tcpProfileName httpProfileName " +
		"appflowLog=DISABLED netProfile memberPort monConnectionClose=NONE autoDisablegraceful=NO " +
		"autoDisabledelay autoDelayedTrofs=NO order topicName bootstrap")
	register[ServiceGroupMember]("serviceGroup", "service-group-member", "bind unbind set unset enable disable", "Member of a service group", true)
	unbuilt[ServiceGroupMember]("CustomServerID=None serverID nameServer dbsTTL order")
	register[ServiceGroupMonitor]("serviceGroup", "service-group-monitor", "bind unbind", "Monitor bound to the members of a service group", true)
	unbuilt[ServiceGroupMonitor]("passive")
	register[MemberStat]("serviceGroupMember", "service-group-member-stat", "stat", "Counters of a member of a service group", false)
}
