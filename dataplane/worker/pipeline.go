package worker

import (
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// Stage decides about packets of one burst under one set of tables. A packet that it decides about gets its verdict by
// Packet.End and leaves Worker.open, the mask of packets that later stages look at; with the mask empty a stage returns at once.
type Stage func(w *Worker, t *table.Set, b []packet.Packet)

// Pipeline is the order on the wire. Stages that are still to come stand where they will be.
var Pipeline = []Stage{
	parse,
	steer,
	// established comes before local, which design.md 3 has in balance: a flow entry says everything about its packets,
	// and a TCP or UDP packet that has one is never ours to answer locally. So the common packet passes two stages.
	established,
	local,
	// tunnel: VXLAN decapsulation where we are host agent.
	// policy: policy-based routes and content vservers. Wildcard vservers are found in balance: see wildcard.go.
	balance,
	route,
}
