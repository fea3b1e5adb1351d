package monitor

import (
	"strings"

	"sluice/mgmt/compile"
)

// checks are the types of monitors.
func checks(ping *Pinger) map[string]Check {
	return map[string]Check{
		"PING": ping.Check, "TCP": CheckTCP, "HTTP": CheckHTTP,
		"TCP-ECV": CheckTCPECV, "HTTP-ECV": CheckHTTPECV, "UDP-ECV": CheckUDPECV,
	}
}

// turn is the outcome for a monitor that counts the other way round, for services that must not answer.
func turn(p *compile.Probe, o Outcome) Outcome {
	switch {
	case !p.Reverse || o.Unsent:
		return o
	case o.OK:
		return Outcome{Response: "Failure - the monitor is reversed and the probe succeeded: " + strings.TrimPrefix(o.Response, "Success - ")}
	}
	return Outcome{OK: true, Response: "Success - the monitor is reversed and the probe failed: " + strings.TrimPrefix(o.Response, "Failure - ")}
}
