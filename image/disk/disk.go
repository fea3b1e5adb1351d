package disk

import (
	"context"
	"os"
	"path/filepath"

	"sluice/image/root"
	"sluice/image/tool"
)

// Disk says what a disk is made of.
type Disk struct {
	Slot      *root.Slot // what slot A holds
	Manifest  []byte     // what the slot is, as a bundle of it would say
	Boot      string     // folder of grub.cfg and early.cfg
	Work      string     // folder for what is made on the way
	Sizes     Sizes
	Arguments string // further kernel arguments, kept in the boot loader's environment
}

// Make writes the disk to a file.
func (d *Disk) Make(ctx context.Context, box tool.Box, file string) error {
	if err := d.Sizes.Check(); err != nil {
		return err
	}
	box.Say("making the disk")
	at, err := d.Sizes.makeTable(ctx, box, file)
	if err != nil {
		return err
	}
	work := func(name string) string { return filepath.Join(d.Work, name) }
	if err := makeCore(ctx, box, "i386-pc", filepath.Join(d.Boot, "early.cfg"), work("core.img")); err != nil {
		return err
	}
	if err := d.makeESP(ctx, box, work("esp.img")); err != nil {
		return err
	}
	if err := makeExt4(ctx, box, work("config.img"), "sluice-config", d.Sizes.Config, 1); err != nil {
		return err
	}
	if err := makeExt4(ctx, box, work("data.img"), "sluice-data", d.Sizes.Data, 2); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	err = d.fill(f, at, work)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// fill writes the boot loader and the partitions' content.
func (d *Disk) fill(f *os.File, at map[string]int64, work func(string) string) error {
	room := map[string]int64{}
	for _, p := range d.Sizes.partitions() {
		room[p.name] = int64(p.mib) * MiB
	}
	if err := installBIOS(f, work("core.img"), at["bios"], room["bios"]); err != nil {
		return err
	}
	for _, p := range []struct{ name, file string }{
		{"sluice-esp", work("esp.img")}, {"sluice-root-A", d.Slot.Root}, {"sluice-config", work("config.img")}, {"sluice-data", work("data.img")},
	} {
		if err := put(f, p.file, at[p.name], room[p.name]); err != nil {
			return err
		}
	}
	return nil
}
