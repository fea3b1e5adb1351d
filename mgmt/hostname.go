package main

import "sluice/vendor-config/schema"

// hostName is what the appliance is called: as configured, or else by its settings. The kernel's own name stays as it is, since
// nothing here reads it.
func (a *appliance) hostName() string {
	if h := schema.Get[schema.NSHostName](a.engine.Config()); h != nil {
		return h.HostName
	}
	return a.system.Host
}
