package schema

import "net/netip"

// CSVserver is a content switching virtual server: it chooses a load balancing one by policies.
type CSVserver struct {
	Name                    string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	ServiceType             string     `cli:"serviceType" pos:"2" required:"yes" fixed:"yes" enum:"HTTP,SSL,TCP,FTP,RTSP,SSL_TCP,UDP,DNS,SIP_UDP,SIP_TCP,SIP_SSL,ANY,RADIUS,RDP,MYSQL,MSSQL,DIAMETER,SSL_DIAMETER,DNS_TCP,ORACLE,SMPP" help:"Protocol of the vserver"`
	IPAddress               string     `cli:"IPAddress" pos:"3" unless:"IPPattern" max:"255" syntax:"address" help:"VIP, or * for every address; left out for a vserver of -targetType GSLB"`
	Port                    uint16     `cli:"port" pos:"4" fixed:"yes" any:"0" help:"Port that clients reach; * is every port"`
	TD                      uint16     `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	Range                   uint8      `cli:"range" fixed:"yes" def:"1" min:"1" max:"254" help:"How many addresses it has, from IPAddress on"`
	IPPattern               netip.Addr `cli:"IPPattern" help:"In the place of IPAddress: destinations that equal this address in the bits of IPMask"`
	IPMask                  netip.Addr `cli:"IPMask" help:"Bits of IPPattern that count"`
	TargetType              string     `cli:"targetType" fixed:"yes" enum:"GSLB" help:"GSLB: it switches between answers of the DNS and has no address of its own"`
	DNSRecordType           string     `cli:"dnsRecordType" enum:"A,AAAA,CNAME,NAPTR" help:"Record that a GSLB target answers with"`
	PersistenceID           uint16     `cli:"persistenceId" help:"Number by which sites know a client's GSLB persistence"`
	State                   string     `cli:"state" only:"add" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Administrative state"`
	Stateupdate             string     `cli:"stateupdate" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Its state follows that of the vservers it switches to"`
	Cacheable               string     `cli:"cacheable" enum:"YES,NO" def:"NO" help:"Ask the cache before a server"`
	RedirectURL             string     `cli:"redirectURL" max:"255" help:"Where clients are sent while it is DOWN"`
	CltTimeout              uint32     `cli:"cltTimeout" max:"31536000" unit:"seconds" help:"Idle time after which a client's connection is closed"`
	Precedence              string     `cli:"precedence" enum:"RULE,URL" def:"RULE" help:"Which policies are asked first: those with a rule or those with a URL"`
	CaseSensitive           string     `cli:"caseSensitive" enum:"ON,OFF" def:"ON" help:"Whether the case of letters counts in URLs of policies"`
	SoMethod                string     `cli:"soMethod" enum:"CONNECTION,DYNAMICCONNECTION,BANDWIDTH,HEALTH,NONE" help:"What is compared with soThreshold for spillover"`
	SoPersistence           string     `cli:"soPersistence" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Clients that were spilled over stay with the backup"`
	SoPersistenceTimeOut    uint16     `cli:"soPersistenceTimeOut" def:"2" min:"2" max:"1440" unit:"minutes" help:"How long they do"`
	SoThreshold             uint32     `cli:"soThreshold" min:"1" max:"4294967287" help:"Value of soMethod from which new connections are spilled over"`
	SoBackupAction          string     `cli:"soBackupAction" enum:"DROP,ACCEPT,REDIRECT" help:"What becomes of them while no backup can take them"`
	RedirectPortRewrite     string     `cli:"redirectPortRewrite" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Write the vserver's port into redirects of servers"`
	DownStateFlush          string     `cli:"downStateFlush" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Connections are reset when it goes DOWN; DISABLED lets them go on"`
	BackupVServer           string     `cli:"backupVServer" max:"127" help:"Virtual server that takes over while this one is DOWN"`
	DisablePrimaryOnDown    string     `cli:"disablePrimaryOnDown" enum:"ENABLED,DISABLED" def:"DISABLED" help:"When it goes DOWN it stays out of service until an operator enables it"`
	InsertVserverIPPort     string     `cli:"insertVserverIPPort" enum:"OFF,VIPADDR,V6TOV4MAPPING" help:"Tell servers the VIP and port in a header of requests"`
	VIPHeader               string     `cli:"vipHeader" after:"insertVserverIPPort" max:"255" help:"Name of that header"`
	RTSPNAT                 string     `cli:"rtspNat" enum:"ON,OFF" def:"OFF" help:"Translate addresses in RTSP messages"`
	AuthenticationHost      string     `cli:"AuthenticationHost" max:"255" help:"Domain name that users authenticate at"`
	Authentication          string     `cli:"Authentication" enum:"ON,OFF" def:"OFF" help:"Users authenticate before they get through"`
	Authn401                string     `cli:"authn401" enum:"ON,OFF" def:"OFF" help:"Ask for credentials by status 401"`
	AuthnVsName             string     `cli:"authnVsName" max:"255" help:"Authentication vserver"`
	Listenpolicy            string     `cli:"Listenpolicy" def:"NONE" max:"1499" help:"Expression that says which packets to its address it takes"`
	Listenpriority          uint8      `cli:"Listenpriority" def:"101" max:"101" help:"Of several whose Listenpolicy matches, the one with the lowest number takes the packet"`
	Push                    string     `cli:"push" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Serve WebSocket-like push to clients"`
	PushVserver             string     `cli:"pushVserver" max:"255" help:"lb vserver of type PUSH that serves them"`
	PushLabel               string     `cli:"pushLabel" def:"none" max:"1499" help:"Expression that gives the label of a push client"`
	PushMultiClients        string     `cli:"pushMultiClients" enum:"YES,NO" def:"NO" help:"A client may have several push connections"`
	TCPProfileName          string     `cli:"tcpProfileName" max:"255" help:"ns tcpProfile with the TCP options of its connections"`
	HTTPProfileName         string     `cli:"httpProfileName" max:"255" help:"ns httpProfile with its HTTP options"`
	DBProfileName           string     `cli:"dbProfileName" max:"255" help:"Database profile"`
	OracleServerVersion     string     `cli:"oracleServerVersion" enum:"10G,11G" def:"10G" help:"Version of the Oracle servers"`
	MssqlServerVersion      string     `cli:"mssqlServerVersion" enum:"70,2000,2000SP1,2005,2008,2008R2,2012,2014" def:"2008R2" help:"Version of the Microsoft SQL servers"`
	MysqlProtocolVersion    uint32     `cli:"mysqlProtocolVersion" def:"10" help:"MySQL protocol that is told to clients"`
	MysqlServerVersion      string     `cli:"mysqlServerVersion" max:"255" help:"MySQL version that is told to clients"`
	MysqlCharacterSet       uint32     `cli:"mysqlCharacterSet" def:"8" help:"MySQL character set that is told to clients"`
	MysqlServerCapabilities uint32     `cli:"mysqlServerCapabilities" def:"41613" help:"MySQL capability bits that are told to clients"`
	Comment                 string     `cli:"comment" max:"255" help:"Any text about it"`
	L2Conn                  string     `cli:"l2Conn" enum:"ON,OFF" help:"Tell connections apart by MAC address, VLAN and port as well"`
	AppflowLog              string     `cli:"appflowLog" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Tell flow collectors about its connections"`
	NetProfile              string     `cli:"netProfile" max:"255" help:"netProfile with the source addresses toward servers"`
	ICMPVsrResponse         string     `cli:"icmpVsrResponse" enum:"PASSIVE,ACTIVE" def:"PASSIVE" help:"Whether pings of the VIP are answered when one of its vservers is UP (PASSIVE) or only when all that say ACTIVE are"`
	RHIstate                string     `cli:"RHIstate" enum:"PASSIVE,ACTIVE" def:"PASSIVE" help:"The same for announcing a route to the VIP"`
	AuthnProfile            string     `cli:"authnProfile" max:"255" help:"Authentication profile"`
	DNSProfileName          string     `cli:"dnsProfileName" max:"255" help:"DNS profile"`
}

