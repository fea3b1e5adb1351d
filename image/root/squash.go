package root

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sluice/image/tool"
)

// squash packs a root into one file that a kernel mounts. All that would differ from build to build is fixed: dates, and
// with one processor's order of blocks also what several of them would shuffle.
func squash(ctx context.Context, box tool.Box, dir, file string, level int) error {
	box.Say("packing the root")
	cmd := box.Command(ctx, "mksquashfs", dir, file, "-comp", "zstd", "-Xcompression-level", strconv.Itoa(level), "-b", "256K",
		"-noappend", "-quiet", "-no-progress", "-all-time", box.Seconds(), "-mkfs-time", box.Seconds())
	// It refuses -mkfs-time if the environment says the same.
	var env []string
	for _, v := range cmd.Env {
		if !strings.HasPrefix(v, "SOURCE_DATE_EPOCH=") {
			env = append(env, v)
		}
	}
	cmd.Env = env
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("mksquashfs failed: %w\n%s", err, said)
	}
	return os.Chmod(file, 0o644)
}
