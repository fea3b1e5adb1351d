package main

import (
	"context"
	"encoding/json"
	"os"
	"time"
)

// health is what management says of itself, for who decides whether a slot that is tried is kept.
type health struct {
	Dataplane     bool   `json:"dataplane"`     // it has the tables
	Configuration bool   `json:"configuration"` // the startup configuration is in force
	Problems      int    `json:"problems"`      // lines of it that are not
	SSH           string `json:"ssh"`           // where the door is
}

const (
	healthEvery    = time.Second
	healthPatience = 5 * time.Second // for the dataplane's answer
)

// tellHealth writes the file each time that what it says changes, until ctx ends. Without a name there is nobody to tell.
func (a *appliance) tellHealth(ctx context.Context, name, ssh string) {
	if name == "" {
		return
	}
	defer os.Remove(name)
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	for last := ""; ; {
		if err := a.writeHealth(ctx, name, ssh, &last); err != nil {
			a.log.Warn("the state of health cannot be told", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (a *appliance) writeHealth(ctx context.Context, name, ssh string, last *string) error {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	st, err := a.engine.Stats(ctx)
	h := health{Dataplane: err == nil && st.ConfigVersion != 0, Configuration: !a.refused, Problems: a.problems, SSH: ssh}
	text, err := json.Marshal(h)
	if err != nil || string(text) == *last {
		return err
	}
	if err := os.WriteFile(name+".new", text, 0o600); err != nil {
		return err
	}
	*last = string(text)
	return os.Rename(name+".new", name)
}
