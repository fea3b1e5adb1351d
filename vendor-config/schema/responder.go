package schema

// ResponderAction is an answer that is given in place of a server.
type ResponderAction struct {
	Name               string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the action"`
	Type               string `cli:"type" pos:"2" required:"yes" fixed:"yes" enum:"noop,respondwith,redirect,respondwithhtmlpage,sqlresponse_ok,sqlresponse_error" help:"Kind of answer"`
	Target             string `cli:"target" pos:"3" max:"8191" help:"Expression that gives the answer, or where to redirect to"`
	Htmlpage           string `cli:"htmlpage" max:"31" help:"Page that is answered with"`
	Comment            string `cli:"comment" max:"255" help:"Any text about it"`
	ResponseStatusCode uint16 `cli:"responseStatusCode" min:"100" max:"599" help:"Status of the answer"`
	ReasonPhrase       string `cli:"reasonPhrase" max:"8191" help:"Expression that gives the phrase behind it"`
}

// ResponderPolicy says which requests are answered in place of a server.
type ResponderPolicy struct {
	Name          string `cli:"name" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule          string `cli:"rule" pos:"2" required:"yes" max:"8191" help:"appflow action that is run when the policy matches"`
	Action        string `cli:"action" pos:"3" required:"yes" max:"127" ref:"responder-action" help:"appflow action that is run when the policy matches"`
	UndefAction   string `cli:"undefAction" pos:"4" max:"127" help:"appflow action that is run when the policy matches"`
	Comment       string `cli:"comment" max:"255" help:"appflow action that is run when the policy matches"`
	LogAction     string `cli:"logAction" max:"127" help:"appflow action that is run when the policy matches"`
	AppflowAction string `cli:"appflowAction" max:"127" help:"appflow action that is run when the policy matches"`
}

func init() {
	stored[ResponderAction]("responder action", "responder-action", "add set unset rm rename show", "Answer in place of a server")
	stored[ResponderPolicy]("responder policy", "responder-policy", "add set unset rm rename show", "Which requests are answered in place of a server")
}
