package schema

import "net/netip"

// IPTunnel is a tunnel to another appliance.
type IPTunnel struct {
	Name             string `cli:"name" key:"1" max:"31" syntax:"name" help:"Name of the tunnel"`
	Remote           string `cli:"remote" pos:"2" required:"yes" max:"255" syntax:"address" help:"Address of the other end"`
	RemoteSubnetMask string `cli:"remoteSubnetMask" pos:"3" required:"yes" max:"45" help:"Mask of that address, or length of the prefix"`
	Local            string `cli:"local" pos:"4" required:"yes" max:"45" help:"Address of this end; * is any SNIP"`
	Protocol         string `cli:"protocol" enum:"IPIP,GRE,IPSEC" def:"IPIP" help:"What GRE carries"`
	Grepayload       string `cli:"grepayload" enum:"ETHERNETwithDOT1Q,ETHERNET,IP" def:"ETHERNETwithDOT1Q" help:"What GRE carries"`
	IpsecProfileName string `cli:"ipsecProfileName" def:"ns_ipsec_default_profile" max:"127" help:"Profile of IPsec"`
	VLAN             uint16 `cli:"vlan" min:"1" max:"4094" help:"VLAN"`
	OwnerGroup       string `cli:"ownerGroup" def:"DEFAULT_NG" max:"255" help:"Node group of a cluster that it belongs to"`
}

// IPTunnelParam are parameters of tunnels.
type IPTunnelParam struct {
	SrcIP                netip.Addr `cli:"srcIP" help:"Address of this end"`
	DropFrag             string     `cli:"dropFrag" enum:"YES,NO" def:"NO" help:"Drop fragments of what is too large"`
	DropFragCpuThreshold uint8      `cli:"dropFragCpuThreshold" min:"1" max:"100" unit:"percent" help:"CPU use above which fragments are dropped"`
	SrcIPRoundRobin      string     `cli:"srcIPRoundRobin" enum:"YES,NO" def:"NO" help:"Use the SNIPs in turn"`
	EnableStrictRx       string     `cli:"enableStrictRx" enum:"YES,NO" def:"NO" help:"Accept packets of known ends only"`
	EnableStrictTx       string     `cli:"enableStrictTx" enum:"YES,NO" def:"NO" help:"Send to known ends only"`
	MAC                  string     `cli:"mac" max:"255" syntax:"mac" help:"MAC address of the other end"`
}

func init() {
	stored[IPTunnel]("ipTunnel", "ip-tunnel", "add rm show", "Tunnel")
	stored[IPTunnelParam]("ipTunnelParam", "ip-tunnel-param", "set unset show", "Parameters of tunnels")
}
