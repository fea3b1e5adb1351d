package main

import (
	"context"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
	"sluice/mgmt/show"
)

// nstrace begins or ends a capture of packets into a file.
func (o *operator) nstrace(who engine.Author, op *grammar.Op) error {
	err := o.captureByOrder(op)
	o.audit(op.Verb+" nstrace", who, "Done", err)
	return err
}

func (o *operator) captureByOrder(op *grammar.Op) error {
	if op.Verb == "stop" {
		return o.capture.Stop()
	}
	order, err := show.CaptureOrder(op)
	if err != nil {
		return err
	}
	return o.capture.Start(context.Background(), *order, o.now())
}
