package main

import (
	"context"

	"sluice/cli/grammar"
	"sluice/cli/shell"
)

var _ shell.System = (*operator)(nil)

// System runs the shell of the system, with all rights of management, for who may open it.
func (o *operator) System(ctx context.Context, user string, op *grammar.Op, t *shell.Terminal) (string, error) {
	if err := o.may(op); err != nil {
		return "", err
	}
	command := ""
	if len(op.Key) > 0 {
		command = op.Key[0]
	}
	o.log.Info("shell begins", "user", user, "source", o.source, "session", o.login.ID, "line", op.Line)
	return o.shells.Run(ctx, user, command, t)
}
