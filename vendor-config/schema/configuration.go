package schema

// The commands about configurations as a whole. The candidate is one for all operators; it begins as a copy of the running
// configuration. What is typed otherwise changes the running configuration at once.
type (
	// LoadConfig reads a file into the candidate.
	LoadConfig struct {
		File string `cli:"fileName" pos:"1" required:"yes" only:"load" max:"255" help:"File below /config, as XML, JSON, YAML or commands, e.g. new.xml; - is what the client sends along: ssh HOST load config - < new.xml"`
		Mode string `cli:"mode" pos:"2" only:"load" def:"merge" enum:"merge,replace" help:"merge adds to the candidate what the file holds; replace makes the candidate what the file holds"`
	}
	// DiffConfig compares configurations.
	DiffConfig struct {
		Config1 string `cli:"config1" pos:"1" only:"diff" max:"255" help:"saved, running, candidate, the number of a version, or a file; if left out running when there is a candidate, else saved"`
		Config2 string `cli:"config2" pos:"2" only:"diff" max:"255" help:"The same; if both are left out the candidate when there is one, else running"`
	}
	// ValidateConfig checks the candidate.
	ValidateConfig struct {
		File string `cli:"fileName" pos:"1" only:"validate" max:"255" help:"A file to check instead of the candidate, as a whole configuration; nothing is changed"`
	}
	// CommitConfig puts the candidate in force.
	CommitConfig struct {
		Confirmed string `cli:"confirmed" pos:"1" only:"commit" enum:"confirmed,cancel" help:"confirmed undoes the commit, with all that has changed since, unless another commit follows in time; cancel undoes it now"`
		Minutes   uint32 `cli:"minutes" pos:"2" only:"commit" min:"1" max:"1440" unit:"minutes" help:"Time to confirm in; 10 if left out"`
		Comment   string `cli:"comment" only:"commit" max:"255" help:"Reason, for the history"`
	}
	// DiscardConfig drops the candidate.
	DiscardConfig struct{}
	// RebaseConfig carries the candidate over.
	RebaseConfig struct{}
	// RollbackConfig returns to a version of the history.
	RollbackConfig struct {
		Version uint64 `cli:"version" pos:"1" required:"yes" only:"rollback" max:"999999999999" help:"Number of the version, see show ns config -history"`
		Comment string `cli:"comment" only:"rollback" max:"255" help:"Reason, for the history"`
	}
)

func init() {
	register[LoadConfig]("ns config", "ns-config-load", "load", "Read a file into the candidate; commit puts it in force", false)
	register[DiffConfig]("ns config", "ns-config-diff", "diff", "The commands that make of one configuration another", false)
	register[ValidateConfig]("ns config", "ns-config-validate", "validate", "Check whether the candidate could be put in force", false)
	register[CommitConfig]("ns config", "ns-config-commit", "commit", "Put the candidate in force, or confirm a commit", false)
	register[DiscardConfig]("ns config", "ns-config-discard", "discard", "Drop the candidate", false)
	register[RebaseConfig]("ns config", "ns-config-rebase", "rebase", "Carry the candidate's changes over to what is running by now", false)
	register[RollbackConfig]("ns config", "ns-config-rollback", "rollback", "Put an earlier version of the running configuration in force again, at once and as a new version", false)
	unbuilt[DiffConfig]("outtype=cli template ignoreDeviceSpecific")
}
