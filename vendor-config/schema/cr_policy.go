package schema

// CRPolicy is a cache redirection policy: what matches goes to the origin, or to the cache, as the vserver says.
type CRPolicy struct {
	PolicyName string `cli:"policyName" key:"1" max:"127" syntax:"name" help:"Name of the policy"`
	Rule       string `cli:"rule" required:"yes" max:"1499" help:"Expression that decides whether the policy matches"`
	Action     string `cli:"action" max:"255" help:"What is done when the policy matches"`
	LogAction  string `cli:"logAction" max:"127" help:"audit messageaction that is run when the policy matches"`
}

func init() {
	stored[CRPolicy]("cr policy", "cr-policy", "add set unset rm rename show", "Cache redirection policy")
}
