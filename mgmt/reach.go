package main

import (
	"context"
	"io"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/vendor-config/schema"
)

// Stream executes a command whose text comes while it runs; ctx ends when the operator has had enough.
func (o *operator) Stream(ctx context.Context, user string, op *grammar.Op, out io.Writer, attended bool) error {
	if err := o.may(op); err != nil {
		return err
	}
	if op.Object == schema.Of[schema.Image]() {
		return o.install(ctx, user, op, out)
	}
	return o.reach.Run(ctx, op, out, attended)
}

var _ shell.Streamer = (*operator)(nil)

// device is the kernel's side of a port; "" if there is no port of that name.
func (a *appliance) device(port string) string {
	s := a.engine.State()
	if m := s.Management; m.Device != "" && m.Name == port {
		return m.Device
	}
	for _, p := range s.Ports {
		if p.Name == port {
			return p.Twin
		}
	}
	return ""
}
