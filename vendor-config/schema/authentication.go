package schema

import "net/netip"

// RadiusAction is a RADIUS server that knows accounts (RFC 2865).
type RadiusAction struct {
	Name           string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the server of accounts"`
	ServerIP       netip.Addr `cli:"serverIP" required:"yes" help:"IPv4 address of the server"`
	ServerPort     uint16     `cli:"serverPort" min:"1" def:"1812" help:"UDP port of the server"`
	AuthTimeout    uint32     `cli:"authTimeout" min:"1" max:"60" def:"3" unit:"seconds" help:"How long each answer is waited for"`
	RadKey         string     `cli:"radKey" required:"yes" secret:"yes" max:"127" help:"Key that this appliance and the server share"`
	RadNASIP       string     `cli:"radNASip" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Send the appliance's address as NAS-IP-Address"`
	RadNASID       string     `cli:"radNASid" max:"253" help:"NAS-Identifier of the request"`
	RadVendorID    uint32     `cli:"radVendorID" max:"16777215" help:"Vendor of the attribute that tells groups; 0 for an attribute of RADIUS itself"`
	RadAttribute   uint8      `cli:"radAttributeType" min:"1" help:"Attribute that tells groups, e.g. 25 for Class; without it none is looked at"`
	RadGroupPrefix string     `cli:"radGroupsPrefix" max:"127" help:"What stands before the groups in that attribute, e.g. groups="`
	RadGroupSep    string     `cli:"radGroupSeparator" def:";" max:"31" help:"What stands between two groups"`
	MessageAuth    string     `cli:"messageAuthenticator" enum:"ON,OFF" def:"ON" help:"Answers must prove by a Message-Authenticator where they come from; OFF is for servers that cannot send it"`
	Retries        uint8      `cli:"authServRetry" min:"1" max:"10" def:"3" help:"How often a request is sent until the server counts as silent"`
	DefaultGroup   string     `cli:"defaultAuthenticationGroup" max:"63" help:"Group that everybody belongs to whom the server lets in"`
}

// LDAPAction is a directory that knows accounts (RFC 4511).
type LDAPAction struct {
	Name         string     `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the server of accounts"`
	ServerIP     netip.Addr `cli:"serverIP" required:"yes" help:"IPv4 address of the server"`
	ServerPort   uint16     `cli:"serverPort" min:"1" def:"389" help:"TCP port of the server"`
	AuthTimeout  uint32     `cli:"authTimeout" min:"1" max:"60" def:"3" unit:"seconds" help:"How long the server may take in all"`
	Base         string     `cli:"ldapBase" required:"yes" max:"1023" help:"Where users are searched, e.g. \"ou=people,dc=example,dc=com\""`
	BindDN       string     `cli:"ldapBindDn" max:"1023" help:"Who searches for users; without it nobody in particular"`
	BindPassword string     `cli:"ldapBindDnPassword" secret:"yes" max:"127" help:"Password of ldapBindDn"`
	LoginName    string     `cli:"ldapLoginName" def:"uid" max:"127" syntax:"attribute" help:"Attribute that holds the user name, e.g. uid or sAMAccountName"`
	SearchFilter string     `cli:"searchFilter" max:"255" help:"What else must hold for the user's entry, without the outer parentheses, e.g. \"memberOf=cn=admins,dc=example,dc=com\""`
	GroupAttr    string     `cli:"groupAttrName" def:"memberOf" max:"127" syntax:"attribute" help:"Attribute of the user's entry that names groups"`
	SubAttr      string     `cli:"subAttributeName" def:"cn" max:"127" syntax:"attribute" help:"Part of a group's distinguished name that is the group's name"`
	SecType      string     `cli:"secType" enum:"PLAINTEXT,TLS,SSL" def:"PLAINTEXT" help:"Passwords are sent in the clear, after STARTTLS, or over TLS from the first byte"`
	ValidateCert string     `cli:"validateServerCert" enum:"YES,NO" def:"NO" help:"The certificate of the server must be of a known authority and bear ldapHostname or serverIP"`
	Hostname     string     `cli:"ldapHostname" max:"127" syntax:"host" help:"Name that the certificate must bear"`
	DefaultGroup string     `cli:"defaultAuthenticationGroup" max:"63" help:"Group that everybody belongs to whom the server lets in"`
}

