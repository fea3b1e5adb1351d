package table

import (
	"fmt"

	"sluice/dataplane/api"
)

// Bits of Vserver.how.
const (
	howMode        = 3 // api.Mode
	howSessionless = 1 << 2
	howPerLink     = 1 << 3
)

var _ = [howMode + 1]struct{}{api.ModeTunnel: {}}

func howSent(v *api.Vserver) uint8 {
	how := uint8(v.Mode)
	if v.Sessionless {
		how |= howSessionless
	}
	if v.PerLink {
		how |= howPerLink
	}
	return how
}

// Mode is how packets of v are sent to the server.
func (v *Vserver) Mode() api.Mode { return api.Mode(v.how & howMode) }

// Sessionless says whether packets of v are balanced one by one, without a flow.
func (v *Vserver) Sessionless() bool { return v.how&howSessionless != 0 }

// PerLink says whether flows of v are told apart by where their packets come from at layer 2.
func (v *Vserver) PerLink() bool { return v.how&howPerLink != 0 }

// LinkParts are what counts of that.
func (s *Set) LinkParts() api.LinkParts {
	if p := s.conf.src.LinkParts & api.LinkAll; p != 0 {
		return p
	}
	return api.LinkAll
}

// HashesPorts says whether v chooses by a port too, which fragments do not have.
func (v *Vserver) HashesPorts() bool { return v.hashPort != 0 }

// checkMode refuses modes and options that the packet path cannot act by.
func checkMode(v *api.Vserver) error {
	switch {
	case v.Mode > api.ModeTunnel:
		return fmt.Errorf("vserver %s has the mode %d, which this dataplane does not know", v.Name, v.Mode)
	case v.Mode == api.ModeTOS && (v.DSCP < 1 || v.DSCP > 63):
		return fmt.Errorf("vserver %s marks its packets with the TOS ID %d: TOS IDs are 1 to 63", v.Name, v.DSCP)
	case v.Sessionless && v.Mode == api.ModeIP:
		return fmt.Errorf("vserver %s is sessionless and rewrites the destination address: without flows nobody could rewrite it back", v.Name)
	case v.Sessionless && v.PerLink:
		return fmt.Errorf("vserver %s is sessionless and tells flows apart by layer 2: it has none", v.Name)
	case v.Sessionless && !hashes(v.Method):
		return fmt.Errorf("vserver %s is sessionless and does not choose by a hash: packets of one connection would go to different services", v.Name)
	}
	return nil
}
