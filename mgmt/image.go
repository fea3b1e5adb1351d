package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"

	"sluice/cli/grammar"
	"sluice/image/bundle"
	"sluice/image/slot"
	"sluice/mgmt/engine"
	"sluice/mgmt/show"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// images are the slots of the machine, and where bundles for them come from.
type images struct {
	disk *slot.Disk
	key  string // file of the key to which bundles are held
	dir  string // where operators leave them
	// power has the system do that: reboot, poweroff, or restart of the programs.
	power func(action string) error
}

// systemd asks the first process of the machine, which ends management in good order first.
func systemd(action string) error {
	args := []string{"--no-block", action}
	if action == "restart" {
		args = append(args, "sluice-dataplane.service", "sluice-mgmt.service")
	}
	if out, err := exec.Command("systemctl", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("the system does not: %w: %.200s", err, out)
	}
	return nil
}

// aboutMachine tells whether an operation is about the machine's images or its run.
func aboutMachine(op *grammar.Op) bool {
	return op.Object == schema.Of[schema.Image]() || op.Object == schema.Of[schema.Reboot]() || op.Object == schema.Of[schema.Shutdown]()
}

// machine executes what aboutMachine tells, but for install image, whose text comes while it runs.
func (o *operator) machine(who engine.Author, op *grammar.Op) (string, error) {
	if op.Verb == "show" {
		s, err := o.images.disk.State()
		if err != nil {
			return "", err
		}
		return show.Images(s, o.store.SlotKept), nil
	}
	var text string
	var err error
	switch op.Verb {
	case "set":
		to, _ := op.Arg("boot")
		text, err = o.setBoot(who, slot.Slot(to))
	case "reboot":
		err = o.end(op, "reboot")
	case "shutdown":
		err = o.end(op, "poweroff")
	default:
		err = schema.Refuse(schema.NotSupported, op.Verb+" "+op.Object.Name())
	}
	o.audit(strings.TrimSpace(op.Object.Command(op.Verb)), who, "Done", err)
	return text, err
}

// end restarts the machine or switches it off. One that is none of ours is left alone.
func (o *operator) end(op *grammar.Op, action string) error {
	if _, err := o.images.disk.Running(); err != nil {
		return schema.Refuse(schema.NotPermitted, op.Verb).Because("this machine was not started from an appliance image, and has its own means")
	}
	if _, warm := op.Arg("warm"); warm {
		action = "restart"
	}
	return o.images.power(action)
}

// setBoot has the next start try a slot.
func (o *operator) setBoot(who engine.Author, to slot.Slot) (string, error) {
	t, err := o.switchTo(who, to)
	if err != nil || t == nil {
		return "", err
	}
	return warnings(o.announce(t)), nil
}

// switchTo keeps the configuration of the slot that runs, and has the next start try the other one.
func (o *operator) switchTo(who engine.Author, to slot.Slot) (*slot.Trial, error) {
	running, err := o.images.disk.Running()
	if err != nil {
		return nil, err
	}
	if to != running {
		if err := o.store.KeepSlot(string(running), o.slotManifest(who.User)); err != nil {
			return nil, err
		}
	}
	return o.images.disk.Switch(to, who.User, o.now(), len(o.saved().Problems))
}

func (a *appliance) slotManifest(by string) store.Manifest {
	return store.Manifest{Level: "basic", Comment: "left with the slot", By: by, Host: a.hostName(), Release: a.system.Release, At: a.now().UTC()}
}

// announce are sentences about a trial that the next start makes.
func (o *operator) announce(t *slot.Trial) []string {
	all := []string{fmt.Sprintf("The next start tries slot %s with %s, once; it is kept if it comes up well, else slot %s comes back. Give reboot to start it.", t.Slot, t.Version, t.From)}
	if at := o.store.SlotKept(string(t.Slot)); !at.IsZero() {
		all = append(all, fmt.Sprintf("Slot %s goes on with its own configuration, as it was left on %s; that of slot %s is kept for it.", t.Slot, at.UTC().Format("2006-01-02 15:04:05 UTC"), t.From))
	}
	if c := o.saved().Config; c == nil || !c.Equal(o.engine.Config()) {
		all = append(all, "The running configuration holds changes that are not saved: give save ns config before.")
	}
	return all
}

