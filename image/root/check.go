package root

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// public is the host by which everybody knows Debian's archive: packages may name it in their own texts.
const public = "deb.debian.org"

// hosts are the names of the hosts that the build machine fetches packages from, which are nobody's business.
func hosts(all []source) (names []string) {
	for _, s := range all {
		if u, err := url.Parse(s.URI); err == nil && u.Hostname() != "" && u.Hostname() != public && u.Hostname() != "security.debian.org" {
			names = append(names, u.Hostname())
		}
	}
	return names
}

// traces are where packages' managers note what they fetch from where.
var traces = strings.Fields(`etc/apt/sources.list etc/apt/sources.list.d etc/apt/auth.conf etc/apt/auth.conf.d etc/apt/apt.conf.d var/lib/apt/lists var/cache/apt`)

// check refuses a root with what must not be in one: where its packages came from (hosts too, in any file), keys and
// identities that every appliance would share, accounts with a password.
func check(dir string, hosts []string) error {
	var wrong []error
	refuse := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	for _, name := range traces {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			refuse("/%s is there: it tells where packages were fetched from", name)
		}
	}
	if id, err := os.ReadFile(filepath.Join(dir, "etc/machine-id")); err != nil || len(bytes.TrimSpace(id)) > 0 {
		refuse("/etc/machine-id must be there and empty, so that each appliance makes its own")
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name := strings.TrimPrefix(path, dir)
		if strings.Contains(d.Name(), "ssh_host_") {
			refuse("%s is a host key that every appliance would share", name)
		}
		if len(hosts) == 0 {
			return nil
		}
		content, err := os.ReadFile(path)
		for _, h := range hosts {
			if bytes.Contains(content, []byte(h)) {
				refuse("%s names %s, where this machine fetches packages", name, h)
			}
		}
		return err
	})
	if err != nil {
		wrong = append(wrong, err)
	}
	shadow, err := os.ReadFile(filepath.Join(dir, "etc/shadow"))
	if err != nil {
		wrong = append(wrong, err)
	}
	for line := range strings.Lines(string(shadow)) {
		if f := strings.Split(line, ":"); len(f) < 2 || f[1] != "*" {
			refuse("/etc/shadow: account %s could log in", f[0])
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the root must not be shipped: %w", errors.Join(wrong...))
	}
	return nil
}
