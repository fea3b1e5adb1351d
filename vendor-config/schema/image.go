package schema

// Image is what lies in the two slots of a machine that was started from an appliance's image. The reference product has no
// slots: there an upgrade replaces what runs.
type Image struct {
	Source string `cli:"source" pos:"1" required:"yes" only:"install" max:"2047" help:"Bundle: a file below /images, where SFTP leaves it, or a URL of http or https"`
	Boot   string `cli:"boot" only:"set" required:"yes" enum:"A,B" help:"Slot that the next start tries once; it is kept if it comes up well. The one that runs takes back what was asked for"`
}

// Reboot restarts the machine.
type Reboot struct {
	Warm  string `cli:"warm" only:"reboot" flag:"yes" help:"The programs alone are restarted, and the machine is not"`
	Force string `cli:"f" only:"reboot" flag:"yes" help:"Do not ask"`
}

// Shutdown switches the machine off.
type Shutdown struct {
	Force string `cli:"f" only:"shutdown" flag:"yes" help:"Do not ask"`
}

func init() {
	register[Image]("image", "image", "install show set", "Images of the appliance in its two slots, and which of them is started", false)
	register[Reboot]("reboot", "reboot", "reboot", "Restart the machine", false)
	register[Shutdown]("shutdown", "shutdown", "shutdown", "Switch the machine off", false)
}
