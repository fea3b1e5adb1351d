package schema

// CSPolicy is a content switching policy: which requests go to a target.
type CSPolicy struct {
	PolicyName string `cli:"policyName" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	URL        string `cli:"url" max:"208" help:"URL with wildcards, in the place of a rule"`
	Rule       string `cli:"rule" max:"1499" help:"Domain name that the request must be for"`
	Domain     string `cli:"domain" max:"253" help:"Domain name that the request must be for"`
	Action     string `cli:"action" max:"127" ref:"cs-action" help:"What is done when the policy matches"`
	LogAction  string `cli:"logAction" max:"127" help:"audit messageaction that is run when the policy matches"`
}

// CSAction is the target of content switching policies.
type CSAction struct {
	Name              string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the action"`
	TargetLBVserver   string `cli:"targetLBVserver" max:"127" ref:"lb-vserver" help:"lb vserver that takes the requests"`
	TargetVserver     string `cli:"targetVserver" max:"127" help:"Vserver of another kind that takes the requests"`
	TargetVserverExpr string `cli:"targetVserverExpr" max:"1499" help:"Expression that gives the name of the vserver"`
	Comment           string `cli:"comment" max:"255" help:"Any text about it"`
}

// CSPolicyLabel is a label: content switching policies that others go on to.
type CSPolicyLabel struct {
	LabelName         string `cli:"labelName" key:"1" max:"127" syntax:"name" help:"Name of the label"`
	Cspolicylabeltype string `cli:"cspolicylabeltype" pos:"2" required:"yes" enum:"HTTP,TCP,RTSP,SSL,SSL_TCP,UDP,DNS,SIP_UDP,SIP_TCP,ANY,RADIUS,RDP,MYSQL,MSSQL,ORACLE,DIAMETER,SSL_DIAMETER,FTP,DNS_TCP,SMPP" help:"Protocol of the requests"`
}

// CSPolicyLabelPolicy is a policy under a label.
type CSPolicyLabelPolicy struct {
	LabelName              string `cli:"labelName" key:"1" max:"127" ref:"cs-policylabel" syntax:"name" help:"Name of the label"`
	PolicyName             string `cli:"policyName" key:"2" max:"127" ref:"cs-policy" syntax:"name" help:"Policy"`
	Priority               uint32 `cli:"priority" pos:"3" required:"yes" only:"bind" min:"1" max:"2147483647" help:"Order in which they are asked, the lowest first"`
	TargetVserver          string `cli:"targetVserver" only:"bind" max:"127" help:"Vserver that takes what the policy matches"`
	GotoPriorityExpression string `cli:"gotoPriorityExpression" only:"bind" max:"1499" help:"Which policy is asked next when this one matches: a priority, NEXT or END"`
	Invoke                 string `cli:"invoke" only:"bind" enum:"policylabel" help:"Kind of label with policies to go on with"`
	InvokedLabel           string `cli:"labelName2" after:"invoke" only:"bind" max:"127" help:"Label to go on with"`
}

// CSParameter are parameters of content switching.
type CSParameter struct {
	Stateupdate string `cli:"stateupdate" enum:"ENABLED,DISABLED" def:"DISABLED" help:"The state of content switching vservers follows that of their targets"`
}

func init() {
	stored[CSPolicy]("cs policy", "cs-policy", "add set unset rm rename show", "Content switching policy")
	stored[CSAction]("cs action", "cs-action", "add set unset rm rename show", "Content switching action")
	stored[CSPolicyLabel]("cs policylabel", "cs-policylabel", "add rm rename show", "Label with content switching policies")
	stored[CSPolicyLabelPolicy]("cs policylabel", "cs-policylabel-policy", "bind unbind", "Policy under a label")
	stored[CSParameter]("cs parameter", "cs-parameter", "set unset show", "Parameters of content switching")
}
