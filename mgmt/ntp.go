package main

import (
	"context"

	"sluice/mgmt/clock"
	"sluice/mgmt/show"
	"sluice/vendor-config/schema"
)

// keysFile is the file of the configuration directory with the keys that answers of time servers are signed by.
const keysFile = "ntp.keys"

// timeServers are the servers that the clock is to follow.
func timeServers(c *schema.Config) (all []clock.Server) {
	for _, s := range schema.NTPServers(c) {
		all = append(all, clock.Server{Host: s.Server, Minpoll: s.Minpoll, Maxpoll: s.Maxpoll, Key: s.Key, Prefer: s.Preferred == "YES"})
	}
	return all
}

// clockNow is how the clock stands.
func (a *appliance) clockNow() show.Clock {
	s := a.clock.Status(context.Background())
	c := show.Clock{Off: s.Off, Adjust: s.Adjust, Synchronized: s.Synchronized, Problem: s.Problem, Reference: s.Reference, Leap: s.Leap,
		Stratum: s.Stratum, Ahead: s.Ahead, Unresolved: s.Unresolved}
	for _, o := range s.Sources {
		c.Sources = append(c.Sources, show.ClockSource(o))
	}
	return c
}
