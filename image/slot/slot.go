// Package slot knows the two places from which the appliance can start: which of them runs, which starts next and which is only
// tried, what image lies in each, and how another one is put there without touching the one that runs. Whatever step a power cut falls on,
// the boot loader finds a whole image. It knows neither configurations nor why a slot is healthy or not.
package slot

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Slot is A or B.
type Slot string

// The slots.
const (
	A Slot = "A"
	B Slot = "B"
)

// Other is the other slot.
func (s Slot) Other() Slot {
	if s == A {
		return B
	}
	return A
}

// partition is the GPT name of the slot's root file system.
func (s Slot) partition() string { return "sluice-root-" + string(s) }

// espPartition is the GPT name of the partition that the boot loader and the firmware read.
const espPartition = "sluice-esp"

// ErrNoSlots is the answer on a machine that was not started from an image.
var ErrNoSlots = errors.New("This machine was not started from an appliance image, so that it has no slots")

// ErrBusy is the answer while an image is being written or tried.
var ErrBusy = errors.New("An image is being installed")

// Disk is the machine's disk with its slots. Everything that it reads and writes lies below a root, so that a test needs no disk.
type Disk struct {
	root string
	esp  string // where the ESP is mounted; empty: it is not, and is when it is needed
	ops  ops
}

// New is the disk of the machine whose root directory is root.
func New(root string) *Disk { return &Disk{root: root, ops: real()} }

// Mounted is a disk whose ESP is mounted already, in the folder esp.
func Mounted(root, esp string) *Disk { return &Disk{root: root, esp: esp, ops: real()} }

func (d *Disk) path(name string) string { return filepath.Join(d.root, name) }

// argument is the word of the kernel's command line that says which slot was started.
const argument = "sluice.slot="

// Running is the slot that was started; ErrNoSlots says that none was.
func (d *Disk) Running() (Slot, error) {
	switch s := Slot(d.Argument(argument)); s {
	case A, B:
		return s, nil
	}
	return "", ErrNoSlots
}

// Argument is the value of a word of the kernel's command line, such as "sluice.slot=", or empty.
func (d *Disk) Argument(name string) (value string) {
	line, err := os.ReadFile(d.path("proc/cmdline"))
	if err != nil {
		return ""
	}
	for w := range strings.FieldsSeq(string(line)) {
		if v, ok := strings.CutPrefix(w, name); ok {
			value = v // the last one counts, as for the kernel
		}
	}
	return value
}

// partition finds a partition by its GPT name: its device and how long it is in bytes.
func (d *Disk) partition(name string) (device string, size int64, err error) {
	all, err := filepath.Glob(d.path("sys/class/block/*/uevent"))
	if err != nil {
		return "", 0, err
	}
	for _, uevent := range all {
		found, node := d.partName(uevent)
		if found != name {
			continue
		}
		if device != "" { // which of them was started cannot be told
			return "", 0, fmt.Errorf("two disks have a partition %s: take out the one that this appliance was not started from", name)
		}
		text, err := os.ReadFile(filepath.Join(filepath.Dir(uevent), "size"))
		if err != nil {
			return "", 0, err
		}
		sectors, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return "", 0, fmt.Errorf("the kernel does not tell how large the partition %s is: %w", name, err)
		}
		device, size = d.path(filepath.Join("dev", node)), sectors*512 // whatever the disk's own sectors are
	}
	if device == "" {
		return "", 0, fmt.Errorf("no disk has a partition %s", name)
	}
	return device, size, nil
}

// partName reads what the kernel says of a block device.
func (d *Disk) partName(uevent string) (name, node string) {
	f, err := os.Open(uevent)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if v, ok := strings.CutPrefix(in.Text(), "PARTNAME="); ok {
			name = v
		}
		if v, ok := strings.CutPrefix(in.Text(), "DEVNAME="); ok && filepath.IsLocal(v) {
			node = v
		}
	}
	return name, node
}

// lock takes a lock that every program of the machine respects, and that the kernel frees when its holder dies.
func (d *Disk) lock(name string, how int) (unlock func(), err error) {
	if err := os.MkdirAll(d.path(runDir), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(d.path(filepath.Join(runDir, name)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|how); {
		case err == nil:
			return func() { f.Close() }, nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			f.Close()
			return nil, ErrBusy
		default:
			f.Close()
			return nil, err
		}
	}
}

// runDir is where what need not outlive the machine's run lies.
const runDir = "run/sluice"

// bootID is the kernel's name for this run of the machine.
func (d *Disk) bootID() string {
	id, err := os.ReadFile(d.path("proc/sys/kernel/random/boot_id"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// plain is an error without the names of functions and of folders that are nobody's concern.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
