// Program sluice-image builds what a user downloads: the appliance's disk in the forms that hypervisors and real machines
// take. It runs on Debian 12 as root, fetches packages from where the machine's own apt does, and mounts nothing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice/image/disk"
	"sluice/image/tool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "sluice-image:", err)
		os.Exit(1)
	}
}

// run builds what the command line asks for.
func run(ctx context.Context) error {
	b := build{sizes: disk.DefaultSizes}
	flag.StringVar(&b.flavour, "flavour", "vm", "`vm` for virtual machines, metal for real ones, or container for the packages alone")
	flag.StringVar(&b.out, "out", "image/out", "`folder` of what is built")
	flag.StringVar(&b.cache, "cache", "", "`folder` of what lasts from build to build (OUT/cache)")
	flag.StringVar(&b.source, "source", ".", "`folder` of the repository")
	flag.StringVar(&b.formats, "formats", "", "`list` of forms beside the raw disk: qcow2, ova, vhdx, iso, none (vm: qcow2,ova,vhdx; metal: iso)")
	flag.StringVar(&b.key, "key", "", "`file` with the ed25519 key that bundles for upgrades are signed with; without it there is no bundle")
	flag.StringVar(&b.arguments, "arguments", "", "further kernel `arguments`")
	flag.IntVar(&b.level, "level", 9, "zstd `level` of the root: 1 is quick, 19 is small")
	flag.BoolVar(&b.twice, "twice", false, "build twice, and fail unless both are the same bit for bit")
	flag.IntVar(&b.sizes.ESP, "esp", b.sizes.ESP, "size of the boot partition in `MiB`")
	flag.IntVar(&b.sizes.Slot, "slot", b.sizes.Slot, "size of a slot in `MiB`")
	flag.IntVar(&b.sizes.Config, "config", b.sizes.Config, "size of the configuration partition in `MiB`")
	flag.IntVar(&b.sizes.Data, "data", b.sizes.Data, "size of the data partition in `MiB`")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("%q is no flag: see -h", flag.Arg(0))
	}
	if b.cache == "" {
		b.cache = filepath.Join(b.out, "cache")
	}
	if err := b.identify(ctx); err != nil {
		return err
	}
	return b.run(ctx, tool.Box{Epoch: b.epoch, Log: os.Stdout})
}

// identify asks git which version this is, and when it was committed: the date of all that is built.
func (b *build) identify(ctx context.Context) error {
	out, err := exec.CommandContext(ctx, "git", "-C", b.source, "log", "-1", "--format=%H %h %ct").Output()
	f := strings.Fields(string(out))
	if err != nil || len(f) != 3 {
		return fmt.Errorf("git does not say which version of the sources %s has: an image is built from a clone of the repository", b.source)
	}
	seconds, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return fmt.Errorf("git does not say when the sources were committed: %w", err)
	}
	b.commit, b.version, b.epoch = f[0], "0.1-"+f[1], time.Unix(seconds, 0)
	return nil
}
