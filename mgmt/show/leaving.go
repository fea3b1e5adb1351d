package show

import (
	"fmt"
	"time"

	"sluice/vendor-config/schema"
)

// Leaving tells whether anything is on its way out of service, of which counters tell how far it is.
func Leaving(c *schema.Config) bool {
	for _, o := range schema.Leavers() {
		for row := range c.Each(o) {
			if schema.LeavingOf(row).Since != 0 {
				return true
			}
		}
	}
	return false
}

// leaving tells how far a row is on its way out of service, if it is.
func (p *page) leaving(row any) {
	d := p.x.DepartureOf(row)
	if d == nil {
		return
	}
	graceful, left, open := "NO", "unlimited", "unknown"
	if d.GraceFul {
		graceful = "YES"
	}
	if until := d.Until(); !until.IsZero() {
		left = fmt.Sprint(int64(max(until.Sub(p.Now), 0).Round(time.Second) / time.Second))
	}
	if p.Stats != nil {
		var n uint64
		for _, name := range d.Services {
			now, _ := p.serviceFlow(name)
			n += now.OpenFlows
		}
		open = fmt.Sprint(n)
	}
	p.f("\tGoing out of service: Graceful: %s\tSeconds left: %s\tOpen connections: %s\n", graceful, left, open)
}

// brief is a state as it stands in a table of counters.
func brief(state string) string {
	switch state {
	case "GOING OUT OF SERVICE":
		return "TROFS"
	case "GOING OUT OF SERVICE, DOWN":
		return "TROFS_DOWN"
	}
	return state
}
