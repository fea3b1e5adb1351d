package main

import "sluice/vendor-config/schema"

// hostName is what the appliance is called now.
func (a *appliance) hostName() string { return hostName(a.engine.Config(), a.system.Host) }

// hostName is what the appliance is called: as configured, or else by its settings. The kernel's own name stays as it is, since
// nothing here reads it.
func hostName(c *schema.Config, otherwise string) string {
	if h := schema.Get[schema.NSHostName](c); h != nil {
		return h.HostName
	}
	return otherwise
}
