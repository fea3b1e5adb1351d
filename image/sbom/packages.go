package sbom

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"sluice/image/tool"
)

// component is a package of Debian, a module of Go, or our own.
type component struct {
	name, version string
	source        string // what it is built from, for whoever asks for the source
	purl          string
}

// fields are what dpkg is asked for of each package.
const fields = `${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}\n`

// debian asks dpkg which packages a root or, with no folder, the build machine has.
func debian(ctx context.Context, box tool.Box, admin string, names ...string) ([]component, error) {
	args := []string{"-W", "-f", fields}
	if admin != "" {
		args = append([]string{"--admindir", admin}, args...)
	}
	out, err := box.Output(ctx, "dpkg-query", append(args, names...)...)
	if err != nil {
		return nil, fmt.Errorf("the packages are not known: %w", err)
	}
	var all []component
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 5 {
			return nil, fmt.Errorf("dpkg says %q of a package, which is not understood", line)
		}
		all = append(all, debianComponent(f[0], f[1], f[2], f[3], f[4]))
	}
	return all, nil
}

// packageFile is a package that was unpacked but not installed.
func packageFile(ctx context.Context, box tool.Box, file string) (component, error) {
	out, err := box.Output(ctx, "dpkg-deb", "-W", "--showformat="+fields, file)
	f := strings.Split(strings.TrimSpace(out), "\t")
	if err != nil || len(f) != 5 {
		return component{}, fmt.Errorf("%s does not say which package it is: %w", filepath.Base(file), err)
	}
	return debianComponent(f[0], f[1], f[2], f[3], f[4]), nil
}

func debianComponent(name, version, arch, source, sourceVersion string) component {
	return component{
		name: name, version: version, source: "Debian source package " + source + " " + sourceVersion,
		purl: fmt.Sprintf("pkg:deb/debian/%s@%s?arch=%s&distro=bookworm", name, strings.NewReplacer("+", "%2B", ":", "%3A").Replace(version), arch),
	}
}

// modules are those of Go that programs are built from, with Go's own library.
func modules(programs []string) ([]component, error) {
	var all []component
	add := func(path, version string) {
		c := component{name: path, version: version, source: "Go module " + path + " " + version, purl: "pkg:golang/" + path + "@" + version}
		if !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	for _, p := range programs {
		info, err := buildinfo.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("%s does not say what it is built from: %w", filepath.Base(p), err)
		}
		add("std", strings.TrimPrefix(info.GoVersion, "go"))
		for _, d := range info.Deps {
			if d.Replace != nil && d.Replace.Version == "" {
				continue // a folder of the repository, which is ours
			}
			if d.Replace != nil {
				d = d.Replace
			}
			add(d.Path, d.Version)
		}
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.purl, b.purl) })
	return all, nil
}
