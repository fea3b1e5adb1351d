package grammar

import (
	"slices"
	"strconv"

	"sluice/vendor-config/schema"
)

// routerInUse refuses to remove a virtual router that has VIPs.
func routerInUse(c *schema.Config, v *schema.VRID) error {
	for row := range c.Each(schema.Of[schema.NSIP]()) {
		if ip := row.(*schema.NSIP); ip.VRID == v.ID {
			return schema.Refuse(schema.RowInUse, "id", strconv.Itoa(int(v.ID))).Because("ns ip " + ip.IPAddress.String() + " has it; unset ns ip " + ip.IPAddress.String() + " -vrID first")
		}
	}
	return nil
}

// removeRouters removes all virtual routers.
func removeRouters(c *schema.Config) error {
	o := schema.Of[schema.VRID]()
	for _, row := range c.Rows(o) {
		if err := (&Op{Verb: "rm", Object: o, Key: []string{strconv.Itoa(int(row.(*schema.VRID).ID))}}).remove(c); err != nil {
			return err
		}
	}
	return nil
}

// checkRouters: version 2 of VRRP counts in seconds.
func checkRouters(_ *schema.Config, p *schema.VRIDParam) error {
	if p.Version == "2" && p.HelloInterval%1000 != 0 {
		return schema.Refuse(schema.NoPrereq, "version", p.Version).Because("it counts in whole seconds; set vrIDParam -helloInterval 1000 with it")
	}
	return nil
}

// Cautions are what the operator must hear of the configuration that the operation has led to: what is allowed and seldom meant.
func (op *Op) Cautions(c *schema.Config) []string {
	if op.Object != schema.Of[schema.VRID]() || !slices.Contains([]string{"add", "set", "unset"}, op.Verb) || len(op.Key) == 0 {
		return nil
	}
	v := schema.Get[schema.VRID](c, op.Key...)
	if v == nil || v.Tracking == "NONE" || v.Preemption == "ENABLED" {
		return nil
	}
	return []string{"[vrID, " + op.Key[0] + "] tracks its vservers (tracking " + v.Tracking + ") and does not preempt: where preemption is DISABLED nobody takes over from a master whose priority is lowered; set preemption ENABLED on all appliances"}
}
