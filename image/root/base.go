package root

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sluice/image/tool"
)

// bootstrap are the arguments of mmdebstrap that do not change: no translations, no recommended packages, and nothing
// that nobody reads in an appliance. Copyright files stay: licences ask for them.
var bootstrap = []string{
	"--format=tar", "--mode=root", "--variant=essential", "--quiet", "--dpkgopt=force-unsafe-io",
	`--aptopt=Acquire::Languages "none"`, `--aptopt=APT::Install-Recommends "false"`,
	"--dpkgopt=path-exclude=/usr/share/doc/*", "--dpkgopt=path-include=/usr/share/doc/*/copyright",
	"--dpkgopt=path-exclude=/usr/share/man/*", "--dpkgopt=path-exclude=/usr/share/info/*",
	"--dpkgopt=path-exclude=/usr/share/locale/*", "--dpkgopt=path-exclude=/usr/share/i18n/*",
	"--dpkgopt=path-exclude=/usr/share/lintian/*", "--dpkgopt=path-exclude=/usr/share/bug/*",
	"--dpkgopt=path-exclude=/usr/share/bash-completion/*", "--dpkgopt=path-exclude=/usr/share/zsh/*",
	"--dpkgopt=path-exclude=/usr/lib/x86_64-linux-gnu/gconv/*",
}

// base returns the tarball of Debian with the packages named, from the cache if the same was made before of the same
// indexes. The name of the file is a digest of all that it depends on.
func base(ctx context.Context, box tool.Box, cache string, packages []string) (string, error) {
	from, err := sources(ctx, box)
	if err != nil {
		return "", err
	}
	key, err := baseKey(from, packages)
	if err != nil {
		return "", err
	}
	file := filepath.Join(cache, "base-"+key+".tar")
	if _, err := os.Stat(file); err == nil {
		box.Say("the packages' tarball is %s", file)
		return file, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	box.Say("installing %d packages and what they need into a new root (a minute or more)", len(packages))
	var list strings.Builder
	for _, s := range from {
		list.WriteString(s.line())
	}
	// Made under another name first: what is half done must not be found by the next build.
	part := file + ".part"
	defer os.Remove(part)
	args := append(append([]string{}, bootstrap...), "--include="+strings.Join(packages, ","), suite, part, "-")
	if err := box.Pipe(ctx, strings.NewReader(list.String()), nil, "mmdebstrap", args...); err != nil {
		return "", err
	}
	return file, os.Rename(part, file)
}

// baseKey is a digest of the packages, how they are installed and the indexes they come from.
func baseKey(from []source, packages []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, bootstrap, packages)
	for _, s := range from {
		fmt.Fprintln(h, s.Release, s.Component)
		f, err := os.Open(s.File)
		if err != nil {
			return "", fmt.Errorf("the index of %s is not on this machine: run apt-get update: %w", s.Release, err)
		}
		_, err = io.Copy(h, f)
		f.Close()
		if err != nil {
			return "", fmt.Errorf("the index of %s cannot be read: %w", s.Release, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
