package schema

// NSLimitSelector says which requests are counted apart.
type NSLimitSelector struct {
	SelectorName string `cli:"selectorName" key:"1" max:"127" syntax:"name" help:"Name of the selector"`
	Rule         string `cli:"rule" pos:"2" required:"yes" many:"yes" max:"1499" help:"Expressions whose values tell requests apart"`
}

// NSLimitIdentifier is a rate limit for expressions.
type NSLimitIdentifier struct {
	LimitIdentifier  string `cli:"limitIdentifier" key:"1" max:"31" syntax:"name" help:"Name of the limit"`
	Threshold        uint32 `cli:"threshold" def:"1" min:"1" help:"Most requests or connections"`
	TimeSlice        uint32 `cli:"timeSlice" def:"1000" min:"10" unit:"milliseconds" help:"Time in which requests are counted"`
	Mode             string `cli:"mode" enum:"CONNECTION,REQUEST_RATE,NONE" def:"REQUEST_RATE" help:"What is counted"`
	LimitType        string `cli:"limitType" enum:"BURSTY,SMOOTH" def:"BURSTY" help:"Whether the threshold may be used up at once"`
	SelectorName     string `cli:"selectorName" max:"127" ref:"ns-limit-selector" help:"ns limitSelector"`
	MaxBandwidth     uint32 `cli:"maxBandwidth" max:"4294967287" unit:"kbit/s" help:"Most traffic"`
	TrapsInTimeSlice uint16 `cli:"trapsInTimeSlice" help:"Most traps within a time slice"`
}

func init() {
	stored[NSLimitSelector]("ns limitSelector", "ns-limit-selector", "add set rm show", "What is counted apart")
	stored[NSLimitIdentifier]("ns limitIdentifier", "ns-limit-identifier", "add set unset rm show", "Rate limit")
}
