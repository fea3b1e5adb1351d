package compile

import (
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// Timeouts are the idle times of all connections: the operator's, or the defaults.
func Timeouts(c *schema.Config) *schema.NSTimeout {
	if row := schema.Get[schema.NSTimeout](c); row != nil {
		return row
	}
	return usualTimeouts
}

var usualTimeouts = schema.Of[schema.NSTimeout]().Fresh().(*schema.NSTimeout)

// timeouts are what the dataplane is told of them. It has one sweep for all flows.
func timeouts(t *schema.NSTimeout) api.Timeouts {
	return api.Timeouts{Opening: t.NewConnIdle, HalfClosed: t.HalfClose, Closed: t.ReducedFin, Reset: t.ReducedRst,
		Sweep: min(t.Zombie, t.NonTCPZombie)}
}

// ClientTimeout is the idle time of clients in seconds: what is configured, or that of all vservers of the type, or the default of
// the type.
func ClientTimeout(c *schema.Config, serviceType string, configured uint32) uint32 {
	t := Timeouts(c)
	return timeout(serviceType, configured, t.HTTPClient, t.TCPClient, t.AnyClient, 180)
}

// ServerTimeout is the idle time of servers in seconds, likewise.
func ServerTimeout(c *schema.Config, serviceType string, configured uint32) uint32 {
	t := Timeouts(c)
	return timeout(serviceType, configured, t.HTTPServer, t.TCPServer, t.AnyServer, 360)
}

func timeout(serviceType string, configured, allHTTP, allTCP, allElse, http uint32) uint32 {
	all, own := allElse, uint32(120)
	switch serviceType {
	case "HTTP":
		all, own = allHTTP, http
	case "TCP":
		all, own = allTCP, 9000
	}
	switch {
	case configured != 0:
		return configured
	case all != 0:
		return all
	}
	return own
}
