package schema

// The lists of rules as wholes: rules are put in force, removed and numbered anew together.
type (
	// NSPBRs are all policy-based routes.
	NSPBRs struct{}
	// NSACLs are all entries of the access control list.
	NSACLs struct{}
)

func init() {
	register[NSPBRs]("ns pbrs", "ns-pbrs", "apply clear renumber", "All policy-based routes", false)
	register[NSACLs]("ns acls", "ns-acls", "apply clear renumber", "All entries of the access control list", false)
}
