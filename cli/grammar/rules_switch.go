package grammar

import (
	"reflect"

	"sluice/vendor-config/schema"
)

// switchMonitors is enable and disable of monitors where they are bound: of one, or of all of a service or service group.
func (op *Op) switchMonitors(c *schema.Config) error {
	name, _ := op.Arg("serviceName")
	monitor, one := op.Arg("monitorName")
	o, what := schema.Of[schema.ServiceMonitor](), "service"
	if schema.Get[schema.Service](c, name) == nil {
		o, what = schema.Of[schema.ServiceGroupMonitor](), "serviceGroup"
		if schema.Get[schema.ServiceGroup](c, name) == nil {
			return schema.Refuse(schema.NoSuchRow, "serviceName", name).Because("it is neither a service nor a serviceGroup")
		}
	}
	found := false
	for _, row := range c.Rows(o) {
		v := reflect.ValueOf(row).Elem()
		if k := o.Keys(); k[0].Text(v) != name || one && k[1].Text(v) != monitor {
			continue
		}
		found = true
		fresh := o.Copy(row)
		if err := o.Field("monState").Set(reflect.ValueOf(fresh).Elem(), map[string]string{"enable": "ENABLED", "disable": "DISABLED"}[op.Verb]); err != nil {
			return err
		}
		c.Put(o, fresh)
	}
	switch {
	case found:
		return nil
	case one:
		return schema.Refuse(schema.NoSuchRow, "monitorName", monitor).Because("it is not bound to " + what + " " + name)
	}
	return schema.Refuse(schema.NoSuchRow, "monitorName").Because("none is bound to " + what + " " + name + ", which has the default monitor of its type; -healthMonitor NO does without")
}
