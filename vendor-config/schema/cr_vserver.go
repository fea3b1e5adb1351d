package schema

// CRVserver is a cache redirection virtual server: it sends requests to caches or to their origin.
type CRVserver struct {
	Name                 string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the vserver"`
	ServiceType          string `cli:"serviceType" pos:"2" required:"yes" fixed:"yes" enum:"HTTP,SSL,NNTP,HDX" help:"Protocol of the vserver"`
	IPAddress            string `cli:"IPAddress" pos:"3" max:"255" syntax:"address" help:"Address that it takes connections for; * is every address"`
	Port                 uint16 `cli:"port" pos:"4" fixed:"yes" any:"0" help:"Port that it takes connections for; * is every port"`
	TD                   uint16 `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
	Range                uint8  `cli:"range" fixed:"yes" def:"1" min:"1" max:"254" help:"How many addresses it has, from IPAddress on"`
	CacheType            string `cli:"cacheType" fixed:"yes" enum:"TRANSPARENT,REVERSE,FORWARD" help:"TRANSPARENT: clients know of no proxy; FORWARD: they ask it; REVERSE: it stands before servers"`
	Redirect             string `cli:"redirect" enum:"CACHE,POLICY,ORIGIN" def:"POLICY" help:"Who takes requests: the caches, the origin, or whoever the policies say"`
	OnPolicyMatch        string `cli:"onPolicyMatch" enum:"CACHE,ORIGIN" def:"ORIGIN" help:"Who takes requests that a policy matches"`
	RedirectURL          string `cli:"redirectURL" max:"255" help:"Where clients are sent while it is DOWN"`
	CltTimeout           uint32 `cli:"cltTimeout" max:"31536000" unit:"seconds" help:"Idle time after which a client's connection is closed"`
	Precedence           string `cli:"precedence" enum:"RULE,URL" def:"RULE" help:"Which policies are asked first: those with a rule or those with a URL"`
	ARP                  string `cli:"arp" enum:"ON,OFF" help:"Answer ARP for its address"`
	Map                  string `cli:"map" fixed:"yes" enum:"ON,OFF" help:"Rewrite URLs by the map policies"`
	Format               string `cli:"format" fixed:"yes" enum:"ON,OFF" help:"Bring requests into the form that a proxy expects"`
	Via                  string `cli:"via" enum:"ON,OFF" def:"ON" help:"Add a Via header to requests"`
	DNSVserverName       string `cli:"dnsVserverName" max:"127" help:"lb vserver that resolves names of origins"`
	DestinationVServer   string `cli:"destinationVServer" max:"127" help:"lb vserver that takes what goes to the origin"`
	Domain               string `cli:"domain" max:"253" help:"Domain that is added to host names without one"`
	SoPersistenceTimeOut uint8  `cli:"soPersistenceTimeOut" fixed:"yes" min:"2" max:"24" unit:"minutes" help:"How long they do"`
	SoThreshold          uint32 `cli:"soThreshold" fixed:"yes" min:"1" help:"Value of soMethod from which new connections are spilled over"`
	Reuse                string `cli:"reuse" enum:"ON,OFF" def:"ON" help:"Use connections to servers again for other clients"`
	State                string `cli:"state" only:"add" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Administrative state"`
	DownStateFlush       string `cli:"downStateFlush" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Connections are reset when it goes DOWN; DISABLED lets them go on"`
	BackupVServer        string `cli:"backupVServer" max:"127" help:"Virtual server that takes over while this one is DOWN"`
	DisablePrimaryOnDown string `cli:"disablePrimaryOnDown" enum:"ENABLED,DISABLED" def:"DISABLED" help:"When it goes DOWN it stays out of service until an operator enables it"`
	L2Conn               string `cli:"l2Conn" enum:"ON,OFF" help:"Tell connections apart by MAC address, VLAN and port as well"`
	Backendssl           string `cli:"backendssl" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Connections to the origin are TLS"`
	Listenpolicy         string `cli:"Listenpolicy" def:"NONE" max:"1499" help:"Expression that says which packets to its address it takes"`
	Listenpriority       uint8  `cli:"Listenpriority" def:"101" max:"101" help:"Of several whose Listenpolicy matches, the one with the lowest number takes the packet"`
	TCPProfileName       string `cli:"tcpProfileName" max:"255" help:"ns tcpProfile with the TCP options of its connections"`
	HTTPProfileName      string `cli:"httpProfileName" max:"255" help:"ns httpProfile with its HTTP options"`
	Comment              string `cli:"comment" max:"255" help:"Any text about it"`
	SrcIPExpr            string `cli:"srcIPExpr" max:"1499" help:"Expression that gives the client's address, e.g. from a header"`
	OriginUSIP           string `cli:"originUSIP" enum:"ON,OFF" help:"The origin sees the client's address as source"`
	UsePortRange         string `cli:"usePortRange" enum:"ON,OFF" def:"OFF" help:"Source ports are taken from crPortRange of ns param"`
	AppflowLog           string `cli:"appflowLog" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Tell flow collectors about its connections"`
	NetProfile           string `cli:"netProfile" max:"255" help:"netProfile with the source addresses toward servers"`
	ICMPVsrResponse      string `cli:"icmpVsrResponse" enum:"PASSIVE,ACTIVE" def:"PASSIVE" help:"Whether pings of the VIP are answered when one of its vservers is UP (PASSIVE) or only when all that say ACTIVE are"`
	RHIstate             string `cli:"RHIstate" enum:"PASSIVE,ACTIVE" def:"PASSIVE" help:"The same for announcing a route to the VIP"`
}

// CRVserverTarget is the lb vserver with the caches of a cache redirection vserver.
type CRVserverTarget struct {
	Name      string `cli:"name" key:"1" max:"127" ref:"cr-vserver" syntax:"name" help:"Name of the cr vserver"`
	Lbvserver string `cli:"lbvserver" key:"2" keyword:"yes" max:"127" ref:"lb-vserver" syntax:"name" help:"lb vserver with the caches"`
}

// CRVserverPolicy is a policy that a cache redirection vserver asks.
type CRVserverPolicy struct {
	Name                   string `cli:"name" key:"1" max:"127" ref:"cr-vserver" syntax:"name" help:"Name of the cr vserver"`
	PolicyName             string `cli:"policyName" key:"2" keyword:"yes" max:"127" help:"Policy"`
	Priority               uint32 `cli:"priority" only:"bind" help:"Order in which they are asked, the lowest first"`
	GotoPriorityExpression string `cli:"gotoPriorityExpression" only:"bind" max:"1499" help:"Which policy is asked next when this one matches: a priority, NEXT or END"`
	Type                   string `cli:"type" only:"bind" enum:"REQUEST,RESPONSE,ICA_REQUEST" help:"Which messages are looked at"`
	Invoke                 string `cli:"invoke" only:"bind" enum:"reqvserver,resvserver,policylabel" help:"Kind of label with policies to go on with"`
	LabelName              string `cli:"labelName" after:"invoke" only:"bind" max:"127" help:"Label that invoke goes to"`
}

func init() {
	stored[CRVserver]("cr vserver", "cr-vserver", "add set unset rm enable disable rename show", "Cache redirection virtual server")
	stored[CRVserverTarget]("cr vserver", "cr-vserver-lbvserver", "bind unbind", "Caches of a cache redirection vserver")
	stored[CRVserverPolicy]("cr vserver", "cr-vserver-policy", "bind unbind", "Policy bound to a cache redirection vserver")
}
