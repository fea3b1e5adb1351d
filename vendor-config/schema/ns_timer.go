package schema

// NSTimer asks policies again and again.
type NSTimer struct {
	Name     string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the timer"`
	Interval uint32 `cli:"interval" def:"5" min:"1" max:"20940000" unit:"unit-unit" help:"Time between two rounds"`
	Unit     string `cli:"unit" after:"interval" enum:"SEC,MIN" def:"SEC" help:"Unit of interval"`
	Comment  string `cli:"comment" max:"255" help:"Any text about it"`
}

// NSTimerPolicy is a policy of a timer.
type NSTimerPolicy struct {
	Name                   string `cli:"name" key:"1" max:"127" ref:"ns-timer" syntax:"name" help:"Name of the timer"`
	PolicyName             string `cli:"policyName" key:"2" keyword:"yes" max:"127" help:"Policy"`
	Priority               uint32 `cli:"priority" only:"bind" min:"1" max:"2147483647" help:"Order in which they are asked, the lowest first"`
	GotoPriorityExpression string `cli:"gotoPriorityExpression" only:"bind" max:"1499" help:"Which policy is asked next when this one matches: a priority, NEXT or END"`
	VServer                string `cli:"vServer" only:"bind" max:"127" help:"Vserver that the policy is asked about"`
	SampleSize             uint8  `cli:"sampleSize" only:"bind" def:"3" min:"1" max:"32" help:"Rounds that are looked at together"`
	Threshold              uint8  `cli:"threshold" only:"bind" def:"3" min:"1" max:"32" help:"How many of them must match"`
}

func init() {
	stored[NSTimer]("ns timer", "ns-timer", "add set unset rm rename show", "Policies that are asked again and again")
	stored[NSTimerPolicy]("ns timer", "ns-timer-policy", "bind unbind", "Policy of a timer")
}
