package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"sluice/image/tool"
)

// QCOW2 writes a disk as compressed qcow2, which QEMU and KVM take.
func QCOW2(ctx context.Context, box tool.Box, raw, file string) error {
	return convert(ctx, box, raw, file, "-c", "-O", "qcow2")
}

// VMDK writes a disk as a compressed stream, the form of VMware in which disks travel.
func VMDK(ctx context.Context, box tool.Box, raw, file string) error {
	if err := convert(ctx, box, raw, file, "-O", "vmdk", "-o", "subformat=streamOptimized,adapter_type=lsilogic"); err != nil {
		return err
	}
	return fixID(file)
}

// contentID is the line of a disk's description by which snapshots know their parent; qemu-img draws it. It must not be
// ffffffff, which is no parent.
var contentID = regexp.MustCompile(`\nCID=[0-9a-f]{8}\n`)

// fixID gives a disk the same content ID in each build. The description lies within the first 64 KiB.
func fixID(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	head := make([]byte, 64<<10)
	n, err := f.ReadAt(head, 0)
	if err == nil || errors.Is(err, io.EOF) {
		if at := contentID.FindIndex(head[:n]); at == nil {
			err = fmt.Errorf("%s has no description that is understood", filepath.Base(file))
		} else {
			_, err = f.WriteAt([]byte("\nCID=51c0ce04\n"), int64(at[0]))
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// VHDX writes a disk in the form of Hyper-V. Its identities are new each time: qemu-img draws them.
func VHDX(ctx context.Context, box tool.Box, raw, file string) error {
	return convert(ctx, box, raw, file, "-O", "vhdx", "-o", "subformat=dynamic,block_size=1M")
}

func convert(ctx context.Context, box tool.Box, raw, file string, args ...string) error {
	if err := os.RemoveAll(file); err != nil {
		return err
	}
	return box.Run(ctx, "qemu-img", append(append([]string{"convert", "-f", "raw"}, args...), raw, file)...)
}
