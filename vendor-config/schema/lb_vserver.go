package schema

import (
	"iter"
	"net/netip"
	"strconv"
)

// LBVserver is a load balancing virtual server.
type LBVserver struct {
	Name                  string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	ServiceType           string     `cli:"serviceType" pos:"2" required:"yes" fixed:"yes" enum:"HTTP,TCP,UDP,ANY" later:"FTP,SSL,SSL_BRIDGE,SSL_TCP,DTLS,NNTP,DNS,DHCPRA,SIP_UDP,SIP_TCP,SIP_SSL,DNS_TCP,RTSP,PUSH,SSL_PUSH,MYSQL,MSSQL,ORACLE,RADIUS,RDP,DIAMETER,SSL_DIAMETER,TFTP,SMPP,SYSLOGTCP,SYSLOGUDP,FIX,SSL_FIX" help:"Protocol of the vserver; HTTP is balanced per connection"`
	IPAddress             netip.Addr `cli:"IPAddress" pos:"3" any:"::" unless:"IPPattern" help:"VIP: the IPv4 address that clients reach; an address that no ns ip has creates a VIP; * is every address that is not the appliance's"`
	Port                  uint16     `cli:"port" pos:"4" fixed:"yes" any:"0" help:"Port that clients reach; * is every port"`
	Range                 uint16     `cli:"range" min:"1" max:"254" def:"1" fixed:"yes" only:"add" help:"How many addresses the vserver has, from IPAddress on"`
	IPPattern             netip.Addr `cli:"IPPattern" help:"In the place of IPAddress: packets to addresses that are not the appliance's and equal this one in the bits of IPMask"`
	IPMask                netip.Addr `cli:"IPMask" help:"Bits of IPPattern that count, from the left (255.255.0.0) or from the right (0.0.0.255)"`
	PersistenceType       string     `cli:"persistenceType" enum:"NONE,SOURCEIP,DESTIP,SRCIPDESTIP" later:"COOKIEINSERT,SSLSESSION,RULE,URLPASSIVE,CUSTOMSERVERID,CALLID,RTSPSID,DIAMETER,FIXSESSION,USERSESSION" def:"NONE" always:"yes" help:"Persistence: by which addresses a client is known again, whose new connections go to the service of its last one"`
	Timeout               uint32     `cli:"timeout" def:"2" max:"1440" unit:"minutes" help:"Persistence: minutes without a new connection after which a client is forgotten"`
	PersistBackup         string     `cli:"persistenceBackup" enum:"SOURCEIP,NONE" def:"NONE" help:"Persistence that is asked where the first one does not know the client, e.g. at a destination that is new to it; for DESTIP and SRCIPDESTIP"`
	BackupTimeout         uint32     `cli:"backupPersistenceTimeout" def:"2" min:"2" max:"1440" unit:"minutes" help:"The same as timeout for persistenceBackup"`
	PersistMask           netip.Addr `cli:"persistMask" def:"255.255.255.255" help:"Persistence: the part of addresses by which clients are told apart, e.g. 255.255.255.0"`
	TrofsPersistence      string     `cli:"trofsPersistence" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Persistence: clients stay with a service that is on its way out of service; DISABLED sends their new connections elsewhere"`
	LBMethod              string     `cli:"lbMethod" enum:"ROUNDROBIN,LEASTCONNECTION,LEASTPACKETS,LEASTBANDWIDTH,LEASTRESPONSETIME,DESTINATIONIPHASH,SOURCEIPHASH,SRCIPDESTIPHASH,SRCIPSRCPORTHASH,LEASTREQUEST,CUSTOMLOAD,TOKEN,CALLIDHASH,LRTM" later:"URLHASH,DOMAINHASH,AUDITLOGHASH,STATICPROXIMITY,USER_TOKEN" def:"LEASTCONNECTION" help:"Balancing method; LEASTREQUEST is LEASTCONNECTION, since a connection is one request here; CUSTOMLOAD goes by what LOAD monitors say; LRTM by open connections and the time in which monitors with -LRTM ENABLED are answered; TOKEN and CALLIDHASH go by part of the datagram that opens a flow"`
	HashLength            uint32     `cli:"hashLength" def:"80" min:"1" max:"4096" unit:"bytes" help:"CALLIDHASH, TOKEN: how much of the Call-ID or token is hashed at most"`
	Netmask               netip.Addr `cli:"netmask" for:"lbMethod SOURCEIPHASH DESTINATIONIPHASH" def:"255.255.255.255" help:"SOURCEIPHASH, DESTINATIONIPHASH: the part of the address that is hashed, e.g. 255.255.255.0"`
	DataLength            uint32     `cli:"dataLength" for:"lbMethod TOKEN" min:"1" max:"100" unit:"bytes" help:"TOKEN: length of the token in the datagram's payload"`
	DataOffset            uint32     `cli:"dataOffset" for:"lbMethod TOKEN" max:"25400" unit:"bytes" help:"TOKEN: where in the datagram's payload the token begins"`
	Rule                  string     `cli:"rule" max:"1499" def:"none" syntax:"payload" help:"TOKEN, in the place of dataOffset and dataLength: an expression for the part of the packet that opens a flow, e.g. CLIENT.IP.SRC.SUBNET(24) or CLIENT.UDP.PAYLOAD(200).AFTER_STR(\"id=\").BEFORE_STR(\"&\"); a flow without it goes by its client's address and port"`
	Mode                  string     `cli:"m" enum:"IP,MAC,IPTUNNEL,TOS" def:"IP" help:"How packets are redirected: IP to the server's address, MAC unchanged to the server's MAC address, IPTUNNEL in an IP packet from a SNIP to the server, TOS to the server's address with a TOS that stands for the VIP; with TOS and IPTUNNEL the server answers the client itself"`
	TOSID                 uint8      `cli:"tosId" for:"m TOS" min:"1" max:"63" help:"-m TOS: what the server knows the VIP by, sent as DSCP"`
	Sessionless           string     `cli:"sessionless" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Balance each packet by itself, without remembering a connection: with a hash method, and with -m MAC, IPTUNNEL or TOS"`
	L2Conn                string     `cli:"l2Conn" enum:"ON,OFF" def:"OFF" help:"Tell connections of equal addresses and ports apart by the client's MAC address, VLAN and port as well (L4Param -l2ConnMethod), and send answers back there, whatever their route"`
	ListenPolicy          string     `cli:"Listenpolicy" max:"1499" def:"NONE" help:"Expression that narrows the packets that a vserver on * or an IPPattern takes, e.g. CLIENT.TCP.DSTPORT.EQ(80)"`
	ListenPriority        uint8      `cli:"Listenpriority" max:"101" def:"101" help:"Of several such vservers that with the lowest priority is asked first"`
	CltTimeout            uint32     `cli:"cltTimeout" max:"31536000" defby:"serviceType HTTP=180 TCP=9000 UDP=120 ANY=120" always:"yes" unit:"seconds" help:"Idle time before a flow is forgotten: HTTP 180, TCP 9000, UDP and ANY 120 when not given; 0 takes the protocol's own"`
	BackupVServer         string     `cli:"backupVServer" ref:"lb vserver" help:"Virtual server that takes new connections while this one is DOWN or beyond its spillover threshold"`
	DisablePrimary        string     `cli:"disablePrimaryOnDown" enum:"ENABLED,DISABLED" def:"DISABLED" help:"When the vserver goes DOWN it is disabled, so that its backup keeps the clients until an operator enables it"`
	SOMethod              string     `cli:"soMethod" enum:"CONNECTION,DYNAMICCONNECTION,BANDWIDTH,HEALTH,NONE" def:"NONE" help:"What is compared with soThreshold: open connections, those against the sum of the services' maxClient, kbit/s in the last second, or the percentage of weights that is UP"`
	SOThreshold           uint32     `cli:"soThreshold" min:"1" max:"4294967287" help:"Connections, kbit/s or percent beyond which, for HEALTH below which, new connections go to the backup vserver"`
	SOBackupAction        string     `cli:"soBackupAction" enum:"DROP,ACCEPT" later:"REDIRECT" help:"What becomes of new connections that spill over while no backup can take them; DROP when not given"`
	SOPersistence         string     `cli:"soPersistence" enum:"ENABLED,DISABLED" def:"DISABLED" help:"A client whose connection spilled over stays with the backup vserver, though this one may have room again"`
	SOPersistenceTimeout  uint16     `cli:"soPersistenceTimeOut" def:"2" min:"2" max:"1440" unit:"minutes" help:"How long it does, since its last new connection"`
	HealthThreshold       uint32     `cli:"healthThreshold" def:"0" max:"100" unit:"percent" help:"Share of the bound services that must be UP for the vserver to be UP; 0 asks for one of them"`
	NewServiceRequest     uint32     `cli:"newServiceRequest" def:"0" help:"Slow start: new connections a second that a service gets at most once it has come UP or was bound; 0 asks for none"`
	NewServiceRequestUnit string     `cli:"newServiceRequestUnit" after:"newServiceRequest" enum:"PER_SECOND,PERCENT" def:"PER_SECOND" help:"Unit of newServiceRequest: connections a second, or percent of the share that the balancing method gives the service"`
	NewServiceIncrement   uint32     `cli:"newServiceRequestIncrementInterval" def:"0" max:"3600" unit:"seconds" help:"Slow start: after each such time a service gets so many connections, or percent, more, after 100 of them, or at 100 percent, its full share; 0 leaves it at the first figure until newServiceRequest is changed"`
	DownStateFlush        string     `cli:"downStateFlush" enum:"ENABLED,DISABLED" def:"ENABLED" help:"When the vserver goes DOWN or is disabled its connections are reset at both ends and its other flows forgotten; DISABLED lets them go on"`
	State                 string     `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Administrative state"`
	Comment               string     `cli:"comment" max:"255" help:"Any text about the vserver"`
}

