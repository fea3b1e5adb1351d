package schema

// RewriteAction is a change of a request or response.
type RewriteAction struct {
	Name              string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the action"`
	Type              string `cli:"type" pos:"2" required:"yes" fixed:"yes" max:"31" syntax:"name" help:"Kind of change, e.g. insert_http_header"`
	Target            string `cli:"target" pos:"3" required:"yes" max:"8191" help:"What is changed: a header, or an expression"`
	StringBuilderExpr string `cli:"stringBuilderExpr" pos:"4" max:"8191" help:"Expression that gives the new text"`
	Pattern           string `cli:"pattern" max:"255" help:"Text that is looked for in the target"`
	Search            string `cli:"search" max:"1023" help:"What is looked for in the target, e.g. regex(re/a+/)"`
	RefineSearch      string `cli:"refineSearch" max:"1023" help:"How a match is made larger"`
	Comment           string `cli:"comment" max:"255" help:"Any text about it"`
}

// RewritePolicy says which messages are changed.
type RewritePolicy struct {
	Name        string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule        string `cli:"rule" pos:"2" required:"yes" max:"8191" help:"Expression that decides whether the policy matches"`
	Action      string `cli:"action" pos:"3" required:"yes" max:"127" ref:"rewrite-action" help:"What is done when the policy matches"`
	UndefAction string `cli:"undefAction" pos:"4" max:"127" help:"What is done when the expression cannot be evaluated"`
	Comment     string `cli:"comment" max:"255" help:"Any text about it"`
	LogAction   string `cli:"logAction" max:"127" help:"audit messageaction that is run when the policy matches"`
}

func init() {
	stored[RewriteAction]("rewrite action", "rewrite-action", "add set unset rm rename show", "Change of a message")
	stored[RewritePolicy]("rewrite policy", "rewrite-policy", "add set unset rm rename show", "Which messages are changed")
}
