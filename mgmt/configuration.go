package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
	"sluice/mgmt/render"
	"sluice/mgmt/show"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// confirmIn is how long a commit waits to be confirmed when nothing is said (RFC 6241, 8.4.5.1).
const confirmIn = 10 * time.Minute

// configuring tells whether an operation is about configurations as a whole.
func configuring(op *grammar.Op) bool {
	switch op.Verb {
	case "load", "diff", "validate", "commit", "discard", "rebase", "rollback":
		return true
	case "show":
		return op.Object == schema.Of[schema.NSConfig]()
	}
	return false
}

// configure executes what configuring tells.
func (o *operator) configure(who engine.Author, op *grammar.Op) (string, error) {
	who.Comment, _ = op.Arg("comment")
	switch op.Verb {
	case "show":
		return o.showConfiguration(op)
	case "diff":
		return o.diff(op)
	case "validate":
		return "", o.validate(op)
	case "commit":
		r, err := o.commit(who, op)
		return warnings(r.Warnings), err
	case "rollback":
		r, err := o.rollback(who, op)
		return warnings(r.Warnings), err
	}
	var err error
	switch op.Verb {
	case "load":
		err = o.loadFile(who, op)
	case "rebase":
		err = o.candidate.Rebase()
	case "discard":
		if !o.candidate.Discard() {
			err = schema.Refuse(schema.NotPermitted, "discard").Because("there is no candidate")
		}
	}
	o.audit(op.Verb+" config", who, "Done", err)
	return "", err
}

func (o *operator) showConfiguration(op *grammar.Op) (string, error) {
	if n, ok := op.Arg("version"); ok {
		c, err := o.version(n)
		if err != nil {
			return "", err
		}
		return show.Lines(c), nil
	}
	if _, ok := op.Arg("history"); ok {
		o.written()
		return show.History(o.store.History()), nil
	}
	if _, ok := op.Arg("candidate"); ok {
		return show.Candidate(o.candidate.State()), nil
	}
	return show.Text(op, o.view(op))
}

// written has the newest versions written, so that an operator finds in the history what he has just done.
func (a *appliance) written() {
	if err := a.store.Flush(); err != nil {
		a.log.Warn("the history is incomplete", "problem", err)
	}
}

// version is a configuration of the history that fits the appliance as a whole.
func (a *appliance) version(number string) (*schema.Config, error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return nil, schema.Refuse(schema.BadNumber, "version", number)
	}
	a.written()
	c, problems, err := a.store.AtVersion(n)
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("version %d does not fit the appliance any more: %w", n, first(problems))
	}
	return c, err
}

// first is the first of several problems, with the number of the others.
func first(all []render.Problem) error {
	d := render.Document{Problems: all}
	if err := d.Refusal(); err != nil {
		return err
	}
	return errors.New(all[0].String())
}

// diff tells which commands make the second of two configurations of the first: those that are named, else the candidate of what is
// running, else what is running of what was saved. Its first line says which, as nobody remembers it.
func (o *operator) diff(op *grammar.Op) (string, error) {
	a, given := op.Arg("config1")
	b, both := op.Arg("config2")
	begun := o.candidate.State().Begun
	switch {
	case !given && begun:
		a, b = "running", "candidate"
	case !given:
		a, b = "saved", "running"
	case !both:
		b = "running"
	}
	from, err := o.named(a)
	if err != nil {
		return "", err
	}
	to, err := o.named(b)
	if err != nil {
		return "", err
	}
	text := show.Diff(from, to)
	if text == "" {
		return fmt.Sprintf("# %s and %s are the same.\n", a, b), nil
	}
	return fmt.Sprintf("# These commands make %s of %s:\n", b, a) + text, nil
}

// named is a configuration by its name: saved, running, candidate, the number of a version, or a file.
func (a *appliance) named(name string) (*schema.Config, error) {
	if _, err := strconv.ParseUint(name, 10, 64); err == nil {
		return a.version(name)
	}
	switch strings.ToLower(name) {
	case "running":
		return a.engine.Config(), nil
	case "candidate":
		return a.candidate.State().Config, nil
	case "saved":
		s, err := a.store.Saved()
		return s.Config, err
	}
	return a.read(name)
}

func (o *operator) rollback(who engine.Author, op *grammar.Op) (engine.Result, error) {
	number, _ := op.Arg("version")
	c, err := o.version(number)
	if err != nil {
		o.audit("rollback", who, "", err)
		return engine.Result{}, err
	}
	if err = o.engine.Check(c); err != nil {
		o.audit("rollback", who, "", err)
		return engine.Result{}, err
	}
	return o.engine.Commit(who, func(running *schema.Config) error {
		if err := o.mayMake(running, c); err != nil { // it may have moved on meanwhile
			return err
		}
		running.Replace(c)
		return nil
	})
}

func (o *operator) commit(who engine.Author, op *grammar.Op) (engine.Result, error) {
	how, _ := op.Arg("confirmed")
	var r engine.Result
	s := o.candidate.State()
	to := s.Config
	if how == "cancel" && s.Unconfirmed {
		to = s.Return
	}
	err := o.mayChange(to)
	switch {
	case err != nil:
	case how == "confirmed":
		within := confirmIn
		if m, ok := op.Arg("minutes"); ok {
			n, _ := strconv.Atoi(m) // the field has checked it
			within = time.Duration(n) * time.Minute
		}
		if r, err = o.candidate.Confirmed(who, within); err == nil {
			r.Warnings = append(r.Warnings, show.Unconfirmed(o.candidate.State()))
		}
	case how == "cancel":
		r, err = o.candidate.Cancel(who)
	default:
		r, err = o.candidate.Commit(who)
	}
	o.audit("commit", who, "Done", err)
	return r, err
}

