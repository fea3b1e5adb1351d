package schema

// NSHostName is what the appliance is called: in the prompt, in what it logs and in metrics. There is one at most; without it the name is
// that of the settings.
type NSHostName struct {
	HostName string `cli:"hostName" pos:"1" required:"yes" only:"set" max:"255" syntax:"host" help:"Name of the appliance"`
}

func init() {
	register[NSHostName]("ns hostName", "ns-hostname", "set show", "Name of the appliance", true)
	unbuilt[NSHostName]("ownerNode=255")
}
