package schema

// INAT translates connections to a public address to a private one.
type INAT struct {
	Name         string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the translation"`
	PublicIP     string `cli:"publicIP" pos:"2" required:"yes" fixed:"yes" max:"255" syntax:"address" help:"Address that clients use"`
	PrivateIP    string `cli:"privateIP" pos:"3" required:"yes" max:"255" syntax:"address" help:"Address of the server"`
	Mode         string `cli:"mode" enum:"STATELESS" help:"STATELESS: translate each packet by itself"`
	Tcpproxy     string `cli:"tcpproxy" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Answer for the other end of TCP connections"`
	FTP          string `cli:"ftp" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Translate addresses in FTP"`
	Tftp         string `cli:"tftp" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Translate TFTP"`
	USIP         string `cli:"usip" enum:"ON,OFF" help:"The server sees the client's address"`
	Usnip        string `cli:"usnip" enum:"ON,OFF" help:"The server sees a SNIP"`
	ProxyIP      string `cli:"proxyIP" max:"255" syntax:"address" help:"Source address that the server sees"`
	Useproxyport string `cli:"useproxyport" enum:"ENABLED,DISABLED" def:"ENABLED" help:"The source port is ours (ENABLED) or the client's"`
	TD           uint16 `cli:"td" fixed:"yes" max:"4094" help:"Traffic domain; 0 is the one without a number"`
}

// INATParam are parameters of the translation between address families.
type INATParam struct {
	NAT46V6Prefix     string `cli:"nat46v6Prefix" max:"49" syntax:"prefix6" help:"Prefix in which IPv4 addresses are written as IPv6 ones"`
	TD                uint16 `cli:"td" def:"0" max:"4094" help:"Do not carry the TOS over"`
	NAT46IgnoreTOS    string `cli:"nat46IgnoreTOS" enum:"YES,NO" def:"NO" help:"Do not carry the TOS over"`
	NAT46ZeroCheckSum string `cli:"nat46ZeroCheckSum" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Translate UDP without a checksum"`
	NAT46V6MTU        uint16 `cli:"nat46v6Mtu" def:"1280" min:"1280" max:"9216" help:"MTU on the IPv6 side"`
	NAT46FragHeader   string `cli:"nat46FragHeader" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Add a fragment header where none is needed"`
}

func init() {
	stored[INAT]("inat", "inat", "add set unset rm show", "Translation of a public address to a private one")
	stored[INATParam]("inatparam", "inat-param", "set unset show", "Parameters of inat")
}
