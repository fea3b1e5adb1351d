package disk

import (
	"context"
	"os"

	"sluice/image/tool"
)

// QCOW2 writes a disk as compressed qcow2, which QEMU and KVM take.
func QCOW2(ctx context.Context, box tool.Box, raw, file string) error {
	return convert(ctx, box, raw, file, "-c", "-O", "qcow2")
}

// VMDK writes a disk as a compressed stream, the form of VMware in which disks travel.
func VMDK(ctx context.Context, box tool.Box, raw, file string) error {
	return convert(ctx, box, raw, file, "-O", "vmdk", "-o", "subformat=streamOptimized,adapter_type=lsilogic")
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
