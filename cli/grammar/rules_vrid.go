package grammar

import (
	"fmt"
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
	if !slices.Contains([]string{"add", "set", "unset"}, op.Verb) {
		return nil
	}
	var caution string
	switch {
	case op.Object == schema.Of[schema.VRIDParam]():
		caution = timerCaution(schema.Single[schema.VRIDParam](c))
	case op.Object == schema.Of[schema.VRID]() && len(op.Key) > 0:
		caution = trackingCaution(schema.Get[schema.VRID](c, op.Key...))
	}
	if caution == "" {
		return nil
	}
	return []string{caution}
}

// trackingCaution: a priority that sinks is of no use where nobody takes over for it.
func trackingCaution(v *schema.VRID) string {
	if v == nil || v.Tracking == "NONE" || v.Preemption == "ENABLED" {
		return ""
	}
	return fmt.Sprintf("[vrID, %d] tracks its vservers (tracking %s) and does not preempt: where preemption is DISABLED nobody takes over from a master whose priority is lowered; set preemption ENABLED on all appliances", v.ID, v.Tracking)
}

// timerCaution: a backup that waits for less than two advertisements takes over when one is lost, and both are masters until the
// next. The skew, at most one interval, lengthens the wait of low priorities only.
func timerCaution(p *schema.VRIDParam) string {
	hello, dead := int(p.HelloInterval), 1000*int(p.DeadInterval) // both in milliseconds
	if dead >= 2*hello {
		return ""
	}
	return fmt.Sprintf("[vrIDParam] one advertisement that is lost or late makes a backup take over: deadInterval %d s is less than two helloIntervals of %d ms; set vrIDParam -deadInterval 3, or a shorter -helloInterval", p.DeadInterval, hello)
}
