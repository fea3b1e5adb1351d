package root

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/image/tool"
)

// suite is the release of Debian that the appliance is made of.
const suite = "bookworm"

// keyring is the file with the keys of Debian's archive, of the package debian-archive-keyring.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// source is one index of packages that the build machine's apt is configured with.
type source struct {
	URI, Release, Component string
	File                    string // the index as it was last fetched
}

// line is the source as sources.list(5) has it.
func (s source) line() string {
	return fmt.Sprintf("deb [signed-by=%s] %s %s %s\n", keyring, s.URI, s.Release, s.Component)
}

// sources are Debian's own indexes among those of the build machine. Whatever else it is configured with has no place in
// an appliance.
func sources(ctx context.Context, box tool.Box) ([]source, error) {
	out, err := box.Output(ctx, "apt-get", "indextargets", "--format", "$(ORIGIN)|$(CODENAME)|$(ARCHITECTURE)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(FILENAME)", "Created-By: Packages")
	if err != nil {
		return nil, fmt.Errorf("which packages this machine can fetch is not known: %w", err)
	}
	all := parseSources(out)
	if len(all) == 0 {
		return nil, errors.New("apt on this machine knows no packages of Debian 12 (bookworm): configure its sources, run apt-get update and try again")
	}
	return all, nil
}

// parseSources reads the lines of indextargets.
func parseSources(out string) (all []source) {
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 7 || f[0] != "Debian" || f[2] != "amd64" || !strings.HasPrefix(f[1], suite) || strings.HasSuffix(f[1], "-backports") {
			continue
		}
		all = append(all, source{URI: f[3], Release: f[4], Component: f[5], File: f[6]})
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.line(), b.line()) })
	return slices.Compact(all)
}
