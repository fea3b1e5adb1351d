package schema

// TechSupport is what those ask for who are asked for help.
type TechSupport struct{}

func init() {
	register[TechSupport]("techsupport", "techsupport", "show", "Version, configuration without secrets, faults, neighbors, routes and counters in one file", false)
	unbuilt[TechSupport]("scope upload proxy casenumber file description userName password")
}