// install puts the image of a bundle into the slot that does not run, and tells how it goes.
func (o *operator) install(ctx context.Context, user string, op *grammar.Op, out io.Writer) error {
	from, _ := op.Arg("source")
	who := engine.Author{User: user, Source: o.source, Line: "install image " + discreet(from)}
	t, err := o.installFrom(ctx, who, from, out)
	if err != nil {
		err = flat(err)
	} else {
		fmt.Fprint(out, warnings(o.announce(t)))
	}
	o.audit("install image", who, "Done", err)
	return err
}

func (o *operator) installFrom(ctx context.Context, who engine.Author, from string, out io.Writer) (*slot.Trial, error) {
	running, err := o.images.disk.Running()
	if err != nil {
		return nil, err
	}
	key, err := bundle.ReadPublic(o.images.key)
	if err != nil {
		return nil, schema.Refuse(schema.NotPermitted, "install image").Because("this appliance was built without a key to hold bundles to: start one that was built with a key")
	}
	src, err := o.openBundle(ctx, from)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	b, err := bundle.Open(src, key)
	if err != nil {
		return nil, unfitBundle(from, err)
	}
	if err := o.images.disk.Fits(b); err != nil {
		return nil, err
	}
	if n := b.Bytes(); src.length >= 0 && src.length < n {
		return nil, unfitBundle(from, fmt.Errorf("it has %d bytes, and what its manifest names has %d", src.length, n))
	}
	fmt.Fprintf(out, "The image is %s of flavour %s, and its signature is right: it is written to slot %s.\n", b.Version, b.Flavour, running.Other())
	kept, err := o.store.RetireSlot(string(running.Other()))
	if err != nil {
		return nil, err
	}
	if kept != "" {
		fmt.Fprintf(out, "The configuration that slot %s was left with is system backup %s by now.\n", running.Other(), kept)
	}
	to, err := o.images.disk.Install(b)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "It is written, and was found right on the disk.\n")
	return o.switchTo(who, to)
}

func unfitBundle(from string, err error) error {
	return schema.Refuse(schema.BadArgument, "source", discreet(from)).Because(err.Error())
}

// arrive is the first thing of a start: another slot than the one before comes with its own configuration. It tells what became of the
// last trial, too.
func (a *appliance) arrive() {
	running, err := a.images.disk.Running()
	if err != nil {
		return // a machine without slots
	}
	left, restored, err := a.store.EnterSlot(string(running), a.slotManifest("system"))
	switch {
	case err != nil:
		a.degrade("slots", err.Error())
	case restored:
		a.log.Warn("the slot goes on with the configuration that it was left with; that of the other one is kept for it", "slot", running, "other", left)
	case left != "":
		a.log.Warn("the slot goes on with the configuration of the other one, which is kept for that", "slot", running, "other", left)
	}
	t, err := a.images.disk.Trial()
	switch {
	case err != nil:
		a.degrade("slots", err.Error())
	case t != nil && t.Outcome == slot.Returned:
		a.degrade("slots", fmt.Sprintf("slot %s with %s was tried and is not kept: %s", t.Slot, t.Version, t.Why))
	case t != nil:
		a.log.Info("the last trial of an image", "slot", t.Slot, "version", t.Version, "user", t.By, "outcome", show.Outcome(t))
	}
}

// errImages is the answer where the folder for bundles is missing.
var errImages = errors.New("There is no folder for bundles on this machine")

// fileBelow is a file's name below the folder for bundles.
func (i *images) fileBelow(name string) string {
	for _, p := range []string{filepath.Clean(i.dir) + "/", "/images/"} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest
		}
	}
	return name
}
