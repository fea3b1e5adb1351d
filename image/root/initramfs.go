package root

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/image/tool"
)

// early are the modules without which no root is found: disks of all hypervisors, the file systems, and watchdogs of real machines.
// What a flavour's kernel lacks or has built in is left out.
var early = strings.Fields(`virtio_pci virtio_blk virtio_scsi sd_mod sr_mod nvme ahci ata_piix vmw_pvscsi mptspi mptsas hv_vmbus hv_storvsc xen_blkfront
	usb_storage uas xhci_pci ehci_pci megaraid_sas mpt3sas smartpqi hpsa aacraid squashfs overlay ext4 loop vfat nls_cp437 nls_ascii nls_iso8859-1 isofs
	i6300esb iTCO_wdt`)

// applets are the commands of busybox that the initramfs' init uses, and some for whoever must look into it.
var applets = strings.Fields(`sh mount umount switch_root insmod sleep cat mkdir ls grep sed dd echo dmesg poweroff reboot sync cut cp mv rm ln head tail wc printf test tr seq`)

// initramfs packs busybox, our init and the early modules into an archive that a kernel unpacks.
func initramfs(ctx context.Context, box tool.Box, o Options, tree, version, file string) error {
	box.Say("packing the initramfs")
	dir := o.file("initramfs")
	for _, d := range []string{"bin", "m", "d", "proc", "sys", "sq", "rw", "new", "esp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	// busybox looks for loop devices there, for the medium that installs.
	if err := os.Symlink("d", filepath.Join(dir, "dev")); err != nil {
		return err
	}
	if err := copyFile("/bin/busybox", filepath.Join(dir, "bin/busybox"), 0o755); err != nil {
		return fmt.Errorf("busybox is missing: `make deps` installs busybox-static: %w", err)
	}
	for _, a := range applets {
		if err := os.Symlink("busybox", filepath.Join(dir, "bin", a)); err != nil {
			return err
		}
	}
	if err := copyFile(filepath.Join(o.Source, "image/files/boot/init"), filepath.Join(dir, "init"), 0o755); err != nil {
		return err
	}
	order, err := earlyModules(ctx, box, tree, version)
	if err != nil {
		return err
	}
	for _, m := range order {
		if err := copyFile(filepath.Join(tree, m), filepath.Join(dir, "m", filepath.Base(m)), 0o644); err != nil {
			return err
		}
	}
	names := make([]string, len(order))
	for i, m := range order {
		names[i] = filepath.Base(m)
	}
	if err := os.WriteFile(filepath.Join(dir, "m/order"), []byte(strings.Join(names, "\n")+"\n"), 0o644); err != nil {
		return err
	}
	return packArchive(ctx, box, dir, file)
}

// earlyModules are the files of the early modules and what they need, in the order in which they can be loaded.
func earlyModules(ctx context.Context, box tool.Box, tree, version string) (files []string, err error) {
	for _, m := range early {
		// One at a time: a module that this kernel has not is no error.
		out, err := box.Output(ctx, "modprobe", "-d", tree, "-S", version, "--show-depends", m)
		if err != nil {
			continue
		}
		for line := range strings.Lines(out) {
			path, ok := strings.CutPrefix(strings.TrimSpace(line), "insmod ")
			if !ok { // builtin
				continue
			}
			path = strings.Fields(path)[0]
			rel, err := filepath.Rel(tree, path)
			if err != nil {
				return nil, err
			}
			if !slices.Contains(files, rel) {
				files = append(files, rel)
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("kernel %s has none of the modules that the initramfs needs", version)
	}
	return files, nil
}

// packArchive writes a folder as a compressed cpio archive, the same for the same content.
func packArchive(ctx context.Context, box tool.Box, dir, file string) error {
	if err := box.Run(ctx, "find", dir, "-exec", "touch", "-h", "-d", "@"+box.Seconds(), "{}", "+"); err != nil {
		return err
	}
	// Sorted by the shell's own sort, since cpio takes names as they come.
	const pack = `cd "$1" && find . -print0 | sort -z | cpio --null -o -H newc -R 0:0 --reproducible --quiet | zstd -q -19 -T1 -f -o "$2"`
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	return box.Run(ctx, "sh", "-c", pack, "sh", dir, abs)
}

func copyFile(from, to string, mode os.FileMode) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
