package main

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sluice/image/bundle"
	"sluice/image/disk"
	"sluice/image/root"
	"sluice/image/sbom"
	"sluice/image/tool"
	"sluice/vendor-config/schema"
)

// build is what is asked for.
type build struct {
	flavour, out, cache, source string
	formats, arguments, key     string
	level                       int
	twice                       bool
	sizes                       disk.Sizes
	version, commit             string
	epoch                       time.Time
}

// forms are the forms of a disk beside the raw one.
var forms = []string{"qcow2", "ova", "vhdx", "iso"}

// usual are the forms of each flavour when none is asked for.
var usual = map[string]string{"vm": "qcow2,ova,vhdx", "metal": "iso"}

// check looks at what is asked for before minutes are spent on it, and makes the folders absolute.
func (b *build) check() error {
	for _, dir := range []*string{&b.out, &b.cache, &b.source} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	if b.formats == "" {
		b.formats = usual[b.flavour]
	}
	for _, f := range b.wanted() {
		if !slices.Contains(forms, f) {
			return fmt.Errorf("%q is no form of a disk that is built here: %s", f, strings.Join(forms, ", "))
		}
	}
	if b.level < 1 || b.level > 22 {
		return fmt.Errorf("zstd has no level %d: 1 to 22", b.level)
	}
	return b.sizes.Check()
}

// wanted are the forms that are asked for.
func (b *build) wanted() []string {
	return slices.DeleteFunc(strings.Split(b.formats, ","), func(f string) bool { return f == "" || f == "none" })
}

// run builds the slot, the disk, the disk's other forms and the bundle.
func (b *build) run(ctx context.Context, box tool.Box) error {
	if err := b.check(); err != nil {
		return err
	}
	if b.flavour == "container" {
		return root.Packages(ctx, box, b.source, b.cache, filepath.Join(b.out, "sluice-base.tar"))
	}
	key, public, err := b.keys()
	if err != nil {
		return err
	}
	work := filepath.Join(b.out, "work-"+b.flavour)
	slot, err := root.Make(ctx, box, root.Options{
		Source: b.source, Cache: b.cache, Work: work, Flavour: b.flavour,
		Version: b.version, Commit: b.commit, Epoch: b.epoch, Level: b.level, Key: public,
	})
	if err != nil {
		return err
	}
	what := b.file("spdx.json")
	err = sbom.Write(ctx, box, sbom.Input{
		Tree: slot.Tree, Admin: slot.Admin, Source: b.source, Kernel: slot.KernelPackage, Programs: slot.Programs, Version: b.version, Flavour: b.flavour,
	}, what)
	if err != nil {
		return fmt.Errorf("what the appliance is made of cannot be told: %w", err)
	}
	manifest := bundle.Manifest{Version: b.version, Commit: b.commit, Flavour: b.flavour, Schema: schema.Revision}
	files := bundle.Files{Kernel: slot.Kernel, Initrd: slot.Initrd, Root: slot.Root}
	_, text, err := bundle.Describe(manifest, files)
	if err != nil {
		return err
	}
	d := disk.Disk{Slot: slot, Manifest: text, Boot: filepath.Join(b.source, "image/files/boot"), Work: work, Sizes: b.sizes, Arguments: b.arguments}
	made, err := b.disks(ctx, box, &d)
	if err != nil {
		return err
	}
	made = append(made, what)
	if key != nil {
		file := b.file("bundle")
		if err := writeBundle(file, manifest, files, key); err != nil {
			return err
		}
		made = append(made, file)
	} else {
		box.Say("no key was given (-key): there is no bundle, and this appliance takes no upgrade")
	}
	if err := report(box, made); err != nil || !b.twice {
		return err
	}
	return b.again(ctx, box, made)
}

// keys are the key that bundles are signed with and the one by which appliances know it; none if none is asked for.
func (b *build) keys() (ed25519.PrivateKey, []byte, error) {
	if b.key == "" {
		return nil, nil, nil
	}
	key, err := bundle.ReadPrivate(b.key)
	if err != nil {
		return nil, nil, fmt.Errorf("the key for bundles: %w", err)
	}
	public, err := bundle.PublicText(key)
	return key, public, err
}

// disks makes the raw disk and its other forms.
func (b *build) disks(ctx context.Context, box tool.Box, d *disk.Disk) (made []string, err error) {
	raw := b.file("raw")
	if err := d.Make(ctx, box, raw); err != nil {
		return nil, err
	}
	made = append(made, raw)
	for _, form := range b.wanted() {
		file := b.file(form)
		switch form {
		case "qcow2":
			err = disk.QCOW2(ctx, box, raw, file)
		case "vhdx":
			err = disk.VHDX(ctx, box, raw, file)
		case "iso":
			err = d.ISO(ctx, box, file)
		case "ova":
			err = disk.OVA(ctx, box, raw, filepath.Join(b.source, "image/files/appliance.ovf"), b.version, file)
		}
		if err != nil {
			return nil, err
		}
		made = append(made, file)
	}
	return made, nil
}

func writeBundle(file string, m bundle.Manifest, files bundle.Files, key ed25519.PrivateKey) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	_, err = bundle.Write(out, m, files, key)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// file is the name of what is built, in one of its forms.
func (b *build) file(form string) string {
	return filepath.Join(b.out, "sluice-"+b.flavour+"."+form)
}

// report says what was made and how large it is.
func report(box tool.Box, made []string) error {
	for _, file := range made {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		box.Say("%8.1f MB  %s", float64(info.Size())/1e6, file)
	}
	return nil
}
