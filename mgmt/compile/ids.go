package compile

import (
	"iter"
	"maps"

	"sluice/vendor-config/schema"
)

// AssignIDs gives a number to every vserver, service and SNIP of c. Objects that have one in old keep it; a new one
// takes the lowest number that nothing in old has, so that what just left and may still have flows is not mistaken for
// it. Members of a group that scales are numbered for each address of their names. Numbers of objects that are gone stay known for that, and are dropped once there are twice as many as are in use.
func AssignIDs(c *schema.Config, names map[string]Resolution, old IDs) IDs {
	return IDs{vserverIDs(c, old.Vservers), serviceIDs(c, names, old.Services), snipIDs(c, old.SNIPs)}
}

// RenewIDs is AssignIDs where old are the numbers of was, with which c may share tables: those of them need no look at any row.
func RenewIDs(c, was *schema.Config, names map[string]Resolution, old IDs) IDs {
	ids := old
	if old.Vservers == nil || !c.Same(was, vserverRows) {
		ids.Vservers = vserverIDs(c, old.Vservers)
	}
	if old.Services == nil || !c.Same(was, serviceRows) || !c.Same(was, memberRows) || c.Len(memberRows) > 0 { // members may follow from names
		ids.Services = serviceIDs(c, names, old.Services)
	}
	if old.SNIPs == nil || !c.Same(was, nsIPs) {
		ids.SNIPs = snipIDs(c, old.SNIPs)
	}
	return ids
}

func vserverIDs(c *schema.Config, old map[string]uint32) map[string]uint32 {
	return assign(func(yield func(string) bool) {
		for row := range c.Each(vserverRows) {
			if !yield(row.(*schema.LBVserver).Name) {
				return
			}
		}
	}, old)
}

func serviceIDs(c *schema.Config, names map[string]Resolution, old map[string]uint32) map[string]uint32 {
	return assign(func(yield func(string) bool) {
		for row := range c.Each(serviceRows) {
			if !yield(row.(*schema.Service).Name) {
				return
			}
		}
		for row := range c.Each(memberRows) {
			for name := range memberNames(c, names, row.(*schema.ServiceGroupMember)) {
				if !yield(name) {
					return
				}
			}
		}
	}, old)
}

func snipIDs(c *schema.Config, old map[string]uint32) map[string]uint32 {
	return assign(func(yield func(string) bool) {
		for row := range c.Each(nsIPs) {
			if a := row.(*schema.NSIP); a.Type == "SNIP" && !yield(a.IPAddress.String()) {
				return
			}
		}
	}, old)
}

// spareIDs is how many numbers of departed objects are remembered before those are handed out again.
const spareIDs = 64

// assign gives numbers to names. Without news the answer is old itself.
func assign(names iter.Seq[string], old map[string]uint32) map[string]uint32 {
	var fresh []string
	n := 0
	for s := range names {
		n++
		if _, ok := old[s]; !ok {
			fresh = append(fresh, s)
		}
	}
	tooMany := len(old) > 2*n+spareIDs
	if old != nil && len(fresh) == 0 && !tooMany {
		return old
	}
	out := maps.Clone(old)
	if out == nil {
		out = map[string]uint32{}
	}
	if tooMany {
		live := make(map[string]bool, n)
		for s := range names {
			live[s] = true
		}
		maps.DeleteFunc(out, func(s string, _ uint32) bool { return !live[s] })
	}
	taken := make(map[uint32]bool, len(out))
	for _, id := range out {
		taken[id] = true
	}
	next := uint32(1)
	for _, s := range fresh {
		for taken[next] {
			next++
		}
		out[s], taken[next] = next, true
	}
	return out
}