// Wildcard tells whether the vserver is on every address that is not the appliance's.
func (v *LBVserver) Wildcard() bool { return v.IPAddress == AnyAddress }

// Foreign tells whether the vserver takes packets to addresses that are not the appliance's: a wildcard, or one with a pattern.
func (v *LBVserver) Foreign() bool { return v.Wildcard() || v.IPPattern.IsValid() }

// VIPs are the addresses of the vserver, none if it is not addressed or takes packets to foreign ones.
func (v *LBVserver) VIPs() iter.Seq[netip.Addr] {
	return func(yield func(netip.Addr) bool) {
		if !v.IPAddress.IsValid() || v.IPAddress.IsUnspecified() {
			return
		}
		ip := v.IPAddress
		for n := max(v.Range, 1); n > 0 && yield(ip); n-- {
			ip = ip.Next()
		}
	}
}

// Place is where the vserver listens, as an operator reads it: 10.0.0.1:80, *:*.
func (v *LBVserver) Place() string {
	ip, port := "0.0.0.0", "*"
	switch {
	case v.Wildcard():
		ip = "*"
	case v.IPPattern.IsValid():
		ip = v.IPPattern.String() + "/" + v.IPMask.String()
	case v.IPAddress.IsValid():
		ip = v.IPAddress.String()
	}
	if v.Port != 0 {
		port = strconv.Itoa(int(v.Port))
	}
	return ip + ":" + port
}

