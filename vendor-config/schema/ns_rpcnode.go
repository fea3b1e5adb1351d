package schema

// NSRPCNode says how another node is spoken to.
type NSRPCNode struct {
	IPAddress     string `cli:"IPAddress" key:"1" max:"45" syntax:"address" help:"Address of the node"`
	Password      string `cli:"password" secret:"yes" max:"255" help:"Password of both nodes"`
	Encrypted     string `cli:"encrypted" flag:"yes" enum:"YES" help:"The secret is written in a form that only the device that wrote it can read; it is kept as it is"`
	Encryptmethod string `cli:"encryptmethod" max:"31" help:"How that device encrypted it"`
	Kek           string `cli:"kek" flag:"yes" enum:"YES" help:"A key of that device encrypts it"`
	Suffix        string `cli:"suffix" max:"63" help:"Which one"`
	SrcIP         string `cli:"srcIP" max:"255" syntax:"address" help:"Source address toward the node"`
	Secure        string `cli:"secure" enum:"YES,NO" help:"Speak over TLS"`
}

func init() {
	stored[NSRPCNode]("ns rpcNode", "ns-rpc-node", "set unset rm show", "How another node is spoken to")
}
