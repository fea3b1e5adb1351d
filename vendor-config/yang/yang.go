// Package yang is the object model as YANG 1.1 (RFC 7950), written out from the schema for programs that validate,
// complete or generate configuration. The modules are checked in and embedded; a test keeps them equal to what the schema
// gives, and writes them anew with -update.
package yang

import (
	_ "embed"
)

// Revision is the date of the modules. It moves with a release whose schema differs.
const Revision = "2026-11-30"

// Module is a YANG module.
type Module struct {
	Name, Namespace, Revision, Text string
}

//go:embed sluice.yang
var configText string

//go:embed sluice-held.yang
var heldText string

// Modules are what the appliance's files are valid under: the configuration, and what a file keeps that is not in force.
func Modules() []Module {
	return []Module{
		{"sluice", "urn:sluice:config", Revision, configText},
		{"sluice-held", "urn:sluice:held", Revision, heldText},
	}
}