// LBVserverService binds a service, or all members of a service group, to a vserver.
type LBVserverService struct {
	Vserver string `cli:"name" key:"1" ref:"lb vserver" help:"Name of the vserver"`
	Service string `cli:"serviceName" key:"2" ref:"service,serviceGroup" help:"Name of the service or of the service group"`
	Weight  uint16 `cli:"weight" min:"1" max:"100" def:"1" only:"bind,set" help:"Share of the service against the others; members of a group have their own"`
}

func init() {
	register[LBVserver]("lb vserver", "lb-vserver", "add set unset rm rename enable disable show stat", "Load balancing virtual server", true)
	unbuilt[LBVserver]("v6netmasklen=128 backupLBMethod=ROUNDROBIN cookieName " +
		"resRule=none v6persistmasklen=128 rtspNat=OFF " +
		"connfailover=DISABLED redirectURL cacheable=NO " +
		"redirectPortRewrite=DISABLED " +
		"insertVserverIPPort=OFF AuthenticationHost Authentication=OFF authn401=OFF " +
		"authnVsName push=DISABLED pushVserver pushLabel=none pushMultiClients=NO tcpProfileName httpProfileName dbProfileName " +
		"appflowLog=DISABLED netProfile icmpVsrResponse=PASSIVE RHIstate=PASSIVE " +
		"minAutoscaleMembers=0 maxAutoscaleMembers=0 persistAVPno skippersistency=None td=0 " +
		"authnProfile macmodeRetainvlan=DISABLED dbsLb=DISABLED dns64=DISABLED bypassAAAA=NO RecursionAvailable=NO " +
		"processLocal=DISABLED dnsProfileName lbprofilename redirectFromPort httpsRedirectUrl retainConnectionsOnCluster=NO")
	register[LBVserverService]("lb vserver", "lb-vserver-service", "bind unbind set", "Service bound to a load balancing virtual server", true)
	unbuilt[LBVserverService]("policyName priority gotoPriorityExpression type invoke")
}
