package compile

import (
	"maps"

	"sluice/vendor-config/schema"
)

// AssignIDs gives a number to every vserver, service and SNIP of c. Objects that have one in old keep it; a new one
// takes the lowest number that nothing in old has, so that what just left and may still have flows is not mistaken for
// it. Numbers of objects that are gone stay known for that, and are dropped once there are twice as many as are in use.
func AssignIDs(c *schema.Config, old IDs) IDs {
	return IDs{
		assign(c, vserverRows, func(row any) string { return row.(*schema.LBVserver).Name }, old.Vservers),
		assign(c, serviceRows, func(row any) string { return row.(*schema.Service).Name }, old.Services),
		assign(c, nsIPs, func(row any) string {
			if a := row.(*schema.NSIP); a.Type == "SNIP" {
				return a.IPAddress.String()
			}
			return ""
		}, old.SNIPs),
	}
}

// spareIDs is how many numbers of departed objects are remembered before those are handed out again.
const spareIDs = 64

// assign gives numbers to the rows of o by their names; "" is no name. Without news the answer is old itself.
func assign(c *schema.Config, o *schema.Object, name func(row any) string, old map[string]uint32) map[string]uint32 {
	var fresh []string
	n := 0
	for row := range c.Each(o) {
		if s := name(row); s != "" {
			n++
			if _, ok := old[s]; !ok {
				fresh = append(fresh, s)
			}
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
		for row := range c.Each(o) {
			live[name(row)] = true
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
