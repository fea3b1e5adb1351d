package schema

// NSLine is a line of an imported file that asks for what this release does not build. It is kept word for word, written back,
// and never in force: whoever imports a file loses nothing of it.
type NSLine struct {
	Number uint32 `cli:"number" key:"1" min:"1" help:"Number of the line, as show ns line tells it"`
	Text   string `cli:"text" pos:"2" required:"yes" fixed:"yes" max:"65535" help:"The line, word for word"`
	Reason string `cli:"reason" max:"1023" only:"add,show" help:"Why it is not in force"`
}

func init() {
	stored[NSLine]("ns line", "ns-line", "add rm show", "Line of an imported file that is kept word for word and is not in force")
}
