package grammar

import (
	"fmt"
	"net/netip"
	"reflect"

	"sluice/vendor-config/schema"
)

// rules are what an object asks for beyond the tags of its fields.
type rules struct {
	key      func(c *schema.Config, key []string) []string // the key of the row that is meant by the one that was typed
	prepare  func(c *schema.Config, row any) error         // completes the row and what it needs before it is checked
	check    func(c *schema.Config, row any) error         // what must hold for a row, alone and with the rows it refers to
	unique   func(row any) string                          // what only one row may claim, "" for nothing
	taken    func(row, other any) error                    // the error when two rows have the same unique text
	changed  func(c *schema.Config, row any) error         // after the row is stored
	inUse    func(c *schema.Config, row any) error         // refuses rm
	bindings bool                                          // rm removes the rows that refer to it
	gone     func(c *schema.Config, row any) error         // after the row is removed
}

// rulesOf are the rules by object. They are filled in at start, since some of them lead back to it.
var rulesOf map[*schema.Object]rules

func init() {
	rulesOf = map[*schema.Object]rules{
		schema.Of[schema.NSIP]():              ipRules(),
		schema.Of[schema.AuditSyslogAction](): {check: typed(checkSyslogAction), inUse: typed(syslogActionInUse)},
		schema.Of[schema.AuditSyslogPolicy](): {check: typed(checkSyslogPolicy), inUse: typed(syslogPolicyInUse)},
		schema.Of[schema.DNSNameServer]():     {check: typed(checkNameServer)},
		schema.Of[schema.NTPServer]():         {check: typed(checkTimeServer)},
		schema.Of[schema.VLAN]():              {bindings: true},
		schema.Of[schema.VLANInterface]():     vlanInterfaceRules(),
		schema.Of[schema.VLANIP]():            vlanIPRules(),
		schema.Of[schema.VRID]():              {inUse: typed(routerInUse), bindings: true},
		schema.Of[schema.VRIDParam]():         {check: typed(checkRouters)},
		schema.Of[schema.Route]():             {check: typed(checkRoute)},
		schema.Of[schema.Server]():            serverRules(),
		schema.Of[schema.Service]():           serviceRules(),
		schema.Of[schema.ServiceGroup]():      groupRules(),
		schema.Of[schema.LBVserver]():         vserverRules(),
		schema.Of[schema.LBVserverService]():  {check: typed(checkBinding)},
		schema.Of[schema.LBMonitor]():         {check: typed(checkMonitor), changed: typed(monitorChanged), inUse: typed(monitorInUse), bindings: true},
		schema.Of[schema.LBMetricTable]():     {inUse: typed(metricTableInUse), bindings: true},
		schema.Of[schema.LBMetric]():          {inUse: typed(metricInUse)},
		schema.Of[schema.LBMonitorMetric]():   {check: typed(checkMetric)},
		schema.Of[schema.ServiceMonitor]():    {check: typed(checkServiceMonitor)},

		schema.Of[schema.SystemCmdPolicy]():      policyRules(),
		schema.Of[schema.SystemUser]():           {bindings: true},
		schema.Of[schema.SystemGroup]():          {bindings: true},
		schema.Of[schema.RadiusAction]():         serverNamed(func(r *schema.RadiusAction) string { return r.Name }),
		schema.Of[schema.LDAPAction]():           serverNamed(func(r *schema.LDAPAction) string { return r.Name }),
		schema.Of[schema.RadiusPolicy]():         serverPolicy(func(r *schema.RadiusPolicy) string { return r.Name }),
		schema.Of[schema.LDAPPolicy]():           serverPolicy(func(r *schema.LDAPPolicy) string { return r.Name }),
		schema.Of[schema.AuthenticationPolicy](): serverPolicy(func(r *schema.AuthenticationPolicy) string { return r.Name }),

		schema.Of[schema.ServiceGroupMember]():  {key: memberKey, prepare: typed(memberServer), check: typed(checkMember)},
		schema.Of[schema.ServiceGroupMonitor](): {check: typed(checkGroupMonitor)},
	}
}

func typed[T any](f func(*schema.Config, *T) error) func(*schema.Config, any) error {
	return func(c *schema.Config, row any) error { return f(c, row.(*T)) }
}

// Check tests the configuration as a whole: that what is referred to exists, that nothing is claimed twice, that
// gateways can be reached. It is for configurations that did not come about by operations, such as an edited file.
func Check(c *schema.Config) error {
	for _, o := range schema.Objects() {
		if !o.Rows {
			continue
		}
		r := rulesOf[o]
		claims := map[string]any{}
		for row := range c.Each(o) {
			err := checkRow(c, o, row)
			if err == nil && r.unique != nil {
				claim := r.unique(row)
				if other := claims[claim]; claim != "" && other != nil {
					err = r.taken(row, other)
				}
				claims[claim] = row
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", o.Name(), RowName(o, row), err)
			}
		}
	}
	return nil
}

// RowName is the key of a row as the operator types it.
func RowName(o *schema.Object, row any) string {
	v := reflect.ValueOf(row).Elem()
	name := ""
	for i, k := range o.Keys() {
		if i > 0 {
			name += " "
		}
		name += Quote(k.Mask(k.Text(v)))
	}
	return name
}

// checkRow tests one row: required fields, references, and the object's own rules.
func checkRow(c *schema.Config, o *schema.Object, row any) error {
	v := reflect.ValueOf(row).Elem()
	for _, f := range o.Fields {
		must := f.Key > 0 || f.Required
		if !must && !f.Sealed {
			continue // most are neither, and text costs
		}
		text := f.Text(v)
		if text == "" && must {
			return schema.Refuse(schema.Missing, f.CLI)
		}
		if err := sealed(f, text); err != nil {
			return err
		}
	}
	if f, to := o.Dangling(c, row); f != nil {
		what := f.CLI
		if what == "name" {
			what = Label(f.Targets()[0])
		}
		return schema.Refuse(schema.NoSuchRow, what, to)
	}
	if o.Stored {
		return checkStored(o, v)
	}
	if r := rulesOf[o]; r.check != nil {
		return r.check(c, row)
	}
	return nil
}

// checkStored tests what every row needs to be written as a command, for objects that have no rules of their own yet: values that
// stand behind another need that other one.
func checkStored(o *schema.Object, v reflect.Value) error {
	given := func(f *schema.Field) bool { return !v.Field(f.Index).IsZero() && f.Text(v) != f.DefaultIn(o, v) }
	before := ""
	for _, p := range positionals(o) {
		switch other := o.Other(p); {
		case p.Unless != "" && o.Field(p.Unless).Text(v) != "":
		case p.Text(v) == "" && (other == nil || other.Text(v) == ""):
			before = p.CLI
		case before != "" && given(p):
			return schema.Refuse(schema.Missing, before).Because(p.CLI + " stands behind it")
		}
	}
	for _, f := range o.Fields {
		if f.After != "" && given(f) && o.Field(f.After).Text(v) == "" {
			return schema.Refuse(schema.NoPrereq, f.CLI).Because("it stands behind -" + f.After)
		}
	}
	return nil
}

// bits is the length of a contiguous IPv4 mask, or -1.
func bits(mask netip.Addr) int {
	if !mask.Is4() {
		return -1
	}
	a := mask.As4()
	m := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	n := 0
	for m&(1<<31) != 0 {
		m <<= 1
		n++
	}
	if m != 0 {
		return -1
	}
	return n
}

func badMask(field string, mask netip.Addr) error {
	return schema.Refuse(schema.BadValue, field, mask.String()).Because("a mask is ones and then zeros, e.g. 255.255.255.0")
}
