package main

import (
	"context"
	"fmt"
	"net"

	"sluice/mgmt/compile"
	"sluice/mgmt/telemetry"
	"sluice/vendor-config/schema"
)

// serveMetrics opens the endpoint for Prometheus, if the settings have one; it is closed when ctx ends.
func (a *appliance) serveMetrics(ctx context.Context, at string) error {
	if at == "" {
		return nil
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return fmt.Errorf("the metrics cannot be served at %s (metrics.listen): %w", at, err)
	}
	context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		if err := telemetry.Metrics(l, a.reading); err != nil && ctx.Err() == nil {
			a.log.Error("metrics are not served any more; restart management", "error", err)
		}
	}()
	return nil
}

// reading is what metrics tell now.
func (a *appliance) reading() *telemetry.Reading {
	c, s, version, _, _ := a.engine.Snapshot()
	st, err := a.engine.Stats(context.Background())
	r := &telemetry.Reading{Host: a.hostName(), Release: a.system.Release, Build: a.system.Build, Started: a.system.Started,
		ConfigVersion: version, Degraded: len(a.degraded(err)), Stats: st, Expiries: a.expiryMetrics(c)}
	if len(schema.NTPServers(c)) > 0 {
		now := a.clock.Last()
		r.Clock = &telemetry.Clock{Synchronized: now.Synchronized, Ahead: now.Ahead, Stratum: now.Stratum}
	}
	x := compile.NewIndex(c, s)
	for _, v := range schema.All[schema.LBVserver](c) {
		state := "DOWN"
		switch {
		case !x.VserverEnabled(v):
			state = "OUT OF SERVICE"
		case x.VserverUp(s, v.Name):
			state = "UP"
		}
		r.Vservers = append(r.Vservers, telemetry.State{Name: v.Name, State: state})
	}
	for svc := range x.Services() {
		r.Services = append(r.Services, telemetry.State{Name: svc.Name, State: x.ServiceState(s, svc.Name)})
	}
	r.Routers = a.routers()
	return r
}
