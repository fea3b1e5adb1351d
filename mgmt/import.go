package main

import (
	"errors"
	"fmt"
	"io/fs"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
	"sluice/mgmt/show"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// importFile takes over a file of commands: what of it is built is in force afterwards, all at once.
func (o *operator) importFile(who engine.Author, op *grammar.Op) (string, error) {
	name, _ := op.Arg("file")
	text, err := o.commandFile(name, "imported")
	if err != nil {
		return "", err
	}
	var im *grammar.Imported
	take := func(check func(*schema.Config) error) func(*schema.Config) error {
		return func(c *schema.Config) error {
			before := c.Clone()
			im = grammar.Import(c, text, check)
			switch {
			case im.Count[grammar.Applied]+im.Count[grammar.Stored] == 0:
				return schema.Refuse(schema.BadArgument, "file", name).Because("no line of it is a command of a configuration file")
			case im.Alien():
				return schema.Refuse(schema.BadArgument, "file", name).Because("most lines of it are no commands, so it is no file of a configuration")
			}
			return o.mayMake(before, c)
		}
	}
	r, err := o.engine.Commit(who, take(nil))
	if err != nil && im != nil && !im.Alien() && im.Count[grammar.Applied]+im.Count[grammar.Stored] > 0 { // some line of it cannot be put in force
		r, err = o.engine.Commit(who, take(o.engine.Check))
	}
	if err != nil {
		return "", err
	}
	o.log.Info("import", "user", who.User, "source", who.Source, "file", name, "applied", im.Count[grammar.Applied],
		"stored", im.Count[grammar.Stored], "rejected", im.Count[grammar.Rejected])
	if im.Save {
		if err = o.may(saving()); err == nil {
			err = o.save(who)
		}
	}
	return show.Import(im) + warnings(r.Warnings), errors.Join(show.Rejected(im), err)
}

// saving is the command that a file ends with.
func saving() *grammar.Op {
	return &grammar.Op{Verb: "save", Object: schema.Of[schema.NSConfig]()}
}

// commands reads a file of commands that stands for a startup file. What is stored only is no problem: it is said once.
func (a *appliance) commands(text []byte, check func(*schema.Config) error) (*schema.Config, []store.Problem) {
	c := schema.New()
	im := grammar.Import(c, text, check)
	if n := im.Count[grammar.Stored]; n > 0 {
		a.log.Warn("startup configuration", "stored only, since it is not built", n, "lines", len(im.Lines))
	}
	return c, rejected(im)
}

// commandFile reads a file of commands in the configuration folder; what would have become of it stands in the error.
func (o *operator) commandFile(name, becomes string) ([]byte, error) {
	text, err := o.store.Read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = errors.New("there is no such file in /config: copy it there first")
	case errors.Is(err, store.ErrNoFile):
		err = errors.New("it is not a file")
	case err != nil && !errors.Is(err, store.ErrTooLarge):
		err = fmt.Errorf("only files in /config can be read: %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not %s: %w", name, becomes, err)
	}
	return text, nil
}
