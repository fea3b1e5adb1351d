package volume

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"golang.org/x/sys/unix"
)

// readyData readies the partition of data. Nothing of the appliance depends on it; without it there is no room for what is large.
func (v *Volumes) readyData() {
	if Mounted(v.Data) {
		return
	}
	device, err := v.Find(Data)
	if err != nil {
		v.wrong("there is no room for data: %v", err)
		return
	}
	if err := Grow(v.Sys, device); err != nil {
		v.wrong("the partition of data stays as small as it is: %v", err)
	}
	empty, err := blank(device)
	switch {
	case err != nil:
		v.wrong("the partition of data cannot be read: %v", err)
		return
	case empty:
		err = fresh(device, Data)
	default:
		if good, said := check(device); !good {
			v.wrong("the partition of data was damaged (%s), and is repaired by force; files may be in /data/lost+found", said)
			if !force(device) {
				v.wrong("the partition of data cannot be repaired and is made anew; traces, old logs and core dumps on it are lost")
				err = fresh(device, Data)
			}
		}
	}
	if err == nil {
		err = mount(device, v.Data)
	}
	if err == nil { // up to the end of the partition; nothing happens if it reaches there
		err = must("", "resize2fs", device)
	}
	if err != nil {
		v.wrong("the partition of data: %v", err)
	}
}

// readyConfig readies the partition of the configuration. One that is damaged is copied to the partition of data before anything is done
// to it that may lose more; without room for that nothing is done, and the box has a configuration in memory until the operator decides.
func (v *Volumes) readyConfig() {
	if Mounted(v.Config) {
		return
	}
	device, err := v.Find(Config)
	if err != nil {
		v.memory("there is no partition for the configuration: %v", err)
		return
	}
	empty, err := blank(device)
	switch {
	case err != nil:
		v.memory("the partition of the configuration cannot be read: %v", err)
		return
	case empty && v.virgin(device):
		err = fresh(device, Config)
	default:
		good, said := check(device)
		if good {
			break
		}
		kept, err := v.aside(device)
		if err != nil {
			v.memory("the partition of the configuration is damaged (%s), and left as it is, since no copy of it can be kept: %v", said, err)
			return
		}
		v.wrong("the partition of the configuration was damaged (%s); a copy of it as it was is %s", said, kept)
		if v.renew(device); !Mounted(v.Config) {
			v.memory("the partition of the configuration cannot be made anew")
		}
		return
	}
	if err == nil {
		err = mount(device, v.Config)
	}
	if err != nil {
		v.memory("the partition of the configuration: %v", err)
	}
}

// virgin tells whether a partition that begins with nothing holds nothing at all: one whose beginning was wiped out may hold more.
func (v *Volumes) virgin(device string) bool {
	f, err := os.Open(device)
	if err != nil {
		return false
	}
	defer f.Close()
	part := make([]byte, 1<<20)
	for {
		n, err := io.ReadFull(f, part)
		for _, b := range part[:n] {
			if b != 0 {
				return false
			}
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// renew repairs the partition of the configuration by force, or makes it anew, and mounts it.
func (v *Volumes) renew(device string) {
	if force(device) {
		err := mount(device, v.Config)
		if err == nil {
			v.wrong("the partition of the configuration is repaired by force; what had lost its name is in /config/lost+found, and startup.xml may be an earlier one: look at it")
			return
		}
		v.wrong("the partition of the configuration is repaired, and %v", err)
	}
	err := fresh(device, Config)
	if err == nil {
		err = mount(device, v.Config)
	}
	if err != nil {
		v.wrong("the partition of the configuration: %v", err)
		return
	}
	v.wrong("the partition of the configuration could not be repaired and is empty now: the box is as at its first boot")
}

// memory says what is wrong and gives the box a configuration in memory, so that it comes up far enough to be put right.
func (v *Volumes) memory(format string, args ...any) {
	v.wrong(format, args...)
	err := os.MkdirAll(v.Config, 0o750)
	if err == nil {
		err = unix.Mount("tmpfs", v.Config, "tmpfs", unix.MS_NODEV|unix.MS_NOSUID, "size=64M,mode=0750")
	}
	if err != nil {
		v.wrong("nor is there a configuration in memory: %v", err)
		return
	}
	v.wrong("the configuration is in memory only, and what is saved is lost at the next restart")
}

// Renew makes a partition anew. What was there is gone.
func Renew(sys, dev, name string) error {
	device, err := Partition(sys, dev, name)
	if err == nil {
		err = fresh(device, name)
	}
	return err
}

// InMemory tells whether a folder lies in memory only.
func InMemory(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Type == unix.TMPFS_MAGIC
}

// aside copies a partition as it is to the partition of data, compressed.
func (v *Volumes) aside(device string) (name string, err error) {
	if !Mounted(v.Data) {
		return "", errors.New("there is no room for data")
	}
	name = filepath.Join(v.Data, "config-damaged-"+v.Now().UTC().Format("20060102-150405")+".img.gz")
	from, err := os.Open(device)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	z, err := gzip.NewWriterLevel(to, gzip.BestSpeed)
	if err == nil {
		_, err = io.Copy(z, from)
		err = errors.Join(err, z.Close(), to.Sync())
	}
	if err = errors.Join(err, to.Close()); err != nil {
		os.Remove(name)
		return "", fmt.Errorf("the copy has not come whole: %w", err)
	}
	return name, nil
}

var machineID = regexp.MustCompile(`^[0-9a-f]{32}\n?$`)

// KeepIdentity keeps the machine's identity, which its first start has made, with the configuration: the journal is filed under it.
func (v *Volumes) KeepIdentity(etc string) error {
	kept := filepath.Join(v.Config, "machine-id")
	if text, err := os.ReadFile(kept); err == nil && machineID.Match(text) {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(etc, "machine-id"))
	if err != nil || !machineID.Match(text) {
		return errors.Join(errors.New("the machine has no identity to keep"), err)
	}
	return os.WriteFile(kept, text, 0o444)
}
