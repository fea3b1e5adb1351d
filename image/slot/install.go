package slot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"sluice/image/bundle"
)

const (
	chunk     = 256 << 10 // bytes that are read and written at once
	syncEvery = 32 << 20  // bytes after which they must be on the disk: memory is not to fill up with them
	spare     = 4 << 20   // bytes of the ESP that stay free
)

// newEnd is behind the name of a manifest that is being written.
const newEnd = ".new"

// Install writes the image of a bundle to the slot that does not run, and reads it back. What is wrong with the bundle's manifest, or
// does not fit, is told before a byte is written. The slot counts as empty from the first byte on until the last one is found right on the
// disk; what is started stays what it was.
func (d *Disk) Install(b *bundle.Bundle) (to Slot, err error) {
	running, err := d.Running()
	if err != nil {
		return "", err
	}
	unlock, err := d.lock("slot.lock", unix.LOCK_NB)
	if err != nil {
		return "", err
	}
	defer unlock()
	to = running.Other()
	if err := d.Fits(b); err != nil {
		return "", err
	}
	if err := d.empty(running, to); err != nil {
		return "", fmt.Errorf("The image is not installed, slot %s is as it was: %w", to, plain(err))
	}
	if err := d.write(b, to); err != nil {
		return "", fmt.Errorf("The image is not installed, slot %s is empty and slot %s stays what is started: %w", to, running, plain(err))
	}
	return to, nil
}

// untried refuses to touch the other slot as long as the running one may have to go back to it.
func (d *Disk) untried(running Slot) error {
	t, err := d.Trial()
	if err == nil && t != nil && t.Outcome == Trying && t.Slot == running {
		return fmt.Errorf("Slot %s is being tried, and slot %s is what it returns to: wait until show image says that it is kept", running, running.Other())
	}
	return err
}

// Fits tells why an image cannot be installed.
func (d *Disk) Fits(b *bundle.Bundle) error {
	running, err := d.Running()
	if err != nil {
		return err
	}
	if err := d.untried(running); err != nil {
		return err
	}
	return d.fits(b, running.Other())
}

// fits tells why an image has no place in a slot.
func (d *Disk) fits(b *bundle.Bundle, to Slot) error {
	r, err := d.Release()
	if err != nil {
		return err
	}
	if r.Flavour != b.Flavour {
		return fmt.Errorf("The image is of flavour %s and this appliance of %s: take the bundle of that one", b.Flavour, r.Flavour)
	}
	_, size, err := d.partition(to.partition())
	if err != nil {
		return err
	}
	if p := b.Part(bundle.Root); p.Size > size {
		return fmt.Errorf("The image is too large: %s has %d MiB, and slot %s has room for %d MiB", p.Name, mib(p.Size), to, size>>20)
	}
	return d.withESP(func(esp string) error {
		free, err := d.ops.room(esp)
		if err != nil {
			return err
		}
		var need int64
		for _, name := range []string{bundle.Kernel, bundle.Initrd} {
			need += b.Part(name).Size
			if info, err := os.Stat(filepath.Join(esp, string(to), name)); err == nil {
				free += info.Size() // it is written over
			}
		}
		if need+spare > free {
			return fmt.Errorf("The image is too large: kernel and initial RAM disk have %d MiB, and %s has room for %d MiB", mib(need), espPartition, max(0, free-spare)>>20)
		}
		return nil
	})
}

// mib is a size in MiB, rounded up.
func mib(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// empty makes a slot one that nobody starts: first for the boot loader, then for ourselves.
func (d *Disk) empty(running, to Slot) error {
	if err := d.Change(func(e *Env) error { e.boot(running); return nil }); err != nil {
		return err
	}
	return d.withESP(func(esp string) error {
		dir := filepath.Join(esp, string(to))
		if err := d.ops.mkdir(dir); err != nil {
			return err
		}
		for _, name := range []string{bundle.ManifestName, bundle.ManifestName + newEnd} {
			if err := d.ops.remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// write writes the parts, reads them back from the disk, and gives the slot its manifest last.
func (d *Disk) write(b *bundle.Bundle, to Slot) error {
	return d.withESP(func(esp string) error {
		err := b.Unpack(func(p bundle.Part, r io.Reader) error {
			name, err := d.place(esp, to, p.Name)
			if err == nil {
				err = d.writePart(name, p, r)
			}
			if err == nil {
				err = d.same(name, p)
			}
			return err
		})
		if err != nil {
			return err
		}
		name := filepath.Join(esp, string(to), bundle.ManifestName)
		if err := d.writeFile(name+newEnd, b.Text); err != nil {
			return err
		}
		return d.ops.rename(name+newEnd, name)
	})
}

// writePart streams a part to its place. A partition keeps its length, a file gets that of the part.
func (d *Disk) writePart(name string, p bundle.Part, r io.Reader) (err error) {
	flag := os.O_RDWR
	if p.Name != bundle.Root {
		flag |= os.O_CREATE
	}
	f, err := d.ops.open(name, flag)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	buf, at, synced := make([]byte, chunk), int64(0), int64(0)
	for {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if _, err := f.WriteAt(buf[:n], at); err != nil {
				return err
			}
			if at += int64(n); at-synced >= syncEvery {
				if err := f.Sync(); err != nil {
					return err
				}
				synced = at
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if p.Name != bundle.Root {
		if err := f.Truncate(at); err != nil {
			return err
		}
	}
	return f.Sync()
}

func (d *Disk) writeFile(name string, text []byte) error {
	f, err := d.ops.open(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(text, 0)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
