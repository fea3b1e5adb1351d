package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"

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

// contentID is the line of a disk's description by which snapshots know their parent; qemu-img draws it, and writes it without leading
// zeros. It must not be ffffffff, which is no parent.
var contentID = regexp.MustCompile(`\nCID=[0-9a-f]{1,8}\n`)

// fixID gives a disk the same content ID in each build. The description lies within the first 64 KiB.
func fixID(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	head := make([]byte, 64<<10)
	n, err := f.ReadAt(head, 0)
	if err == nil || errors.Is(err, io.EOF) {
		if at, text := describedAnew(head[:n]); text == nil {
			err = fmt.Errorf("%s has no description that is understood", filepath.Base(file))
		} else {
			_, err = f.WriteAt(text, int64(at))
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// describedAnew is what the description is from its content ID on, with ours in its place, and where that begins; nil if there is none
// or no room. Zeros follow a description up to the end of its sectors.
func describedAnew(head []byte) (at int, text []byte) {
	found := contentID.FindIndex(head)
	if found == nil {
		return 0, nil
	}
	rest, filling, _ := bytes.Cut(head[found[1]:], []byte{0})
	text = slices.Concat([]byte("\nCID=51c0ce04\n"), rest)
	longer := len(text) - (found[1] - found[0]) - len(rest)
	if longer > len(filling) || slices.ContainsFunc(filling[:longer], func(b byte) bool { return b != 0 }) {
		return 0, nil
	}
	return found[0], text
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
