package installer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// least is what an appliance needs of a disk, in bytes: its slots, and some room for data.
const least = 2200 << 20

// Dialogue is the installation as an operator has it at a console.
type Dialogue struct {
	In     io.Reader
	Out    io.Writer
	Sys    string // /sys
	Dev    string // /dev
	Medium string // folder of the medium's files
	Own    string // the disk that the medium is
	Lock   string // file that keeps two consoles from installing at once
	Mount  string

	Restart func() error
}

// Run asks until the appliance is installed or the operator restarts the machine.
func (d Dialogue) Run(ctx context.Context) error {
	in := bufio.NewScanner(d.In)
	in.Buffer(nil, 4096)
	d.say("\nThis medium installs the Sluice appliance on a disk of this machine.\n")
	for {
		disks, err := Disks(d.Sys, d.Own, least)
		if err != nil {
			return err
		}
		for i, disk := range disks {
			d.say("  %d  %s\n", i+1, disk)
		}
		if len(disks) == 0 {
			d.say("No disk of at least %.1f GB is found. Is its controller switched on, and not set to RAID?\n", float64(least)/1e9)
		}
		d.say("Number of the disk (Enter looks again, restart restarts the machine): ")
		if !in.Scan() {
			return errors.Join(errors.New("the console is closed"), in.Err())
		}
		answer := strings.TrimSpace(in.Text())
		if answer == "restart" {
			return d.Restart()
		}
		n, err := strconv.Atoi(answer)
		if err != nil || n < 1 || n > len(disks) {
			continue
		}
		d.say("All that is on %s will be lost. Type erase to go on: ", disks[n-1])
		if !in.Scan() || strings.TrimSpace(in.Text()) != "erase" {
			d.say("Nothing was changed.\n")
			continue
		}
		if err := d.install(ctx, disks[n-1]); err != nil {
			d.say("The appliance is not installed: %v\n", err)
			continue
		}
		d.say("The appliance is installed on %s. Take the medium out and press Enter: the machine restarts. ", disks[n-1].Name)
		in.Scan()
		return d.Restart()
	}
}

// install holds the lock while it writes.
func (d Dialogue) install(ctx context.Context, disk Disk) error {
	lock, err := os.OpenFile(d.Lock, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errors.New("an installation is running at another console")
	}
	return Job{
		Medium: d.Medium, Device: filepath.Join(d.Dev, disk.Name), Sys: d.Sys, Dev: d.Dev, Mount: d.Mount,
		Say: func(format string, args ...any) { d.say(format+" ...\n", args...) },
	}.Run(ctx)
}

func (d Dialogue) say(format string, args ...any) { fmt.Fprintf(d.Out, format, args...) }
