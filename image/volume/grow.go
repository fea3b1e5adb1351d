package volume

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// room is how much of a disk must be free behind a partition for it to be grown, in sectors of 512 bytes: less is what tables need.
const room = 16 << 11 // 16 MiB

// Grow makes a partition reach the end of its disk, if it is the last one there. The disk may be in use.
func Grow(sys, device string) error {
	name := filepath.Base(device)
	dir, err := filepath.EvalSymlinks(filepath.Join(sys, "class/block", name))
	if err != nil {
		return nil // no disk of the kernel's
	}
	number, err := sectors(dir, "partition")
	if err != nil {
		return nil // a whole disk
	}
	start, err1 := sectors(dir, "start")
	size, err2 := sectors(dir, "size")
	whole, err3 := sectors(filepath.Dir(dir), "size")
	if err1 != nil || err2 != nil || err3 != nil {
		return fmt.Errorf("the size of %s is not known", device)
	}
	if whole-start-size < room || !last(filepath.Dir(dir), start) {
		return nil
	}
	disk := filepath.Join(filepath.Dir(device), filepath.Base(filepath.Dir(dir)))
	if err := GrowTable(disk, int(number)); err != nil {
		return err
	}
	return must("", "partx", "--update", "--nr", strconv.FormatInt(number, 10), disk)
}

// last tells whether no partition of a disk begins behind start.
func last(disk string, start int64) bool {
	others, _ := filepath.Glob(filepath.Join(disk, "*", "start"))
	for _, o := range others {
		if s, err := sectors(filepath.Dir(o), "start"); err == nil && s > start {
			return false
		}
	}
	return true
}

// GrowTable has a disk's table, and the copy of it at the disk's end, say that the partition reaches that end. The kernel is not told.
func GrowTable(disk string, number int) error {
	return must(", +\n", "sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", "-N", strconv.Itoa(number), disk)
}

func sectors(dir, file string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