// CSVserverDefault is where a content switching vserver sends what no policy matches.
type CSVserverDefault struct {
	Name      string `cli:"name" key:"1" max:"127" ref:"cs-vserver" syntax:"name" help:"Name of the cs vserver"`
	Lbvserver string `cli:"lbvserver" key:"2" keyword:"yes" max:"127" ref:"lb-vserver" syntax:"name" help:"lb vserver that takes what no policy matches"`
}

// CSVserverPolicy is a policy that a content switching vserver asks.
type CSVserverPolicy struct {
	Name                   string `cli:"name" key:"1" max:"127" ref:"cs-vserver" syntax:"name" help:"Name of the cs vserver"`
	PolicyName             string `cli:"policyName" key:"2" keyword:"yes" max:"127" help:"Policy"`
	TargetLBVserver        string `cli:"targetLBVserver" max:"127" ref:"lb-vserver" help:"lb vserver that takes what the policy matches"`
	Priority               uint32 `cli:"priority" only:"bind" help:"Order in which they are asked, the lowest first"`
	GotoPriorityExpression string `cli:"gotoPriorityExpression" only:"bind" max:"1499" help:"Which policy is asked next when this one matches: a priority, NEXT or END"`
	Type                   string `cli:"type" only:"bind" enum:"REQUEST,RESPONSE" help:"Whether requests or responses are looked at"`
	Invoke                 string `cli:"invoke" only:"bind" enum:"reqvserver,resvserver,policylabel" help:"Kind of label with policies to go on with"`
	LabelName              string `cli:"labelName" after:"invoke" only:"bind" max:"127" help:"Label that invoke goes to"`
}

// CSVserverDomain is a name that a content switching vserver of target type GSLB answers for.
type CSVserverDomain struct {
	Name          string `cli:"name" key:"1" max:"127" ref:"cs-vserver" syntax:"name" help:"Name of the cs vserver"`
	DomainName    string `cli:"domainName" key:"2" keyword:"yes" max:"253" syntax:"host" help:"Domain name"`
	TTL           uint32 `cli:"TTL" only:"bind" unit:"seconds" help:"How long resolvers may keep the answer"`
	BackupIP      string `cli:"backupIP" only:"bind" max:"255" syntax:"address" help:"Address that is answered while no target is UP"`
	CookieDomain  string `cli:"cookieDomain" only:"bind" max:"253" help:"Domain of the persistence cookie"`
	CookieTimeout uint32 `cli:"cookieTimeout" only:"bind" unit:"minutes" help:"How long the persistence cookie is valid"`
	SitedomainTTL uint32 `cli:"sitedomainTTL" only:"bind" unit:"seconds" help:"How long resolvers may keep names of sites"`
}

func init() {
	stored[CSVserver]("cs vserver", "cs-vserver", "add set unset rm enable disable rename show", "Content switching virtual server")
	stored[CSVserverDefault]("cs vserver", "cs-vserver-lbvserver", "bind unbind", "Default target of a content switching vserver")
	stored[CSVserverPolicy]("cs vserver", "cs-vserver-policy", "bind unbind", "Policy bound to a content switching vserver")
	stored[CSVserverDomain]("cs vserver", "cs-vserver-domain", "bind unbind", "Domain name that a GSLB content switching vserver answers for")
}
