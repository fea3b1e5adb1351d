package main

import (
	"sluice/mgmt/clock"
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
