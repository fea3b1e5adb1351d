package slot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// envFile is GRUB's environment block on the ESP.
const envFile = "grubenv"

// ops are the steps on the disk, so that a test can cut the power at each of them.
type ops struct {
	mount   func(device, dir string) (unmount func() error, err error)
	open    func(name string, flag int) (file, error)
	remove  func(name string) error
	rename  func(from, to string) error
	mkdir   func(name string) error // that may be there already
	room    func(dir string) (free int64, err error)
	replace func(name string, text []byte) error // at once and durably
}

// file is what is needed of an *os.File.
type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
	Forget() error // what the kernel remembers of it, so that the next read asks the disk
}

type realFile struct{ *os.File }

func (f realFile) Forget() error { return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

func real() ops {
	return ops{
		mount: mount,
		open: func(name string, flag int) (file, error) {
			f, err := os.OpenFile(name, flag, 0o644)
			if err != nil {
				return nil, err
			}
			return realFile{f}, nil
		},
		remove: os.Remove,
		rename: os.Rename,
		mkdir:  func(name string) error { return os.MkdirAll(name, 0o755) },
		room: func(dir string) (int64, error) {
			var s unix.Statfs_t
			err := unix.Statfs(dir, &s)
			return int64(s.Bavail) * s.Bsize, err
		},
		replace: replace,
	}
}

// mount mounts the ESP. Changes of its directories are on the disk when they return: a FAT has no journal that would keep their order.
// It is mounted while it is needed only, so that a power cut seldom meets it.
func mount(device, dir string) (func() error, error) {
	const flags = unix.MS_DIRSYNC | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME
	if err := unix.Mount(device, dir, "vfat", flags, "umask=0077"); err != nil {
		return nil, err
	}
	return func() error { return unix.Unmount(dir, 0) }, nil
}

// withESP mounts the ESP for as long as do takes.
func (d *Disk) withESP(do func(esp string) error) (err error) {
	if d.esp != "" {
		return do(d.esp)
	}
	device, _, err := d.partition(espPartition)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.path(runDir), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(d.path(runDir), "esp-") // one's own: several programs may look at once
	if err != nil {
		return err
	}
	defer os.Remove(dir)
	unmount, err := d.ops.mount(device, dir)
	if err != nil {
		return fmt.Errorf("the partition %s cannot be mounted: %w", espPartition, err)
	}
	defer func() { err = errors.Join(err, unmount()) }()
	return do(dir)
}

// readEnv reads the block; one that is damaged is an error and one of the defaults, with which the box goes on: it starts what runs.
func (d *Disk) readEnv(esp string) (*Env, []byte, error) {
	f, err := d.ops.open(filepath.Join(esp, envFile), os.O_RDONLY)
	var e *Env
	block := make([]byte, blockSize+1) // one more shows that it is too long
	if err == nil {
		var n int
		if n, err = f.ReadAt(block, 0); err == io.EOF || err == nil {
			block = block[:n]
			e, err = ParseEnv(block)
		}
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		e = &Env{}
		at, running := d.Running()
		if running != nil {
			at = A // as the boot loader itself takes it
		}
		e.boot(at)
		return e, nil, err
	}
	return e, block, nil
}

// Change changes GRUB's environment block, in place and onto the disk. Nothing is written if nothing changes. One that is damaged is
// made anew.
func (d *Disk) Change(change func(*Env) error) error {
	unlock, err := d.lock("grubenv.lock", 0)
	if err != nil {
		return err
	}
	defer unlock()
	return d.withESP(func(esp string) error {
		e, before, _ := d.readEnv(esp)
		if err := change(e); err != nil {
			return err
		}
		after, err := e.Block()
		if err != nil || bytes.Equal(before, after) {
			return err
		}
		return d.writeBlock(filepath.Join(esp, envFile), after)
	})
}

// writeBlock writes where the block lies, for GRUB knows it by its place on the disk.
func (d *Disk) writeBlock(name string, block []byte) error {
	f, err := d.ops.open(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("the boot loader's environment block cannot be written: %w", plain(err))
	}
	_, err = f.WriteAt(block, 0)
	if err == nil {
		err = f.Truncate(blockSize)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("the boot loader's environment block cannot be written: %w", plain(err))
	}
	return nil
}
