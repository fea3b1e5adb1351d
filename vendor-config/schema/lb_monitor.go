package schema

import (
	"net/netip"
	"reflect"
	"sync"
)

// LBMonitor is a health check. The key is the name; set, unset and rm take the type as second word as well.
type LBMonitor struct {
	Name            string     `cli:"monitorName" key:"1" max:"127" syntax:"name" help:"Name of the monitor"`
	Type            string     `cli:"type" pos:"2" required:"yes" fixed:"yes" also:"set,unset,rm,show" enum:"PING,TCP,HTTP,TCP-ECV,HTTP-ECV,UDP-ECV,DNS,DNS-TCP,FTP,SMTP,POP3,LDAP,RADIUS,MYSQL,MYSQL-ECV,SNMP,ARP,LOAD,USER" later:"LDNS-PING,LDNS-TCP,LDNS-DNS,HTTP-INLINE,SIP-UDP,SIP-TCP,FTP-EXTENDED,NNTP,MSSQL-ECV,ORACLE-ECV,RTSP,ND6,DIAMETER,STOREFRONT" help:"What is probed"`
	RespCode        string     `cli:"respCode" many:"yes" syntax:"codes" for:"type HTTP RADIUS" defby:"type HTTP=200 RADIUS=2" max:"255" help:"Response codes that mean UP, as numbers and ranges separated by spaces, e.g. 200 300-302"`
	HTTPRequest     string     `cli:"httpRequest" for:"type HTTP" def:"HEAD /" max:"255" syntax:"request" help:"Method and path of the request, quoted"`
	CustomHeaders   string     `cli:"customHeaders" for:"type HTTP HTTP-ECV" max:"1023" syntax:"payload" help:"Header fields to add to the request, e.g. \"Host: www.example.com\\r\\n\""`
	Send            string     `cli:"send" for:"type TCP-ECV HTTP-ECV UDP-ECV" max:"1023" syntax:"payload" help:"What is sent, e.g. \"GET /index.html\"; \\r \\n \\t and \\xHH are bytes"`
	Recv            string     `cli:"recv" for:"type TCP-ECV HTTP-ECV UDP-ECV" max:"511" syntax:"payload" help:"What the first 24 KB of the answer (HTTP-ECV: of its body) must contain; without it any answer will do"`
	Interval        uint32     `cli:"interval" def:"5" min:"1" max:"20940" unit:"interval-unit" help:"Time between two probes"`
	IntervalUnit    string     `cli:"intervalUnit" after:"interval" enum:"SEC,MSEC,MIN" def:"SEC" help:"Unit of interval"`
	RespTimeout     uint32     `cli:"resptimeout" def:"2" min:"1" max:"20939" unit:"resp-timeout-unit" help:"Time after which a probe without an answer has failed; not more than interval"`
	RespTimeoutUnit string     `cli:"resptimeoutUnit" after:"resptimeout" enum:"SEC,MSEC,MIN" def:"SEC" help:"Unit of resptimeout"`
	Retries         uint32     `cli:"retries" def:"3" min:"1" max:"127" help:"Failed probes in a row after which the service is DOWN"`
	FailureRetries  uint32     `cli:"failureRetries" max:"32" help:"Failed probes among the last retries after which the service is DOWN; 0 for all of them"`
	AlertRetries    uint32     `cli:"alertRetries" max:"32" help:"Failed probes in a row after which the log says so; 0 for never"`
	LRTM            string     `cli:"LRTM" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Learn the average response time"`
	Deviation       uint32     `cli:"deviation" max:"20939" unit:"deviation-unit" help:"With LRTM: a probe that takes this much longer than on average has failed; 0 for never"`
	DeviationUnit   string     `cli:"deviationUnit" after:"deviation" enum:"SEC,MSEC,MIN" def:"SEC" help:"Unit of deviation"`
	RespThreshold   uint32     `cli:"resptimeoutThresh" max:"100" unit:"percent" help:"Share of resptimeout beyond which the log says that a server answers slowly; 0 for never"`
	SuccessRetries  uint32     `cli:"successRetries" def:"1" min:"1" max:"32" help:"Good probes in a row after which the service is UP again"`
	DownTime        uint32     `cli:"downTime" def:"30" min:"1" max:"20939" unit:"down-time-unit" help:"Time between two probes while the service is DOWN"`
	DownTimeUnit    string     `cli:"downTimeUnit" after:"downTime" enum:"SEC,MSEC,MIN" def:"SEC" help:"Unit of downTime"`
	Query           string     `cli:"query" for:"type DNS DNS-TCP" max:"253" syntax:"domain" help:"Name to ask the server for"`
	QueryType       string     `cli:"queryType" for:"type DNS DNS-TCP" enum:"Address,Zone,AAAA" def:"Address" help:"Record to ask for: A, SOA or AAAA"`
	Addresses       string     `cli:"IPAddress" for:"type DNS DNS-TCP" many:"yes" max:"1023" syntax:"addresses" help:"One of these addresses must be in the answer; without them any record of the type will do"`
	UserName        string     `cli:"userName" for:"type FTP POP3 RADIUS MYSQL MYSQL-ECV" max:"127" help:"User to log in as"`
	Password        string     `cli:"password" for:"type FTP POP3 RADIUS LDAP MYSQL MYSQL-ECV" secret:"yes" max:"127" help:"Password of userName, or of bindDN"`
	RadKey          string     `cli:"radKey" for:"type RADIUS" secret:"yes" max:"127" help:"Key that this appliance and the server share"`
	RadNASID        string     `cli:"radNASid" for:"type RADIUS" max:"253" help:"NAS-Identifier of the request"`
	RadNASIP        netip.Addr `cli:"radNASip" for:"type RADIUS" help:"NAS-IP-Address of the request; the probe's source without it"`
	BaseDN          string     `cli:"baseDN" for:"type LDAP" max:"1023" help:"Where the search begins, e.g. \"dc=example,dc=com\""`
	BindDN          string     `cli:"bindDN" for:"type LDAP" max:"1023" help:"Who searches; without it nobody in particular"`
	Filter          string     `cli:"filter" for:"type LDAP" max:"1023" help:"Entry to look for, e.g. (uid=probe); any without it"`
	Attribute       string     `cli:"attribute" for:"type LDAP" max:"127" help:"Attribute that the entry must have"`
	Database        string     `cli:"database" for:"type MYSQL MYSQL-ECV" max:"127" help:"Database to log in to"`
	SQLQuery        string     `cli:"sqlQuery" for:"type MYSQL MYSQL-ECV" max:"1023" help:"Query that the server must answer; one that gives rows must give one"`
	SNMPOID         string     `cli:"snmpOID" for:"type SNMP" max:"255" syntax:"oid" help:"Object to ask the agent for"`
	SNMPCommunity   string     `cli:"snmpCommunity" for:"type SNMP LOAD" def:"public" secret:"yes" max:"63" help:"Community that may read it"`
	SNMPThreshold   uint32     `cli:"snmpThreshold" for:"type SNMP" help:"The service is DOWN while the value is above this; 0 for none"`
	SNMPVersion     string     `cli:"snmpVersion" for:"type SNMP LOAD" enum:"V1,V2" def:"V1" help:"Version of SNMP: 1 or 2c"`
	MetricTable     string     `cli:"metricTable" for:"type LOAD" ref:"lb metricTable" help:"Metric table from which metrics are bound to the monitor"`
	ScriptName      string     `cli:"scriptName" for:"type USER" max:"127" syntax:"file" help:"Script of the appliance's folder monitors; it is called with the server's address, port, the timeout in seconds and scriptArgs, and ends with 0 when all is well"`
	ScriptArgs      string     `cli:"scriptArgs" for:"type USER" max:"1023" help:"Fourth argument of the script, e.g. \"file=/a;user=b\""`
	DispatcherIP    netip.Addr `cli:"dispatcherIP" for:"type USER" def:"127.0.0.1" help:"Who runs the script: this appliance, or a web server that is asked for it"`
	DispatcherPort  uint16     `cli:"dispatcherPort" for:"type USER" def:"3013" min:"1" help:"Port of the dispatcher"`
	Reverse         string     `cli:"reverse" enum:"YES,NO" def:"NO" help:"The service is DOWN when the probe succeeds and UP when it fails"`
	Secure          string     `cli:"secure" for:"type TCP HTTP TCP-ECV HTTP-ECV USER" enum:"YES,NO" def:"NO" help:"Probe, or with USER ask the dispatcher elsewhere, over TLS; certificates are not verified"`
	DestIP          netip.Addr `cli:"destIP" help:"Address to probe in place of the server's"`
	DestPort        uint16     `cli:"destPort" any:"0" help:"Port to probe in place of the service's"`
	Transparent     string     `cli:"transparent" enum:"YES,NO" def:"NO" help:"The server is a device on the way to destIP: probes go to destIP by the MAC address of the server, as with -m MAC"`
	IPTunnel        string     `cli:"ipTunnel" enum:"YES,NO" def:"NO" help:"Probes go to destIP in IP packets to the server, as with -m IPTUNNEL"`
	TOS             string     `cli:"tos" enum:"YES,NO" def:"NO" help:"Probes go to the server with tosId as DSCP, by which it knows destIP, as with -m TOS; the answer comes from destIP"`
	TOSID           uint8      `cli:"tosId" for:"tos YES" min:"1" max:"63" help:"What the server knows destIP by, with -tos YES"`
	State           string     `cli:"state" enum:"ENABLED,DISABLED" def:"ENABLED" help:"A disabled monitor does not probe and does not count"`
}

