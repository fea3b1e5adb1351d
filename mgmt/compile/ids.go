package compile

import (
	"maps"

	"sluice/vendor-config/schema"
)

// AssignIDs gives a number to every vserver, service and SNIP of c. Objects that have one in old keep it; a new one
// takes the lowest number that nothing in old has, so that what just left and may still have flows is not mistaken for
// it. Numbers of objects that are gone stay known for that, and are dropped once there are twice as many as are in use.
func AssignIDs(c *schema.Config, old IDs) IDs {
	var vservers, services, snips []string
	for _, v := range schema.All[schema.LBVserver](c) {
		vservers = append(vservers, v.Name)
	}
	for _, s := range schema.All[schema.Service](c) {
		services = append(services, s.Name)
	}
	for _, a := range schema.All[schema.NSIP](c) {
		if a.Type == "SNIP" {
			snips = append(snips, a.IPAddress.String())
		}
	}
	return IDs{assign(vservers, old.Vservers), assign(services, old.Services), assign(snips, old.SNIPs)}
}

// spareIDs is how many numbers of departed objects are remembered before those are handed out again.
const spareIDs = 64

func assign(names []string, old map[string]uint32) map[string]uint32 {
	out := maps.Clone(old)
	if out == nil {
		out = map[string]uint32{}
	}
	live := make(map[string]bool, len(names))
	for _, n := range names {
		live[n] = true
	}
	if len(out) > 2*len(names)+spareIDs {
		maps.DeleteFunc(out, func(n string, _ uint32) bool { return !live[n] })
	}
	taken := make(map[uint32]bool, len(out))
	for _, id := range out {
		taken[id] = true
	}
	next := uint32(1)
	for _, n := range names {
		if _, ok := out[n]; ok {
			continue
		}
		for taken[next] {
			next++
		}
		out[n], taken[next] = next, true
	}
	return out
}
