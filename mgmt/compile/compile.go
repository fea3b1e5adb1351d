package compile

import (
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// Tables compiles the configuration and what has been observed into the dataplane's tables, every part of them. The
// version of each part is left at 0: the engine counts them. The error names the object at fault.
func Tables(c *schema.Config, s *State) (*api.Tables, error) { return nil, nil }

// Host says which addresses and routes belong on the kernel's side of the ports.
func Host(c *schema.Config, s *State) HostPlan { return HostPlan{} }

// Probes are the monitors that must run now, ordered by service and monitor.
func Probes(c *schema.Config, s *State) []Probe { return nil }

// AssignIDs gives a number to every vserver, service and SNIP of c. Objects that have one in old keep it; a new one
// takes the lowest that neither the configuration nor old uses.
func AssignIDs(c *schema.Config, old IDs) IDs { return old }

// ServiceUp tells whether the service may take new flows: it and its server are enabled, and its monitors agree.
func ServiceUp(c *schema.Config, s *State, service string) bool { return false }

// VserverUp tells whether the vserver is enabled and has a service that is up.
func VserverUp(c *schema.Config, s *State, vserver string) bool { return false }

// MonitorsOf are the monitors that watch the service now: those bound to it, or its protocol's default, or none when
// its healthMonitor is NO.
func MonitorsOf(c *schema.Config, service string) []*schema.LBMonitor { return nil }
