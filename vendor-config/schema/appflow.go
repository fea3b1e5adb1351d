package schema

// AppflowCollector is a receiver of flow records.
type AppflowCollector struct {
	Name       string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the collector"`
	IPAddress  string `cli:"IPAddress" required:"yes" max:"255" syntax:"address" help:"Its port"`
	Port       uint16 `cli:"port" def:"4739" help:"Its port"`
	NetProfile string `cli:"netProfile" max:"127" help:"Form of the records"`
	Transport  string `cli:"Transport" fixed:"yes" enum:"ipfix,logstream" def:"ipfix" help:"Form of the records"`
}

// AppflowAction says what is recorded of a flow, and for whom.
type AppflowAction struct {
	Name                   string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the action"`
	Collectors             string `cli:"collectors" required:"yes" many:"yes" max:"1023" help:"appflow collectors"`
	ClientSideMeasurements string `cli:"clientSideMeasurements" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Measure how long pages take at the client"`
	PageTracking           string `cli:"pageTracking" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Follow the parts of a page"`
	WebInsight             string `cli:"webInsight" enum:"ENABLED,DISABLED" def:"ENABLED" help:"Record HTTP"`
	SecurityInsight        string `cli:"securityInsight" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Record attacks"`
	VideoAnalytics         string `cli:"videoAnalytics" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Record videos"`
	DistributionAlgorithm  string `cli:"distributionAlgorithm" enum:"ENABLED,DISABLED" def:"DISABLED" help:"Spread the records over the collectors"`
	MetricsLog             string `cli:"MetricsLog" fixed:"yes" flag:"yes" enum:"YES" help:"Record counters"`
	TransactionLog         string `cli:"TransactionLog" fixed:"yes" enum:"ANOMALOUS,NONE,ALL" def:"ANOMALOUS" help:"Which transactions are recorded"`
	Comment                string `cli:"comment" max:"255" help:"Any text about it"`
}

// AppflowPolicy says which flows are recorded.
type AppflowPolicy struct {
	Name        string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule        string `cli:"rule" pos:"2" required:"yes" max:"8191" help:"Expression that decides whether the policy matches"`
	Action      string `cli:"action" pos:"3" required:"yes" max:"127" ref:"appflow-action" help:"What is done when the policy matches"`
	UndefAction string `cli:"undefAction" max:"127" help:"What is done when the expression cannot be evaluated"`
	Comment     string `cli:"comment" max:"255" help:"Any text about it"`
}

// AppflowGlobal is a policy that is asked for all flows.
type AppflowGlobal struct {
	PolicyName             string `cli:"policyName" key:"1" max:"127" help:"appflow policy"`
	Priority               uint32 `cli:"priority" pos:"2" required:"yes" only:"bind" min:"1" max:"2147483647" help:"Order in which they are asked, the lowest first"`
	GotoPriorityExpression string `cli:"gotoPriorityExpression" pos:"3" only:"bind" max:"1499" help:"Which policy is asked next when this one matches: a priority, NEXT or END"`
	Type                   string `cli:"type" only:"bind" max:"31" help:"When it is asked"`
	Invoke                 string `cli:"invoke" only:"bind" enum:"vserver,policylabel" help:"Kind of label with policies to go on with"`
	LabelName              string `cli:"labelName" after:"invoke" only:"bind" max:"127" help:"Label that invoke goes to"`
}

func init() {
	stored[AppflowCollector]("appflow collector", "appflow-collector", "add set unset rm rename show", "Receiver of flow records")
	stored[AppflowAction]("appflow action", "appflow-action", "add set unset rm rename show", "What is recorded, and for whom")
	stored[AppflowPolicy]("appflow policy", "appflow-policy", "add set unset rm rename show", "Which flows are recorded")
	stored[AppflowGlobal]("appflow global", "appflow-global", "bind unbind show", "Policy for all flows")
}
