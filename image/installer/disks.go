// Package installer writes the appliance from its medium to a disk of a real machine: it says which disks there are, asks
// which one, and makes partitions, boot loader and slot A on it. What was written is read back before it says so.
package installer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Disk is a disk that could be written to.
type Disk struct {
	Name  string // of the kernel, e.g. sda
	Bytes int64
	Model string
}

// String is the disk as an operator knows it.
func (d Disk) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s, %.1f GB, %s", d.Name, float64(d.Bytes)/1e9, d.Model))
}

// sector is the unit in which the kernel says how large a disk is, in bytes, whatever its own sectors are.
const sector = 512

// Disks are the disks of the machine but the medium's own: devices that can be written and have more room than least.
func Disks(sys, medium string, least int64) ([]Disk, error) {
	all, err := os.ReadDir(filepath.Join(sys, "block"))
	if err != nil {
		return nil, fmt.Errorf("the machine does not say which disks it has: %w", err)
	}
	var out []Disk
	for _, b := range all {
		dir := filepath.Join(sys, "block", b.Name())
		if _, err := os.Stat(filepath.Join(dir, "device")); err != nil || b.Name() == medium || strings.HasPrefix(b.Name(), "sr") {
			continue // loops, memory, and what is put together from others
		}
		if word(dir, "ro") != "0" {
			continue
		}
		n, err := strconv.ParseInt(word(dir, "size"), 10, 64)
		if err != nil || n <= 0 || n > 1<<50 || n*sector < least {
			continue
		}
		out = append(out, Disk{b.Name(), n * sector, strings.TrimSpace(word(dir, "device/vendor") + " " + word(dir, "device/model"))})
	}
	slices.SortFunc(out, func(a, b Disk) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// word is the content of a file of the kernel, on one line and without what a terminal would obey.
func word(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, string(text[:min(len(text), 200)]))
	return strings.Join(strings.Fields(clean), " ")
}

// Whole is the name of the disk that a partition of this name lies on: the name itself if it is no partition.
func Whole(sys, name string) (string, error) {
	path, err := filepath.EvalSymlinks(filepath.Join(sys, "class/block", name))
	if err != nil {
		return "", fmt.Errorf("there is no device %s: %w", name, err)
	}
	if _, err := os.Stat(filepath.Join(path, "partition")); errors.Is(err, os.ErrNotExist) {
		return name, nil
	}
	return filepath.Base(filepath.Dir(path)), nil
}
