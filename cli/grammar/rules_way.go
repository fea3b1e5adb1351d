package grammar

import (
	"slices"
	"strconv"

	"sluice/vendor-config/schema"
)

// checkWay: probes go one way, the way needs an address at its end, and only what this appliance sends itself can take it.
func checkWay(m *schema.LBMonitor) error {
	var way []string
	for name, on := range map[string]string{"transparent": m.Transparent, "ipTunnel": m.IPTunnel, "tos": m.TOS} {
		if on == "YES" {
			way = append(way, "-"+name+" YES")
		}
	}
	switch {
	case m.TOSID != 0 && m.TOS != "YES":
		return schema.Refuse(schema.NoPrereq, "tosId", strconv.Itoa(int(m.TOSID))).Because("it is for -tos YES")
	case len(way) == 0:
		return nil
	case len(way) > 1:
		return schema.Refuse(schema.Conflict, slices.Sorted(slices.Values(way))...).Because("a probe goes one way: choose one of them")
	case m.Type == "ARP" || m.Type == "USER":
		return schema.Refuse(schema.Conflict, way[0], m.Type).Because(map[string]string{
			"ARP":  "ARP asks for the server itself; use PING, or any type that connects",
			"USER": "scripts send for themselves",
		}[m.Type])
	case !m.DestIP.IsValid() || m.DestIP.IsUnspecified():
		return schema.Refuse(schema.NoPrereq, "destIP").Because(way[0] + " probes the address behind the server, e.g. the VIP")
	case m.TOS == "YES" && m.TOSID == 0:
		return schema.Refuse(schema.Missing, "tosId").Because("with -tos YES the server knows destIP by it: give -tosId 1 to 63")
	}
	return nil
}