// MonitorSwitch enables or disables monitors where they are bound.
type MonitorSwitch struct {
	Service string `cli:"serviceName" pos:"1" required:"yes" help:"Name of the service or of the service group"`
	Monitor string `cli:"monitorName" pos:"2" help:"Name of a monitor that is bound to it; all of them without"`
}

func init() {
	register[MonitorSwitch]("lb monitor", "lb-monitor-switch", "enable disable", "Monitors of a service or service group", false)
	register[LBMonitor]("lb monitor", "lb-monitor", "add set unset rm show", "Health check of services", true)
	unbuilt[LBMonitor]("action=DOWN rtspRequest maxForwards=1 sipMethod sipURI sipregURI " +
		"secondaryPassword logonpointName lasVersion " +
		"validateCred=NO domain group fileName oracleSid evalRule " +
		"application sitePath storename netProfile originHost originRealm " +
		"hostIPAddress vendorId productName kcdAccount storedb=DISABLED trofscode trofsstring sslProfile")
}

// BuiltinMonitors are the monitors that are always there. They are not rows, are never written and cannot be changed.
var BuiltinMonitors = sync.OnceValue(func() []*LBMonitor {
	var all []*LBMonitor
	for _, b := range [][2]string{{"ping-default", "PING"}, {"tcp-default", "TCP"}, {"ping", "PING"}, {"tcp", "TCP"}, {"http", "HTTP"},
		{"tcp-ecv", "TCP-ECV"}, {"http-ecv", "HTTP-ECV"}, {"udp-ecv", "UDP-ECV"}, {"dns", "DNS"}, {"ftp", "FTP"}, {"arp", "ARP"}} {
		m := Of[LBMonitor]().Fresh().(*LBMonitor)
		m.Name, m.Type = b[0], b[1]
		Of[LBMonitor]().Field("respCode").Reset(Of[LBMonitor](), reflect.ValueOf(m).Elem())
		all = append(all, m)
	}
	return all
})

// MonitorNamed finds a monitor, configured or built in, or nil.
func MonitorNamed(c *Config, name string) *LBMonitor {
	for _, m := range BuiltinMonitors() {
		if m.Name == name {
			return m
		}
	}
	return Get[LBMonitor](c, name)
}

// DefaultMonitor is the name of the monitor that a service of the type has while none is bound.
func DefaultMonitor(serviceType string) string {
	if serviceType == "HTTP" || serviceType == "TCP" {
		return "tcp-default"
	}
	return "ping-default"
}

// Portless tells whether monitors of the type probe an address and no port of it.
func Portless(monitorType string) bool { return monitorType == "PING" || monitorType == "ARP" }

// NeedsPort tells whether monitors of the type can watch nothing without a port; scripts are told of it if there is one.
func NeedsPort(monitorType string) bool {
	return !Portless(monitorType) && monitorType != "USER" && UsualPort(monitorType) == 0
}

// UsualPort is the port that monitors of the type probe unless they have a destPort, or 0 for the service's: agents of SNMP are
// beside what they tell about.
func UsualPort(monitorType string) uint16 {
	if monitorType == "SNMP" || monitorType == "LOAD" {
		return 161
	}
	return 0
}
