package schema

// PersistentSessions are the clients that vservers with persistence remember. They are not configuration: the dataplane has them.
type PersistentSessions struct {
	Vserver string `cli:"vServer" pos:"1" max:"127" syntax:"name" help:"Only those of this vserver"`
}

func init() {
	register[PersistentSessions]("lb persistentSessions", "lb-persistent-sessions", "show clear", "Clients that vservers with persistence remember", false)
	unbuilt[PersistentSessions]("persistenceParameter")
}
