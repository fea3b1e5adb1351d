package grammar

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice/vendor-config/schema"
)

func checkMonitor(_ *schema.Config, m *schema.LBMonitor) error {
	if err := forTheType(m); err != nil {
		return err
	}
	if err := cmp.Or(checkCodes(m), needed(m), checkWay(m)); err != nil {
		return err
	}
	switch {
	case schema.Of[schema.LBMonitor]().Builtin(m.Name):
		return schema.Refuse(schema.RowExists, "monitorName", m.Name).Because("the monitor is built in")
	case millis(m.RespTimeout, m.RespTimeoutUnit) > millis(m.Interval, m.IntervalUnit):
		// The reference product wants less. Equal does no harm, since a probe ends before the next begins, and it is the
		// shortest check that can be written in whole seconds.
		return schema.Refuse(schema.BadArgument, "resptimeout", strconv.Itoa(int(m.RespTimeout))+" "+m.RespTimeoutUnit).
			Because("it must not be more than the interval of " + strconv.Itoa(int(m.Interval)) + " " + m.IntervalUnit)
	case m.FailureRetries > m.Retries:
		return schema.Refuse(schema.BadArgument, "failureRetries", strconv.Itoa(int(m.FailureRetries))).
			Because("it must not be more than the retries, which are " + strconv.Itoa(int(m.Retries)))
	case m.Deviation > 0 && m.LRTM != "ENABLED":
		return schema.Refuse(schema.NoPrereq, "LRTM").Because("deviation is from the average response time, which is learned with -LRTM ENABLED")
	case m.DestIP.IsValid() && !schema.Unicast(m.DestIP):
		return schema.Refuse(schema.BadAddress, "destIP", m.DestIP.String()).Because("it is not an address of a host")
	}
	return nil
}

// checkCodes: which response codes there are depends on the protocol.
func checkCodes(m *schema.LBMonitor) error {
	for _, word := range strings.Fields(m.RespCode) {
		low, _, _ := strings.Cut(word, "-")
		if n, err := strconv.Atoi(low); err != nil || m.Type == "HTTP" && n < 100 {
			return schema.Refuse(schema.BadValue, "respCode", word).Because("status codes of HTTP are numbers or ranges from 100 to 999, e.g. 200 300-302")
		} else if m.Type == "RADIUS" && n > 255 {
			return schema.Refuse(schema.BadValue, "respCode", word).Because("codes of RADIUS are numbers or ranges from 1 to 255, e.g. 2-3")
		}
	}
	return nil
}

// necessary are the arguments without which a monitor of the type has nothing to ask.
var necessary = map[string]string{"DNS": "query", "DNS-TCP": "query", "RADIUS": "userName password radKey", "LDAP": "baseDN",
	"MYSQL-ECV": "userName sqlQuery", "SNMP": "snmpOID", "USER": "scriptName", "LOAD": "metricTable"}

func needed(m *schema.LBMonitor) error {
	v := reflect.ValueOf(m).Elem()
	for _, name := range strings.Fields(necessary[m.Type]) {
		if schema.Of[schema.LBMonitor]().Field(name).Text(v) == "" {
			return schema.Refuse(schema.Missing, name).Because("a monitor of type " + m.Type + " needs it")
		}
	}
	if m.Type == "LOAD" && m.Reverse == "YES" {
		return schema.Refuse(schema.BadArgument, "reverse", "YES").Because("a monitor of type LOAD tells how busy a service is, not whether it is UP")
	}
	if m.Type == "USER" && m.Secure == "YES" && m.DispatcherIP.IsLoopback() {
		return schema.Refuse(schema.NoPrereq, "dispatcherIP").Because("this appliance runs the script itself, so there is nothing to secure")
	}
	if m.UserName == "" && m.SQLQuery != "" {
		return schema.Refuse(schema.Missing, "userName").Because("the query needs a user")
	}
	return nil
}

// millis is a time of a monitor in milliseconds.
func millis(n uint32, unit string) uint64 {
	switch unit {
	case "MSEC":
		return uint64(n)
	case "MIN":
		return uint64(n) * 60000
	}
	return uint64(n) * 1000
}

func monitorInUse(c *schema.Config, m *schema.LBMonitor) error {
	for row := range c.Each(schema.Of[schema.ServiceMonitor]()) {
		if b := row.(*schema.ServiceMonitor); b.Monitor == m.Name {
			return schema.Refuse(schema.RowInUse, m.Name).Because("it is bound to service " + b.Service)
		}
	}
	for row := range c.Each(schema.Of[schema.ServiceGroupMonitor]()) {
		if b := row.(*schema.ServiceGroupMonitor); b.Monitor == m.Name {
			return schema.Refuse(schema.RowInUse, m.Name).Because("it is bound to serviceGroup " + b.Group)
		}
	}
	return nil
}

// monitorChanged: the services that it is bound to can still be probed, and its metrics are still of its table.
func monitorChanged(c *schema.Config, m *schema.LBMonitor) error {
	if err := metricsStay(c, m); err != nil {
		return err
	}
	for row := range c.Each(schema.Of[schema.ServiceMonitor]()) {
		if b := row.(*schema.ServiceMonitor); b.Monitor == m.Name {
			if err := checkServiceMonitor(c, b); err != nil {
				return err
			}
		}
	}
	for row := range c.Each(schema.Of[schema.ServiceGroupMonitor]()) {
		if b := row.(*schema.ServiceGroupMonitor); b.Monitor == m.Name {
			if err := checkGroupMonitor(c, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkServiceMonitor: a monitor needs a port to probe.
func checkServiceMonitor(c *schema.Config, b *schema.ServiceMonitor) error {
	s, m := schema.Get[schema.Service](c, b.Service), schema.MonitorNamed(c, b.Monitor)
	if s.Port == 0 && m.DestPort == 0 && schema.NeedsPort(m.Type) {
		return schema.Refuse(schema.NoPrereq, "destPort").Because("service " + s.Name + " has no port of its own, so the monitor must name one")
	}
	return nil
}

// forTheType: an argument of another type of monitor would have no effect.
func forTheType(m *schema.LBMonitor) error {
	o := schema.Of[schema.LBMonitor]()
	v := reflect.ValueOf(m).Elem()
	for _, f := range o.Fields {
		if f.ForField == "type" && !slices.Contains(f.ForValues, m.Type) && f.Text(v) != f.DefaultIn(o, v) && f.Text(v) != "0" {
			return schema.Refuse(schema.NoPrereq, f.CLI).Because("it is for monitors of type " + strings.Join(f.ForValues, ", "))
		}
	}
	return nil
}
