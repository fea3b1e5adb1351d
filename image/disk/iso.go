package disk

import (
	"context"
	"os"
	"path/filepath"

	"sluice/image/tool"
)

// The files of an installation medium below its folder sluice; image/installer reads them.
const (
	mediumFolder = "sluice"
	mediumLabel  = "SLUICE"
)

// ISO writes a medium that installs the appliance on a disk, for CD drives and USB sticks, BIOS and UEFI. It holds the parts
// of a disk and a root to install them from. Make must have been called before.
func (d *Disk) ISO(ctx context.Context, box tool.Box, file string) error {
	box.Say("making the installation medium")
	tree := filepath.Join(d.Work, "iso")
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	base := filepath.Join(tree, mediumFolder)
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	if err := d.mediumParts(ctx, box, base); err != nil {
		return err
	}
	boot := filepath.Join(d.Boot, "install-early.cfg")
	if err := makeCore(ctx, box, "i386-pc-eltorito", boot, filepath.Join(base, "eltorito.img")); err != nil {
		return err
	}
	efi := filepath.Join(d.Work, "BOOTX64.EFI")
	if err := makeCore(ctx, box, "x86_64-efi", boot, efi); err != nil {
		return err
	}
	esp := filepath.Join(d.Work, "iso-esp.img")
	if err := newFile(esp, 4*MiB); err != nil {
		return err
	}
	for _, call := range [][]string{
		{"touch", "-d", "@" + box.Seconds(), efi},
		{"mkfs.vfat", "-i", "51C0CE03", "-n", "SLUICEEFI", "--invariant", esp},
		{"mmd", "-i", esp, "::EFI", "::EFI/BOOT"},
		{"mcopy", "-m", "-i", esp, efi, "::EFI/BOOT/BOOTX64.EFI"},
		{"find", tree, "-exec", "touch", "-h", "-d", "@" + box.Seconds(), "{}", "+"},
		{"xorriso", "-as", "mkisofs", "-quiet", "-r", "-V", mediumLabel, "-o", file,
			"--grub2-mbr", grubBIOS + "/boot_hybrid.img", "-partition_offset", "16", "-append_partition", "2", "0xef", esp,
			"-c", mediumFolder + "/boot.cat", "-b", mediumFolder + "/eltorito.img", "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table", "--grub2-boot-info",
			"-eltorito-alt-boot", "-e", "--interval:appended_partition_2:all::", "-no-emul-boot", tree},
	} {
		if err := box.Run(ctx, call[0], call[1:]...); err != nil {
			return err
		}
	}
	return nil
}

// mediumParts puts what a disk is made of into a folder.
func (d *Disk) mediumParts(ctx context.Context, box tool.Box, base string) error {
	if err := os.WriteFile(filepath.Join(base, "layout"), []byte(d.Sizes.open()), 0o644); err != nil {
		return err
	}
	boot, core, err := biosParts(filepath.Join(d.Work, "core.img"), MiB)
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"boot.img": boot, "core.img": core, "manifest.json": d.Manifest} {
		if err := os.WriteFile(filepath.Join(base, name), content, 0o644); err != nil {
			return err
		}
	}
	for _, call := range [][]string{
		{"cp", "-r", filepath.Join(d.Work, "esp"), filepath.Join(base, "esp")},
		{"cp", filepath.Join(d.Boot, "install.cfg"), filepath.Join(base, "install.cfg")},
		{"ln", d.Slot.Root, filepath.Join(base, "root.sqfs")},
	} {
		if err := box.Run(ctx, call[0], call[1:]...); err != nil {
			return err
		}
	}
	return nil
}
