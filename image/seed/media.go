// Package seed fetches what a machine is told at its first boot: from discs and disks with a label, from the firmware, and from a cloud's
// metadata service. What it means is read by image/firstboot.
package seed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sluice/image/firstboot"
)

// Kind is what a medium holds.
type Kind int

// Kinds of media, in the order in which they are asked.
const (
	Nothing   Kind = iota
	NoCloud        // label cidata
	NetScaler      // a file userdata
	OVF            // a file ovf-env.xml
)

// Medium is what was read of one.
type Medium struct {
	Kind   Kind
	Device string
	Files  firstboot.Files // UserData is the only file of those that have one
}

// asked bounds what a slow or broken drive may cost.
const asked = 20 * time.Second

// Media reads all media of a machine. Errors are sentences about media that cannot be read.
func Media(sys, dev, mountPoint string) (all []Medium, wrong []string) {
	entries, err := os.ReadDir(filepath.Join(sys, "class/block"))
	if err != nil {
		return nil, []string{fmt.Sprintf("the machine's disks cannot be listed: %v", err)}
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") || strings.HasPrefix(name, "zram") || ours(filepath.Join(sys, "class/block", name)) {
			continue
		}
		m, err := Read(filepath.Join(dev, name), mountPoint)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		if m.Kind != Nothing {
			all = append(all, m)
		}
	}
	return all, wrong
}

// ours tells whether a partition is one of the appliance's own.
func ours(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "uevent"))
	return err == nil && strings.Contains(string(text), "PARTNAME=sluice-")
}

// Read reads one medium, if it is an ISO 9660 disc or a FAT disk that is meant for us. It is mounted read-only for that long.
func Read(device, mountPoint string) (Medium, error) {
	label, kind := probe(device)
	m := Medium{Device: device}
	seed := strings.EqualFold(label, "cidata")
	if kind != "iso9660" && (kind != "vfat" || !seed) {
		return m, nil
	}
	if err := os.MkdirAll(mountPoint, 0o700); err != nil {
		return m, err
	}
	if err := unix.Mount(device, mountPoint, kind, unix.MS_RDONLY|unix.MS_NODEV|unix.MS_NOSUID|unix.MS_NOEXEC, ""); err != nil {
		if !seed { // any disc may be in the drive
			return m, nil
		}
		return m, fmt.Errorf("the medium %s with the label cidata cannot be mounted: %w", device, err)
	}
	defer func() { _ = unix.Unmount(mountPoint, unix.MNT_DETACH) }()
	root, err := os.OpenRoot(mountPoint)
	if err != nil {
		return m, err
	}
	defer root.Close()
	m.Kind, m.Files, err = contents(root, seed)
	return m, err
}

// contents reads what is for us in the folder that a medium is mounted on; seed: it has NoCloud's label.
func contents(root *os.Root, seed bool) (kind Kind, f firstboot.Files, err error) {
	if seed {
		var errs [3]error
		f.UserData, errs[0] = file(root, "user-data")
		f.MetaData, errs[1] = file(root, "meta-data")
		f.NetworkConfig, errs[2] = file(root, "network-config")
		return NoCloud, f, errors.Join(errs[:]...)
	}
	for _, other := range []struct {
		name string
		kind Kind
	}{{"userdata", NetScaler}, {"ovf-env.xml", OVF}} {
		if f.UserData, err = file(root, other.name); err != nil || f.UserData != nil {
			return other.kind, f, err
		}
	}
	return Nothing, f, nil
}

// probe asks what file system a device holds, and its label.
func probe(device string) (label, kind string) {
	ctx, cancel := context.WithTimeout(context.Background(), asked)
	defer cancel()
	c := exec.CommandContext(ctx, "blkid", "-p", "-o", "export", device)
	c.Env = append(os.Environ(), "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	out, err := c.Output()
	if err != nil { // nothing in the drive, or nothing that is known
		return "", ""
	}
	for line := range strings.Lines(string(out)) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), "="); key {
		case "LABEL":
			label = value
		case "TYPE":
			kind = value
		}
	}
	return label, kind
}

// file reads a file of a medium; nil if there is none. Discs without Rock Ridge extensions have names in capitals, with a dot or a
// version behind.
func file(root *os.Root, name string) ([]byte, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(1000)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("the files of the medium cannot be listed: %w", err)
	}
	for _, n := range names {
		plain, _, _ := strings.Cut(n, ";")
		if !strings.EqualFold(strings.ReplaceAll(strings.TrimSuffix(plain, "."), "_", "-"), name) {
			continue
		}
		text, err := bounded(root.OpenFile(n, os.O_RDONLY|unix.O_NONBLOCK, 0))
		if err != nil {
			return nil, fmt.Errorf("%s of the medium cannot be read: %w", name, err)
		}
		return text, nil
	}
	return nil, nil
}

// bounded reads a plain file, one byte more than may be at most, so that who reads it sees that it is too large.
func bounded(f *os.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, firstboot.Largest+1))
	if text == nil {
		text = []byte{}
	}
	return text, err
}
