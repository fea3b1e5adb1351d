package schema

// AuditMessageAction is a log message that a policy writes.
type AuditMessageAction struct {
	Name              string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the action"`
	LogLevel          string `cli:"logLevel" pos:"2" required:"yes" enum:"EMERGENCY,ALERT,CRITICAL,ERROR,WARNING,NOTICE,INFORMATIONAL,DEBUG" help:"Severity of the message"`
	StringBuilderExpr string `cli:"stringBuilderExpr" pos:"3" required:"yes" max:"8191" help:"Expression that gives its text"`
	LogtoNewnslog     string `cli:"logtoNewnslog" enum:"YES,NO" help:"Write it to the event log as well"`
	BypassSafetyCheck string `cli:"bypassSafetyCheck" enum:"YES,NO" def:"NO" help:"Accept expressions that may fail"`
}

// AuditNSLogAction is a server for the binary log.
type AuditNSLogAction struct {
	Name                string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the action"`
	ServerIP            string `cli:"serverIP" pos:"2" max:"255" syntax:"address" help:"Address of the server"`
	ServerDomainName    string `cli:"serverDomainName" fixed:"yes" instead:"serverIP" max:"253" syntax:"host" help:"Domain name of the server"`
	DomainResolveRetry  uint16 `cli:"domainResolveRetry" def:"5" min:"5" max:"20939" unit:"seconds" help:"Time until a name that could not be resolved is asked for again"`
	ServerPort          uint16 `cli:"serverPort" help:"Port of the server"`
	LogLevel            string `cli:"logLevel" required:"yes" many:"yes" max:"127" help:"Severities that are logged"`
	DateFormat          string `cli:"dateFormat" enum:"MMDDYYYY,DDMMYYYY,YYYYMMDD" help:"How the date is written"`
	LogFacility         string `cli:"logFacility" enum:"LOCAL0,LOCAL1,LOCAL2,LOCAL3,LOCAL4,LOCAL5,LOCAL6,LOCAL7" help:"Facility of the messages"`
	TCP                 string `cli:"tcp" enum:"NONE,ALL" help:"Log TCP connections"`
	ACL                 string `cli:"acl" enum:"ENABLED,DISABLED" help:"Log what ACLs match"`
	TimeZone            string `cli:"timeZone" enum:"GMT_TIME,LOCAL_TIME" help:"Time that messages have"`
	UserDefinedAuditlog string `cli:"userDefinedAuditlog" enum:"YES,NO" help:"Log messages of audit messageactions"`
	AppflowExport       string `cli:"appflowExport" enum:"ENABLED,DISABLED" help:"Send the messages to flow collectors"`
	Lsn                 string `cli:"lsn" enum:"ENABLED,DISABLED" help:"Log large scale NAT"`
	Alg                 string `cli:"alg" enum:"ENABLED,DISABLED" help:"Log application gateways of NAT"`
	SubscriberLog       string `cli:"subscriberLog" enum:"ENABLED,DISABLED" help:"Log subscriber sessions"`
	SSLInterception     string `cli:"sslInterception" enum:"ENABLED,DISABLED" help:"Log intercepted TLS"`
}

func init() {
	stored[AuditMessageAction]("audit messageaction", "audit-message-action", "add set unset rm show", "Log message of a policy")
	stored[AuditNSLogAction]("audit nslogAction", "audit-nslog-action", "add set unset rm show", "Server for the binary log")
}
