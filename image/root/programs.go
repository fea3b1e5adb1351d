package root

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sluice/image/tool"
)

// program is one of ours, as it is built for the appliance. The level of instructions is what the slowest machine that we
// take has: DPDK needs SSE 4.2, which is v2; sluice-boot must be able to say that a CPU lacks it.
type program struct {
	name, pkg string
	cgo       bool
	level     string // GOAMD64
	stamps    string // linker flags, with VERSION, COMMIT and DATE to be replaced
}

var programs = []program{
	{"sluice-dataplane", "./dataplane", true, "v2", "-X main.version=VERSION"},
	{"sluice-mgmt", "./mgmt", false, "v2", "-X main.commit=COMMIT -X main.committed=DATE"},
	{"sluice", "./cli", false, "v2", ""},
	{"sluice-boot", "./image/boot", false, "v1", "-X main.version=VERSION"},
}

// buildPrograms builds ours into the root's /usr/bin.
func buildPrograms(ctx context.Context, box tool.Box, o Options, dir string) error {
	stamp := strings.NewReplacer("VERSION", o.Version, "COMMIT", o.Commit, "DATE", o.Epoch.UTC().Format("2006-01-02T15:04:05Z"))
	for _, p := range programs {
		if _, err := os.Stat(filepath.Join(o.Source, p.pkg)); err != nil {
			return fmt.Errorf("program %s has no source: %w", p.name, err)
		}
		box.Say("building %s", p.name)
		flags := strings.TrimSpace("-s -w " + stamp.Replace(p.stamps))
		cmd := box.Command(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", filepath.Join(dir, "usr/bin", p.name), p.pkg)
		cmd.Dir = o.Source
		cgo := "0"
		if p.cgo {
			cgo = "1"
		}
		cmd.Env = append(cmd.Env, "GOFLAGS=", "GOOS=linux", "GOARCH=amd64", "GOAMD64="+p.level, "CGO_ENABLED="+cgo)
		if said, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s cannot be built: %w\n%s", p.name, err, said)
		}
		if err := checkLibraries(dir, filepath.Join(dir, "usr/bin", p.name)); err != nil {
			return err
		}
	}
	return nil
}

// checkLibraries says which shared library a program needs that is not in the root: a build machine has many that the
// appliance has not.
func checkLibraries(dir, file string) error {
	f, err := elf.Open(file)
	if err != nil {
		return fmt.Errorf("%s is no program: %w", file, err)
	}
	defer f.Close()
	needed, err := f.ImportedLibraries()
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, lib := range needed {
		found := false
		for _, place := range []string{"usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib"} {
			if _, err := os.Stat(filepath.Join(dir, place, lib)); err == nil {
				found = true
			}
		}
		if !found {
			return fmt.Errorf("%s needs %s, which no package of the appliance has: add it to image/files/packages.list", filepath.Base(file), lib)
		}
	}
	return nil
}
