package installer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sluice/image/bundle"
)

// patience bounds a program that works on a disk.
const patience = 10 * time.Minute

// Job is one installation.
type Job struct {
	Medium string // folder of the medium's files
	Device string // of the disk, e.g. /dev/sda
	Sys    string // /sys
	Dev    string // /dev
	Mount  string // folder where the boot partition is mounted meanwhile
	Say    func(format string, args ...any)
}

// Run writes the appliance. The boot loader's first sector comes last: a machine whose installation was cut off does not
// start half an appliance.
func (j Job) Run(ctx context.Context) error {
	manifest, err := j.manifest()
	if err != nil {
		return err
	}
	layout, err := os.ReadFile(filepath.Join(j.Medium, "layout"))
	if err != nil {
		return fmt.Errorf("the medium cannot be read: %w", err)
	}
	j.Say("making partitions")
	if err := run(ctx, bytes.NewReader(layout), "sfdisk", "-q", "--wipe", "always", "--wipe-partitions", "always", j.Device); err != nil {
		return err
	}
	at := map[string]string{}
	for _, name := range []string{"bios", "sluice-esp", "sluice-root-A", "sluice-config", "sluice-data"} {
		if at[name], err = j.partition(ctx, name); err != nil {
			return err
		}
	}
	j.Say("writing the root file system")
	if err := j.root(at["sluice-root-A"], manifest.Part(bundle.Root)); err != nil {
		return err
	}
	j.Say("making the other file systems")
	for name, device := range map[string]string{"sluice-config": at["sluice-config"], "sluice-data": at["sluice-data"]} {
		if err := run(ctx, nil, "mkfs.ext4", "-q", "-F", "-m", "0", "-L", name, device); err != nil {
			return err
		}
	}
	if err := j.esp(ctx, at["sluice-esp"]); err != nil {
		return err
	}
	j.Say("writing the boot loader")
	if err := j.copy("core.img", at["bios"]); err != nil {
		return err
	}
	return j.copy("boot.img", j.Device)
}

func (j Job) manifest() (*bundle.Manifest, error) {
	text, err := os.ReadFile(filepath.Join(j.Medium, bundle.ManifestName))
	if err != nil {
		return nil, fmt.Errorf("the medium cannot be read: %w", err)
	}
	m, err := bundle.ReadManifest(text)
	if err != nil {
		return nil, fmt.Errorf("the medium is damaged: %w", err)
	}
	return m, nil
}

// partition waits for the kernel to show a partition of the disk, and returns its device.
func (j Job) partition(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := filepath.Glob(filepath.Join(j.Sys, "block", filepath.Base(j.Device), "*", "uevent"))
		if err != nil {
			return "", err
		}
		for _, u := range all {
			text, err := os.ReadFile(u)
			device := filepath.Join(j.Dev, filepath.Base(filepath.Dir(u)))
			if _, e := os.Stat(device); err == nil && e == nil && strings.Contains("\n"+string(text), "\nPARTNAME="+name+"\n") {
				return device, nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", fmt.Errorf("%s was given partitions, but %s does not appear", j.Device, name)
		}
	}
}

// root writes the root into its slot and reads it back.
func (j Job) root(device string, part bundle.Part) error {
	in, err := os.Open(filepath.Join(j.Medium, bundle.Root))
	if err != nil {
		return fmt.Errorf("the medium cannot be read: %w", err)
	}
	defer in.Close()
	if err := write(device, in, part, "the medium"); err != nil {
		return err
	}
	out, err := os.Open(device)
	if err != nil {
		return err
	}
	defer out.Close()
	h := sha256.New()
	if _, err := io.CopyN(h, out, part.Size); err != nil {
		return fmt.Errorf("%s cannot be read back: %w", device, err)
	}
	if hex.EncodeToString(h.Sum(nil)) != part.SHA256 {
		return fmt.Errorf("what is read from %s is not what was written: the disk is bad", device)
	}
	return nil
}

// write copies a part to a device, and says if what came from there is not what its manifest says.
func write(device string, in io.Reader, part bundle.Part, from string) error {
	out, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(out, io.TeeReader(in, h))
	if err == nil {
		err = out.Sync()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", device, err)
	}
	if n != part.Size || hex.EncodeToString(h.Sum(nil)) != part.SHA256 {
		return fmt.Errorf("%s is damaged: %s has not the content that the manifest says", from, part.Name)
	}
	return nil
}

// esp makes the boot partition and copies its files.
func (j Job) esp(ctx context.Context, device string) (err error) {
	if err := run(ctx, nil, "mkfs.vfat", "-F", "32", "-n", "SLUICEBOOT", device); err != nil {
		return err
	}
	if err := os.MkdirAll(j.Mount, 0o700); err != nil {
		return err
	}
	if err := run(ctx, nil, "mount", "-t", "vfat", device, j.Mount); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run(ctx, nil, "umount", j.Mount)) }()
	return run(ctx, nil, "cp", "-rT", "--no-preserve=all", filepath.Join(j.Medium, "esp"), j.Mount)
}

// copy writes a file of the medium to the beginning of a device.
func (j Job) copy(name, device string) error {
	content, err := os.ReadFile(filepath.Join(j.Medium, name))
	if err != nil {
		return fmt.Errorf("the medium cannot be read: %w", err)
	}
	out, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	if err == nil {
		err = out.Sync()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", device, err)
	}
	return nil
}

func run(ctx context.Context, in io.Reader, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = in
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s failed: %w: %s", name, err, strings.Join(strings.Fields(string(said)), " "))
	}
	return nil
}
