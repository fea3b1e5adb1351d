package root

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"sluice/image/bundle"
	"sluice/image/tool"
)

// leftovers of installing packages: traces of the build machine, secrets that must not be the same in every appliance, and
// what nothing in the appliance reads, as names of devices and all of Perl but its base. The dpkg status stays, for techsupport.
var leftovers = strings.Fields(`etc/apt etc/dpkg/dpkg.cfg.d var/lib/apt var/cache var/log/* var/lib/dpkg/info var/lib/dpkg/*-old var/lib/dpkg/alternatives var/lib/dpkg/triggers var/lib/dpkg/lock* var/lib/ucf var/lib/pam
	var/lib/systemd/deb-systemd-helper-* usr/share/info dev/* var/backups/*
	etc/ssh etc/machine-id var/lib/dbus/machine-id etc/hostname etc/resolv.conf etc/*- etc/.pwd.lock etc/.resolv.conf* run/* tmp/* root/.* etc/systemd/system/*
	usr/lib/udev/hwdb.* usr/share/perl usr/share/perl5 usr/lib/x86_64-linux-gnu/perl usr/lib/x86_64-linux-gnu/libperl.so.*
	usr/share/zoneinfo/right usr/share/zoneinfo/posix usr/share/lintian usr/share/bug usr/share/bash-completion usr/share/zsh usr/share/pci.ids.d usr/share/polkit-1 usr/share/initramfs-tools
	etc/initramfs-tools etc/kernel etc/cron* etc/logrotate.d etc/init.d etc/rc?.d etc/motd etc/issue etc/issue.net etc/update-motd.d etc/default/grub* etc/fstab`)

// folders are those that must be there to be mounted on.
var folders = []string{"config", "data", "boot", "etc/sluice", "var/cache", "var/log", "tmp"}

// release is what the appliance says of itself, in /etc/sluice/release.
type release struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Flavour string `json:"flavour"`
}

// finish turns an installed Debian into the appliance's root.
func finish(ctx context.Context, box tool.Box, o Options, dir string) error {
	for _, pattern := range leftovers {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, f := range found {
			if base := filepath.Base(f); base == "." || base == ".." {
				continue
			}
			if err := os.RemoveAll(f); err != nil {
				return err
			}
		}
	}
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(dir, f), 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(dir, "tmp"), 0o777|fs.ModeSticky); err != nil {
		return err
	}
	text, err := json.Marshal(release{o.Version, o.Commit, o.Flavour})
	if err != nil {
		return err
	}
	if len(o.Key) > 0 {
		if err := os.WriteFile(filepath.Join(dir, bundle.KeyFile), o.Key, 0o644); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{
		"etc/sluice/release": string(text) + "\n",
		"etc/machine-id":     "", // made at the first start
		"etc/hostname":       "sluice\n",
		"etc/hosts":          "127.0.0.1 localhost\n127.0.1.1 sluice\n::1 localhost ip6-localhost ip6-loopback\n",
		"etc/resolv.conf":    "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	for _, part := range []string{"etc", "usr"} {
		from := filepath.Join(o.Source, "image/files", part)
		if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) {
			continue // of what we add nothing, git keeps no folder
		}
		if err := overlay(from, filepath.Join(dir, part)); err != nil {
			return err
		}
	}
	if err := lockRoot(filepath.Join(dir, "etc/shadow")); err != nil {
		return err
	}
	if err := box.Run(ctx, "ldconfig", "-X", "-r", dir); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "var/cache/ldconfig")); err != nil { // with dates in it
		return err
	}
	from, err := sources(ctx, box)
	if err != nil {
		return err
	}
	return check(dir, hosts(from))
}

// overlay copies our own files into the root: links as links, what may be executed in the repository executable.
func overlay(from, dir string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(to, 0o755)
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			if err := os.RemoveAll(to); err != nil {
				return err
			}
			return os.Symlink(target, to)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
		if err := os.WriteFile(to, content, mode); err != nil {
			return err
		}
		return os.Chmod(to, mode) // whatever the umask is
	})
}

// lockRoot leaves the system's accounts no way in: operators are management's own.
func lockRoot(shadow string) error {
	text, err := os.ReadFile(shadow)
	if err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) != 9 {
			return fmt.Errorf("%s: a line has %d fields instead of 9", shadow, len(f))
		}
		f[1] = "*"
		out.WriteString(strings.Join(f, ":") + "\n")
	}
	return os.WriteFile(shadow, []byte(out.String()), 0o640)
}
