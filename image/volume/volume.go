// Package volume readies the appliance's two partitions that are written to, the configuration's and the one of data: it grows, checks and
// mounts them, and what is damaged it puts aside before anything is made anew.
package volume

import (
	"bytes"
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
)

// Names of the partitions, as the partition table has them.
const (
	Config = "sluice-config"
	Data   = "sluice-data"
)

// Volumes are what is readied, and where.
type Volumes struct {
	Sys          string // /sys
	Dev          string // /dev
	Config, Data string // mount points
	Log          io.Writer
	Now          func() time.Time

	// Find is the device of a partition, or an error. By its name in the partition table if left out.
	Find func(name string) (string, error)

	say []string
}

// wrong notes a sentence that the operator should read.
func (v *Volumes) wrong(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	v.say = append(v.say, s)
	fmt.Fprintf(v.Log, "sluice: %s\n", s)
}

// Ready grows, checks and mounts both. Whatever is wrong, there is a folder to write a configuration into afterwards, if only in memory. The
// sentences say what is not as it should be.
func (v *Volumes) Ready() []string {
	if v.Find == nil {
		v.Find = func(name string) (string, error) { return Partition(v.Sys, v.Dev, name) }
	}
	v.say = nil
	v.readyData()
	v.readyConfig()
	return v.say
}

// Partition is the device of the partition of that name.
func Partition(sys, dev, name string) (string, error) {
	all, err := os.ReadDir(filepath.Join(sys, "class/block"))
	if err != nil {
		return "", err
	}
	for _, b := range all {
		text, err := os.ReadFile(filepath.Join(sys, "class/block", b.Name(), "uevent"))
		if err == nil && strings.Contains("\n"+string(text), "\nPARTNAME="+name+"\n") {
			return filepath.Join(dev, b.Name()), nil
		}
	}
	return "", fmt.Errorf("no disk has a partition %s", name)
}

// patience is how long a check or a copy may take: large disks are slow.
const patience = 30 * time.Minute

// run runs a program and returns its exit code and what it said.
func run(in, name string, args ...string) (code int, said string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Stdin = strings.NewReader(in)
	c.Env = append(os.Environ(), "LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin")
	out, err := c.CombinedOutput()
	said = strings.TrimSpace(string(out[max(0, len(out)-2000):]))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return exit.ExitCode(), said, nil
	}
	return 0, said, err
}

// must runs a program that has to end well.
func must(in, name string, args ...string) error {
	code, said, err := run(in, name, args...)
	if err == nil && code != 0 {
		err = fmt.Errorf("%s ended with %d: %s", name, code, lastLine(said))
	}
	return err
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }

// blank tells whether a partition begins as the build leaves it: with nothing.
func blank(device string) (bool, error) {
	f, err := os.Open(device)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, err
	}
	return len(bytes.Trim(head[:n], "\x00")) == 0, nil
}

// fresh makes a new file system. What was there is gone.
func fresh(device, label string) error {
	return must("", "mkfs.ext4", "-q", "-F", "-L", label, "-m", "0", device)
}

// e2fsck's exit codes are bits (e2fsck(8)).
const (
	fsckLeft   = 4 // errors are left
	fsckFailed = 8 | 16 | 32 | 128
)

// busy tells whether somebody has the device, with whom no program may check or write it: a mount that another program has copied.
func busy(device string) bool {
	f, err := os.OpenFile(device, os.O_RDONLY|unix.O_EXCL, 0)
	if err != nil {
		return errors.Is(err, unix.EBUSY)
	}
	f.Close()
	return false
}

// check repairs what can be repaired without losing anything.
func check(device string) (good bool, said string) {
	if busy(device) {
		return true, ""
	}
	code, said, err := run("", "e2fsck", "-p", device)
	if err != nil {
		return false, err.Error()
	}
	return code&(fsckLeft|fsckFailed) == 0, firstLine(said)
}

// force repairs what is left of a file system, at the price of what does not fit together.
func force(device string) bool {
	code, _, err := run("", "e2fsck", "-f", "-y", device)
	return err == nil && code&(fsckLeft|fsckFailed) == 0
}

// mount mounts a partition. Programs on it are none of ours to run with more rights than who starts them.
func mount(device, dir string) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := unix.Mount(device, dir, "ext4", unix.MS_NOATIME|unix.MS_NODEV|unix.MS_NOSUID, "errors=remount-ro"); err != nil {
		return fmt.Errorf("%s cannot be mounted on %s: %w", device, dir, err)
	}
	return os.Chmod(dir, 0o750)
}

// Mounted tells whether something is mounted on a folder.
func Mounted(dir string) bool {
	var here, above unix.Stat_t
	return unix.Stat(dir, &here) == nil && unix.Stat(filepath.Dir(filepath.Clean(dir)), &above) == nil && here.Dev != above.Dev
}