// mayChange tells why the session's user may not make another configuration of the running one: he needs the right to each
// command that this would take.
func (o *operator) mayChange(to *schema.Config) error { return o.mayMake(o.engine.Config(), to) }

// mayMake is mayChange of any configuration.
func (o *operator) mayMake(from, to *schema.Config) error {
	if o.guard == nil {
		return nil
	}
	for _, line := range grammar.Steps(from, to) {
		op, err := grammar.Parse(line)
		if err != nil || op == nil { // no command does it: only who may do everything
			op, err = grammar.Parse("clear ns config -force full")
		}
		if err == nil {
			err = o.may(op)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *operator) validate(op *grammar.Op) error {
	name, ok := op.Arg("fileName")
	if !ok {
		return o.candidate.Validate()
	}
	c, err := o.read(name)
	if err != nil {
		return err
	}
	return o.engine.Check(c)
}

// Receive takes what the client sends along with a command.
func (o *operator) Receive(in io.Reader) { o.input = in }

func (o *operator) loadFile(who engine.Author, op *grammar.Op) error {
	name, _ := op.Arg("fileName")
	mode, _ := op.Arg("mode")
	data, err := o.bytes(name)
	if err != nil {
		return err
	}
	return o.candidate.Edit(who, func(c *schema.Config) error {
		base := c
		if mode == "replace" {
			base = nil
		}
		next, err := whole(name, data, base, c)
		if err == nil {
			err = o.mayMake(c, next) // or another would commit it unawares, who may do more
		}
		if err == nil {
			c.Replace(next)
		}
		return err
	})
}

// bytes are those of a file below /config, or with - what the client sends along.
func (o *operator) bytes(name string) ([]byte, error) {
	if name != "-" {
		return o.store.ReadFile(name)
	}
	if o.input == nil {
		return nil, schema.Refuse(schema.NotPermitted, "load config -").Because("nothing is sent along: ssh HOST \"load config -\" < FILE, or sluice HOST push FILE")
	}
	data, err := io.ReadAll(io.LimitReader(o.input, render.MaxText+1))
	o.input = nil
	switch {
	case err != nil:
		return nil, fmt.Errorf("The file has not come whole: %w", err)
	case len(data) > render.MaxText:
		return nil, schema.Refuse(schema.BadArgument, name).Because(fmt.Sprintf("it is larger than %d MiB", render.MaxText>>20))
	case len(bytes.TrimSpace(data)) == 0:
		return nil, schema.Refuse(schema.BadArgument, name).Because("it is empty")
	}
	return data, nil
}

// read is the configuration that a file holds. All of it must be right.
func (a *appliance) read(name string) (*schema.Config, error) {
	data, err := a.store.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return whole(name, data, nil, a.engine.Config())
}

// whole is the configuration that a text holds, alone or on top of base. All of it must be right. What is hidden in it are secrets
// of shown.
func whole(name string, data []byte, base, shown *schema.Config) (*schema.Config, error) {
	c, problems := document(name, data, base, shown)
	if len(problems) > 0 {
		return nil, schema.Refuse(schema.BadArgument, name).Because(first(problems).Error())
	}
	return c, nil
}

// document reads a configuration in the form that its name ends in, or else begins like.
func document(name string, data []byte, base, shown *schema.Config) (*schema.Config, []render.Problem) {
	read := render.Read
	switch ext := strings.ToLower(path.Ext(name)); {
	case ext == ".xml":
		read = render.ReadXML
	case ext == ".json":
		read = render.ReadJSON
	case ext == ".yaml" || ext == ".yml":
		read = render.ReadYAML
	case commands(data):
		return typed(data, base, shown)
	}
	d := read(data, render.Options{Base: base, Secrets: shown})
	if err := d.Refusal(); err != nil {
		return nil, d.Problems
	}
	return d.Config, nil
}

// commands tells whether a text is made of commands: its first line that is no remark begins with a word that is one.
func commands(data []byte) bool {
	for l := range bytes.Lines(data) {
		f := bytes.Fields(l)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		return f[0][0] != '<' && f[0][0] != '{' && !bytes.HasSuffix(f[0], []byte(":"))
	}
	return true
}

// typed takes commands as import does; unlike there none may be rejected.
func typed(data []byte, base, shown *schema.Config) (*schema.Config, []render.Problem) {
	if base == nil {
		base = schema.New()
	}
	if shown == nil {
		shown = base
	}
	c := base.Clone()
	return c, rejected(grammar.ImportAs(shown, c, data, nil))
}

// rejected are the lines of an import that were wrong.
func rejected(im *grammar.Imported) (problems []render.Problem) {
	for _, l := range im.Lines {
		if l.Fate == grammar.Rejected {
			problems = append(problems, render.Problem{Line: l.Number, Reason: l.Reason})
		}
	}
	return problems
}

// changeOf is what the history keeps of a configuration that has been put in force.
func changeOf(n engine.Noted) store.Version {
	v := store.Version{Number: n.Version, At: n.At}
	for _, a := range n.By {
		v.Changes = append(v.Changes, store.Change{User: a.User, Source: a.Source, Line: a.Line, Comment: a.Comment})
	}
	return v
}