// RadiusPolicy says when a RADIUS server is asked.
type RadiusPolicy struct {
	Name   string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule   string `cli:"rule" pos:"2" required:"yes" only:"add,set" enum:"true,ns_true" help:"When the server is asked: always"`
	Action string `cli:"reqAction" pos:"3" required:"yes" only:"add,set" ref:"authentication radiusAction" help:"The server"`
}

// LDAPPolicy says when a directory is asked.
type LDAPPolicy struct {
	Name   string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule   string `cli:"rule" pos:"2" required:"yes" only:"add,set" enum:"true,ns_true" help:"When the directory is asked: always"`
	Action string `cli:"reqAction" pos:"3" required:"yes" only:"add,set" ref:"authentication ldapAction" help:"The directory"`
}

// AuthenticationPolicy is either in one form.
type AuthenticationPolicy struct {
	Name   string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule   string `cli:"rule" required:"yes" enum:"true,ns_true" help:"When the server is asked: always"`
	Action string `cli:"action" required:"yes" ref:"authentication radiusAction,authentication ldapAction" help:"The server of accounts"`
}

// SystemGlobal binds a policy, so that its server is asked for administrators, or gets log messages.
type SystemGlobal struct {
	Policy   string `cli:"policyName" key:"1" ref:"authentication radiusPolicy,authentication ldapPolicy,authentication Policy,audit syslogPolicy" help:"Name of the policy"`
	Priority uint32 `cli:"priority" only:"bind" def:"0" max:"2147483647" help:"Servers of lower numbers are asked first"`
}

func init() {
	register[RadiusAction]("authentication radiusAction", "authentication-radius-action", "add set unset rm show", "RADIUS server that knows accounts", true)
	unbuilt[RadiusAction]("serverName passEncoding=pap ipVendorID=0 ipAttributeType=0 accounting=OFF pwdVendorID=0 pwdAttributeType=0 " +
		"callingstationid=DISABLED authentication=ON tunnelEndpointClientIP=DISABLED transport=UDP targetLBVserver")
	register[LDAPAction]("authentication ldapAction", "authentication-ldap-action", "add set unset rm show", "Directory that knows accounts", true)
	unbuilt[LDAPAction]("serverName svrType=AD|NDS ssoNameAttribute authentication=ENABLED requireUser=YES passwdChange=DISABLED " +
		"nestedGroupExtraction=OFF maxNestingLevel=2 groupNameIdentifier groupSearchAttribute groupSearchSubAttribute groupSearchFilter " +
		"followReferrals=OFF maxLDAPReferrals=1 referralDNSLookup=A-REC mssrvRecordLocation Attribute1 email KBAttribute Attributes " +
		"cloudAttributes=DISABLED sshPublicKey pushService OTPSecret alternateEmailAttr")
	register[RadiusPolicy]("authentication radiusPolicy", "authentication-radius-policy", "add set rm show", "When a RADIUS server is asked", true)
	register[LDAPPolicy]("authentication ldapPolicy", "authentication-ldap-policy", "add set rm show", "When a directory is asked", true)
	register[AuthenticationPolicy]("authentication Policy", "authentication-policy", "add set rm show", "When a server of accounts is asked", true)
	unbuilt[AuthenticationPolicy]("undefAction comment logAction")
	register[SystemGlobal]("system global", "system-global", "bind unbind show", "Policies of servers that are asked for administrators or get log messages", true)
	unbuilt[SystemGlobal]("nextFactor gotoPriorityExpression=NEXT|END feature")
}

// attributeFault: the short name of an attribute in a directory (RFC 4512 section 1.4).
func attributeFault(s string) string {
	first := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z')
	for i := range len(s) {
		c := s[i]
		first = first && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-')
	}
	if !first {
		return "the name of an attribute is a letter and then letters, digits and -"
	}
	return ""
}
