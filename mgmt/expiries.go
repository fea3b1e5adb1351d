package main

import (
	"context"
	"path/filepath"
	"time"

	"sluice/mgmt/expiry"
	"sluice/mgmt/show"
	"sluice/mgmt/telemetry"
	"sluice/vendor-config/schema"
)

// expiryLook is how often it is looked whether anything ends: files are replaced without the configuration changing.
const expiryLook = time.Minute

// expiries is everything that ends, as the configuration names it and as its files are now.
func (a *appliance) expiries(c *schema.Config) []expiry.Item {
	return append(expiry.Certificates(c, filepath.Join(a.store.Dir(), sslDir)), expiry.Passwords(c)...)
}

// watchExpiries raises alarms until ctx ends.
func (a *appliance) watchExpiries(ctx context.Context) {
	alarms := &expiry.Alarms{Log: a.log}
	tick := time.NewTicker(expiryLook)
	defer tick.Stop()
	for {
		alarms.Raise(a.expiries(a.engine.Config()), a.now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// expiryMetrics are the times that are known.
func (a *appliance) expiryMetrics(c *schema.Config) (all []telemetry.Expiry) {
	for _, i := range a.expiries(c) {
		if !i.At.IsZero() {
			all = append(all, telemetry.Expiry{Kind: i.Kind, Name: i.Name, At: i.At})
		}
	}
	return all
}

// ending is what operators are told of the certificates of pairs.
func (a *appliance) ending(c *schema.Config) map[string]show.Ending {
	all := map[string]show.Ending{}
	for _, i := range a.expiries(c) {
		if i.Kind == "certificate" {
			all[i.Name] = show.Ending{At: i.At, Days: expiry.Days(i.At, a.now()), Problem: i.Problem}
		}
	}
	return all
}
