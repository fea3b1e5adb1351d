// Package root makes what a slot of the appliance holds: the root file system as a squashfs, the kernel and the initramfs,
// from Debian's packages, the files in image/files and our own programs.
package root

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sluice/image/tool"
)

// Options say what is built and where.
type Options struct {
	Source  string // the repository
	Cache   string // folder of what lasts from build to build
	Work    string // folder of this build; its content is replaced
	Flavour string // vm or metal
	Version string
	Commit  string
	Epoch   time.Time // of the commit: the date of everything
	Level   int       // of zstd for the root
	Key     []byte    // public key that upgrades must be signed for, in PEM; none: the appliance takes no upgrade
}

// Slot is what one of the appliance's slots holds, as files.
type Slot struct {
	Kernel, Initrd, Root string
	Tree                 string // the root before it was packed

	// What the root is made of: dpkg's folder with the lists of all packages' files, the kernel's package and our programs.
	Admin, KernelPackage string
	Programs             []string
}

// Make builds a slot.
func Make(ctx context.Context, box tool.Box, o Options) (*Slot, error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("the files of a root belong to root: the image must be built as root")
	}
	if kernelOf[o.Flavour] == "" {
		return nil, fmt.Errorf("there is no flavour %q: vm is for virtual machines, metal for real ones", o.Flavour)
	}
	s := &Slot{Kernel: o.file("vmlinuz"), Initrd: o.file("initrd.img"), Root: o.file("root.sqfs"), Tree: o.file("root")}
	if err := os.RemoveAll(o.Work); err != nil {
		return nil, err
	}
	for _, dir := range []string{o.Cache, s.Tree} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	tarball, err := packages(ctx, box, o.Source, o.Cache)
	if err != nil {
		return nil, err
	}
	kernel, err := fetchKernel(ctx, box, o.Cache, o.Flavour)
	if err != nil {
		return nil, err
	}
	box.Say("unpacking the packages and %s", kernel.Name)
	if err := box.Run(ctx, "tar", "-x", "--numeric-owner", "--xattrs", "--xattrs-include=*", "-C", s.Tree, "-f", tarball); err != nil {
		return nil, err
	}
	if err := unpackKernel(ctx, box, kernel, s.Tree, s.Kernel); err != nil {
		return nil, err
	}
	if err := buildPrograms(ctx, box, o, s.Tree); err != nil {
		return nil, err
	}
	s.KernelPackage, s.Admin = kernel.File, o.file("dpkg")
	if err := box.Run(ctx, "cp", "-a", filepath.Join(s.Tree, "var/lib/dpkg"), s.Admin); err != nil {
		return nil, err
	}
	if err := finish(ctx, box, o, s.Tree); err != nil {
		return nil, err
	}
	for _, p := range programs {
		s.Programs = append(s.Programs, filepath.Join(s.Tree, "usr/bin", p.name))
	}
	if err := initramfs(ctx, box, o, s.Tree, kernel.version(), s.Initrd); err != nil {
		return nil, err
	}
	return s, squash(ctx, box, s.Tree, s.Root, o.Level)
}

// packages returns the tarball of Debian with the packages of the list in the repository.
func packages(ctx context.Context, box tool.Box, source, cache string) (string, error) {
	names, err := readPackages(filepath.Join(source, "image/files/packages.list"))
	if err != nil {
		return "", err
	}
	return base(ctx, box, cache, names)
}

// Packages leaves that tarball at a file, for the container form, which is made of the same packages.
func Packages(ctx context.Context, box tool.Box, source, cache, file string) error {
	for _, dir := range []string{cache, filepath.Dir(file)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	tarball, err := packages(ctx, box, source, cache)
	if err != nil {
		return err
	}
	os.Remove(file)
	return os.Symlink(tarball, file)
}

func (o Options) file(name string) string { return filepath.Join(o.Work, name) }
