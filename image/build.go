package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/image/disk"
	"sluice/image/root"
	"sluice/image/tool"
)

// build is what is asked for.
type build struct {
	flavour, out, cache, source string
	formats, arguments          string
	level                       int
	sizes                       disk.Sizes
	version, commit             string
	epoch                       time.Time
}

// run builds the slot, the disk, and the disk's other forms.
func (b *build) run(ctx context.Context, box tool.Box) error {
	for _, dir := range []*string{&b.out, &b.cache, &b.source} {
		abs, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = abs
	}
	if b.flavour == "container" {
		return root.Packages(ctx, box, b.source, b.cache, filepath.Join(b.out, "sluice-base.tar"))
	}
	if err := b.sizes.Check(); err != nil {
		return err
	}
	work := filepath.Join(b.out, "work-"+b.flavour)
	slot, err := root.Make(ctx, box, root.Options{
		Source: b.source, Cache: b.cache, Work: work, Flavour: b.flavour,
		Version: b.version, Commit: b.commit, Epoch: b.epoch, Level: b.level,
	})
	if err != nil {
		return err
	}
	raw := b.file("raw")
	d := disk.Disk{Slot: slot, Boot: filepath.Join(b.source, "image/files/boot"), Work: work, Sizes: b.sizes, Arguments: b.arguments}
	if err := d.Make(ctx, box, raw); err != nil {
		return err
	}
	made := []string{raw}
	for _, format := range strings.FieldsFunc(b.formats, func(r rune) bool { return r == ',' }) {
		file := b.file(format)
		switch format {
		case "qcow2":
			err = disk.QCOW2(ctx, box, raw, file)
		default:
			err = fmt.Errorf("%q is no form of a disk that is built here: qcow2", format)
		}
		if err != nil {
			return err
		}
		made = append(made, file)
	}
	return report(box, made)
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
