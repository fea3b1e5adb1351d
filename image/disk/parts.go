package disk

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"sluice/image/bundle"
	"sluice/image/tool"
)

// envSize is the size of GRUB's environment block, whatever is in it.
const envSize = 1024

// env is the environment block of a new disk: slot A. The keys stand in the order in which they are rewritten, all of them
// within the first sector.
func env(extra string) ([]byte, error) {
	text := "# GRUB Environment Block\ncur=A\nnext=A\ntry=0\nhp=\nisol=\nextra=" + extra + "\n"
	if len(text) > sector {
		return nil, fmt.Errorf("the kernel arguments are too long: %d bytes with all other variables of the boot loader, at most %d", len(text), sector)
	}
	block := make([]byte, envSize)
	for i := range block {
		block[i] = '#'
	}
	copy(block, text)
	return block, nil
}

// makeESP makes the boot partition: FAT, with GRUB for UEFI, the menu, and the kernel of slot A. GRUB of a BIOS reads it too.
func (d *Disk) makeESP(ctx context.Context, box tool.Box, file string) error {
	tree := filepath.Join(d.Work, "esp")
	if err := os.RemoveAll(tree); err != nil {
		return err
	}
	for _, dir := range []string{"EFI/BOOT", "A", "B"} {
		if err := os.MkdirAll(filepath.Join(tree, dir), 0o755); err != nil {
			return err
		}
	}
	block, err := env(d.Arguments)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, "grubenv"), block, 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tree, "A", bundle.ManifestName), d.Manifest, 0o644); err != nil {
		return err
	}
	if err := makeCore(ctx, box, "x86_64-efi", filepath.Join(d.Boot, "early.cfg"), filepath.Join(tree, "EFI/BOOT/BOOTX64.EFI")); err != nil {
		return err
	}
	for from, to := range map[string]string{
		filepath.Join(d.Boot, "grub.cfg"): "grub.cfg", d.Slot.Kernel: "A/vmlinuz", d.Slot.Initrd: "A/initrd.img",
	} {
		if err := box.Run(ctx, "cp", from, filepath.Join(tree, to)); err != nil {
			return err
		}
	}
	if err := box.Run(ctx, "find", tree, "-exec", "touch", "-d", "@"+box.Seconds(), "{}", "+"); err != nil {
		return err
	}
	if err := newFile(file, int64(d.Sizes.ESP)*MiB); err != nil {
		return err
	}
	if err := box.Run(ctx, "mkfs.vfat", "-i", "51C0CE01", "-n", "SLUICEBOOT", "-F", "32", "--invariant", file); err != nil {
		return err
	}
	// One by one and in this order, so that the folder's entries lie the same way each time.
	for _, name := range []string{"EFI", "A", "B", "grub.cfg", "grubenv"} {
		if err := box.Run(ctx, "mcopy", "-s", "-m", "-i", file, filepath.Join(tree, name), "::"); err != nil {
			return err
		}
	}
	return nil
}

// makeExt4 makes an empty file system whose identity and dates are the same in each build.
func makeExt4(ctx context.Context, box tool.Box, file, label string, mib, number int) error {
	if err := newFile(file, int64(mib)*MiB); err != nil {
		return err
	}
	id := func(n int) string { return "51c0ce02-0000-4000-8000-" + fmt.Sprintf("%012s", strconv.Itoa(n)) }
	return box.Run(ctx, "mkfs.ext4", "-q", "-F", "-L", label, "-m", "0", "-U", id(number), "-E", "lazy_itable_init=1,hash_seed="+id(number+100), file)
}

func newFile(name string, size int64) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
