package disk

import (
	"context"
	"os"

	"sluice/image/tool"
)

// QCOW2 writes a disk as compressed qcow2.
func QCOW2(ctx context.Context, box tool.Box, raw, file string) error {
	return convert(ctx, box, raw, file, "-c", "-O", "qcow2")
}

func convert(ctx context.Context, box tool.Box, raw, file string, args ...string) error {
	if err := os.RemoveAll(file); err != nil {
		return err
	}
	return box.Run(ctx, "qemu-img", append(append([]string{"convert", "-f", "raw"}, args...), raw, file)...)
}
