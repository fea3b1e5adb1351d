package schema

// NSParam are parameters of the appliance.
type NSParam struct {
	HTTPPort                  string `cli:"httpPort" many:"yes" max:"255" syntax:"numbers" help:"Ports of HTTP servers that connections may be taken for"`
	MaxConn                   uint32 `cli:"maxConn" def:"0" max:"4294967294" help:"Most connections to a server"`
	MaxReq                    uint16 `cli:"maxReq" help:"Most requests on one connection to a server"`
	Cip                       string `cli:"cip" enum:"ENABLED,DISABLED" help:"Tell servers the client's address in a header"`
	CipHeader                 string `cli:"cipHeader" after:"cip" max:"79" help:"Name of that header"`
	Cookieversion             string `cli:"cookieversion" enum:"0,1" help:"Version of cookies"`
	SecureCookie              string `cli:"secureCookie" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Cookies are sent over TLS only"`
	PmtuMin                   uint16 `cli:"pmtuMin" def:"576" min:"168" max:"1500" unit:"bytes" help:"Least path MTU that is believed"`
	PmtuTimeout               uint16 `cli:"pmtuTimeout" def:"10" min:"1" max:"1440" unit:"minutes" help:"How long a path MTU is believed"`
	FTPPortRange              string `cli:"ftpPortRange" max:"11" syntax:"range" help:"Ports for FTP data"`
	CRPortRange               string `cli:"crPortRange" max:"11" syntax:"range" help:"Source ports toward origins with usePortRange"`
	Timezone                  string `cli:"timezone" max:"63" help:"Time zone of the clock"`
	GrantQuotaMaxClient       uint8  `cli:"grantQuotaMaxClient" def:"10" max:"100" unit:"percent" help:"Share of maxClient that a core asks for at a time"`
	ExclusiveQuotaMaxClient   uint8  `cli:"exclusiveQuotaMaxClient" def:"80" max:"100" unit:"percent" help:"Share of maxClient that is dealt out to cores"`
	GrantQuotaSpillOver       uint8  `cli:"grantQuotaSpillOver" def:"10" max:"100" unit:"percent" help:"Share of a spillover threshold that a core asks for at a time"`
	ExclusiveQuotaSpillOver   uint8  `cli:"exclusiveQuotaSpillOver" def:"80" max:"100" unit:"percent" help:"Share of a spillover threshold that is dealt out to cores"`
	Useproxyport              string `cli:"useproxyport" enum:"ENABLED,DISABLED" def:"ENABLED" help:"The source port is ours (ENABLED) or the client's"`
	Internaluserlogin         string `cli:"internaluserlogin" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Let nodes log in to each other by the internal user"`
	AftpAllowRandomSourcePort string `cli:"aftpAllowRandomSourcePort" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Active FTP data may come from any port"`
	IcaPorts                  string `cli:"icaPorts" many:"yes" max:"255" syntax:"numbers" help:"Ports of ICA"`
	TCPCIP                    string `cli:"tcpCIP" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Tell servers the client's address in a TCP option"`
	ServicePathIngressVLAN    uint16 `cli:"servicePathIngressVLAN" max:"4094" help:"VLAN of packets that come from service functions"`
	SecureicaPorts            string `cli:"secureicaPorts" many:"yes" max:"255" syntax:"numbers" help:"Ports of ICA over TLS"`
}

// NSRateControl are limits of packets of a kind.
type NSRateControl struct {
	TCPThreshold    uint32 `cli:"tcpThreshold" unit:"10ms" help:"Most SYNs in 10 ms; 0 is no limit"`
	UDPThreshold    uint32 `cli:"udpThreshold" unit:"10ms" help:"Most UDP packets in 10 ms; 0 is no limit"`
	ICMPThreshold   uint32 `cli:"icmpThreshold" def:"100" unit:"10ms" help:"Most ICMP packets in 10 ms; 0 is no limit"`
	TcprstThreshold uint32 `cli:"tcprstThreshold" def:"100" unit:"10ms" help:"Most resets in 10 ms; 0 is no limit"`
}

// NSSPParams are parameters of surge protection.
type NSSPParams struct {
	BaseThreshold uint16 `cli:"baseThreshold" def:"200" max:"32767" help:"Connections to a server from which surge protection sets in"`
	Throttle      string `cli:"throttle" enum:"Aggressive,Normal,Relaxed" def:"Normal" help:"How fast connections are opened then"`
}

func init() {
	stored[NSParam]("ns param", "ns-param", "set unset show", "Parameters of the appliance")
	stored[NSRateControl]("ns rateControl", "ns-rate-control", "set unset show", "Limits of packets of a kind")
	stored[NSSPParams]("ns spParams", "ns-sp-params", "set unset show", "Parameters of surge protection")
}
