package schema

import "net/netip"

// LBVserver is a load balancing virtual server.
type LBVserver struct {
	Name            string     `cli:"name" key:"1" max:"127" help:"Name of the vserver"`
	ServiceType     string     `cli:"serviceType" pos:"2" required:"yes" fixed:"yes" enum:"HTTP,TCP,UDP,ANY" later:"FTP,SSL,SSL_BRIDGE,SSL_TCP,DTLS,NNTP,DNS,DHCPRA,SIP_UDP,SIP_TCP,SIP_SSL,DNS_TCP,RTSP,PUSH,SSL_PUSH,MYSQL,MSSQL,ORACLE,RADIUS,RDP,DIAMETER,SSL_DIAMETER,TFTP,SMPP,SYSLOGTCP,SYSLOGUDP,FIX,SSL_FIX" help:"Protocol of the vserver; HTTP is balanced per connection"`
	IPAddress       netip.Addr `cli:"IPAddress" pos:"3" any:"0.0.0.0" help:"VIP: the IPv4 address that clients reach; an address that no ns ip has creates a VIP"`
	Port            uint16     `cli:"port" pos:"4" fixed:"yes" any:"0" help:"Port that clients reach; * is every port"`
	PersistenceType string     `cli:"persistenceType" enum:"NONE" later:"SOURCEIP,COOKIEINSERT,SSLSESSION,RULE,URLPASSIVE,CUSTOMSERVERID,DESTIP,SRCIPDESTIP,CALLID,RTSPSID,DIAMETER,FIXSESSION,USERSESSION" def:"NONE" always:"yes" help:"Persistence of clients"`
	LBMethod        string     `cli:"lbMethod" enum:"ROUNDROBIN,LEASTCONNECTION" later:"LEASTRESPONSETIME,URLHASH,DOMAINHASH,DESTINATIONIPHASH,SOURCEIPHASH,SRCIPDESTIPHASH,LEASTBANDWIDTH,LEASTPACKETS,TOKEN,SRCIPSRCPORTHASH,LRTM,CALLIDHASH,CUSTOMLOAD,LEASTREQUEST,AUDITLOGHASH,STATICPROXIMITY,USER_TOKEN" def:"LEASTCONNECTION" help:"Balancing method"`
	Mode            string     `cli:"m" enum:"IP" later:"MAC,IPTUNNEL,TOS" def:"IP" help:"How packets are redirected; IP rewrites the destination address"`
	CltTimeout      uint32     `cli:"cltTimeout" max:"31536000" always:"yes" unit:"seconds" help:"Idle time before a flow is forgotten: HTTP 180, TCP 9000, UDP and ANY 120 when not given"`
	State           string     `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" only:"add" help:"Administrative state"`
	Comment         string     `cli:"comment" max:"255" help:"Any text about the vserver"`
	Sessionless     string     `cli:"sessionless" later:"*" help:"Balance each packet on its own"`
	Listenpolicy    string     `cli:"Listenpolicy" later:"*" help:"Expression that narrows what the vserver takes"`
	BackupVServer   string     `cli:"backupVServer" later:"*" help:"Vserver that takes over when this one is down"`
}

// LBVserverService binds a service to a vserver.
type LBVserverService struct {
	Vserver string `cli:"name" key:"1" ref:"lb vserver" help:"Name of the vserver"`
	Service string `cli:"serviceName" key:"2" ref:"service" help:"Name of the service"`
	Weight  uint16 `cli:"weight" min:"1" max:"100" def:"1" only:"bind" help:"Share of the service against the others"`
}

func init() {
	register[LBVserver]("lb vserver", "lb-vserver", "add set unset rm enable disable show stat", "Load balancing virtual server", true)
	register[LBVserverService]("lb vserver", "lb-vserver-service", "bind unbind", "Service bound to a load balancing virtual server", true)
}
