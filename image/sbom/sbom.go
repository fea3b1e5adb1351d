// Package sbom says of what an appliance is made: an SPDX document that names each file of the root with its digests and
// the package it comes from, what each package was built from, and the modules in our own programs. A file of which
// nobody knows where it comes from is an error.
package sbom

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"

	"sluice/image/tool"
)

// own is the name of our own part of the appliance.
const own = "sluice"

// Input is what is described.
type Input struct {
	Tree             string // the finished root
	Admin            string // dpkg's folder of the root, with the lists of files
	Source           string // the repository
	Kernel           string // package file of the kernel
	Version, Flavour string
	Programs         []string // files of our programs
}

// Loaders are the packages of the build machine of which parts are in an appliance outside of its root.
var Loaders = []string{"busybox-static", "grub-pc-bin", "grub-efi-amd64-bin"}

// Write writes the document to a file.
func Write(ctx context.Context, box tool.Box, in Input, file string) error {
	doc, err := describe(ctx, box, in)
	if err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	err = json.Write(doc, out, json.Indent(" "))
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

func describe(ctx context.Context, box tool.Box, in Input) (*v2_3.Document, error) {
	who, err := readOwners(filepath.Join(in.Admin, "info"))
	if err != nil {
		return nil, err
	}
	kernel, err := packageFile(ctx, box, in.Kernel)
	if err != nil {
		return nil, err
	}
	who.add("/usr/lib/modules/", kernel.name)
	who.add("/usr/share/doc/linux-image-", kernel.name)
	if err := who.addOwn(in); err != nil {
		return nil, err
	}
	files, err := filesOf(in.Tree, who)
	if err != nil {
		return nil, err
	}
	debs, err := debian(ctx, box, in.Admin)
	if err != nil {
		return nil, err
	}
	loaders, err := debian(ctx, box, "", Loaders...)
	if err != nil {
		return nil, err
	}
	mods, err := modules(in.Programs)
	if err != nil {
		return nil, err
	}
	d := newDocument(box, in)
	d.add(component{name: own, version: in.Version, source: "commit of this repository", purl: "pkg:generic/sluice@" + in.Version}, files[own])
	for _, c := range append(debs, kernel) {
		if len(files[c.name]) > 0 { // what was installed and then removed is not part of the appliance
			d.add(c, files[c.name])
		}
		delete(files, c.name)
	}
	delete(files, own)
	for name := range files {
		return nil, fmt.Errorf("files belong to the package %s, which is not installed: %s", name, files[name][0].FileName)
	}
	for _, c := range append(loaders, mods...) {
		d.add(c, nil)
	}
	return d.doc, nil
}

// addOwn says which files are ours: those of image/files, those that the build writes, and our programs.
func (o *owners) addOwn(in Input) error {
	for _, name := range []string{"/etc/sluice/", "/etc/machine-id", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/usr/bin/sluice"} {
		o.add(name, own)
	}
	base := filepath.Join(in.Source, "image/files")
	for _, top := range []string{"etc", "usr"} {
		err := filepath.WalkDir(filepath.Join(base, top), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil && !d.IsDir() {
				o.files[strings.TrimPrefix(path, base)] = own
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// filesOf are the files of the root by package. Links have no content that could differ: they are left out, as folders are.
func filesOf(tree string, who *owners) (map[string][]*v2_3.File, error) {
	files := map[string][]*v2_3.File{}
	var unknown []string
	n := 0
	err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name := strings.TrimPrefix(path, tree)
		pkg := who.of(name)
		if pkg == "" {
			unknown = append(unknown, name)
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		short, long := sha1.Sum(content), sha256.Sum256(content)
		n++
		files[pkg] = append(files[pkg], &v2_3.File{
			FileName: "." + name, FileSPDXIdentifier: common.ElementID(fmt.Sprintf("file-%d", n)), FileCopyrightText: "NOASSERTION",
			LicenseConcluded: "NOASSERTION", LicenseInfoInFiles: []string{"NOASSERTION"},
			Checksums: []common.Checksum{{Algorithm: common.SHA1, Value: hex.EncodeToString(short[:])}, {Algorithm: common.SHA256, Value: hex.EncodeToString(long[:])}},
		})
		return nil
	})
	if err == nil && len(unknown) > 0 {
		err = fmt.Errorf("%d files of the root belong to no package that is known, the first is %s: remove them, or say in image/sbom whose they are", len(unknown), strings.Join(unknown[:min(len(unknown), 20)], " "))
	}
	return files, err
}

// verification is the digest by which SPDX knows all files of a package (2.3, 7.9): of their SHA-1 digests, in order.
func verification(files []*v2_3.File) string {
	var sums []string
	for _, f := range files {
		sums = append(sums, f.Checksums[0].Value)
	}
	slices.Sort(sums)
	sum := sha1.Sum([]byte(strings.Join(sums, "")))
	return hex.EncodeToString(sum[:])
}
