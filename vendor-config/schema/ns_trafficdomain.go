package schema

// NSTrafficDomain is a traffic domain: addresses of their own.
type NSTrafficDomain struct {
	TD        uint16 `cli:"td" key:"1" min:"1" max:"4094" help:"Number of the domain"`
	AliasName string `cli:"aliasName" max:"31" help:"Any name for the domain"`
	Vmac      string `cli:"vmac" enum:"ENABLED,DISABLED" def:"DISABLED" help:"A MAC address of its own"`
	State     string `cli:"state" only:"add" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Administrative state"`
}

// NSTrafficDomainVLAN is a VLAN of a traffic domain.
type NSTrafficDomainVLAN struct {
	TD   uint16 `cli:"td" key:"1" min:"1" max:"4094" ref:"ns-traffic-domain" help:"Number of the domain"`
	VLAN uint16 `cli:"vlan" key:"2" keyword:"yes" min:"1" max:"4094" help:"VLAN"`
}

// NSTrafficDomainBridgeGroup is a bridge group of a traffic domain.
type NSTrafficDomainBridgeGroup struct {
	TD          uint16 `cli:"td" key:"1" min:"1" max:"4094" ref:"ns-traffic-domain" help:"Number of the domain"`
	Bridgegroup uint16 `cli:"bridgegroup" key:"2" keyword:"yes" min:"1" max:"1000" ref:"bridgegroup" help:"Number of the group"`
}

// NSTrafficDomainVXLAN is a VXLAN of a traffic domain.
type NSTrafficDomainVXLAN struct {
	TD    uint16 `cli:"td" key:"1" min:"1" max:"4094" ref:"ns-traffic-domain" help:"Number of the domain"`
	VXLAN uint32 `cli:"vxlan" key:"2" keyword:"yes" min:"1" max:"16777215" ref:"vxlan" help:"VXLAN identifier"`
}

func init() {
	stored[NSTrafficDomain]("ns trafficDomain", "ns-traffic-domain", "add rm enable disable show", "Traffic domain")
	stored[NSTrafficDomainVLAN]("ns trafficDomain", "ns-traffic-domain-vlan", "bind unbind", "VLAN of a traffic domain")
	stored[NSTrafficDomainBridgeGroup]("ns trafficDomain", "ns-traffic-domain-bridgegroup", "bind unbind", "Bridge group of a traffic domain")
	stored[NSTrafficDomainVXLAN]("ns trafficDomain", "ns-traffic-domain-vxlan", "bind unbind", "VXLAN of a traffic domain")
}
