package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"sluice/mgmt/render"
)

// maxFile is the greatest startup file that is read, in bytes.
const maxFile = render.MaxText

// disk are the steps of a save, so that a test can make each of them fail.
type disk struct {
	create  func(dir string) (file, error)
	link    func(from, to string) error
	rename  func(from, to string) error
	syncDir func(dir string) error
	mkdir   func(dir string) error // that may be there already
	remove  func(name string) error

	// Of a restore, whose files have names that came from elsewhere: nothing leads out of root.
	lay    func(root *os.Root, name string) (file, error) // that must not be there yet
	move   func(root *os.Root, from, to string) error
	folder func(root *os.Root, name string, mode fs.FileMode) error // that may be there already
	clear  func(root *os.Root, name string) error                   // with all that is in it
}

// file is what is needed of an *os.File.
type file interface {
	io.WriteCloser
	Sync() error
	Chmod(fs.FileMode) error
	Name() string
}

var realDisk = disk{
	// os.CreateTemp gives mode 0600: a configuration may hold secrets.
	create:  func(dir string) (file, error) { return os.CreateTemp(dir, File+".tmp-*") },
	link:    os.Link,
	rename:  os.Rename,
	syncDir: syncDir,
	mkdir:   func(dir string) error { return os.MkdirAll(dir, 0o750) },
	remove:  os.Remove,
	lay: func(root *os.Root, name string) (file, error) {
		return root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	},
	move:   (*os.Root).Rename,
	folder: (*os.Root).MkdirAll,
	clear:  (*os.Root).RemoveAll,
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// lockDir keeps other programs from saving into dir at the same time; the kernel frees the lock when its holder dies.
func lockDir(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		d.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrBusy
		}
		return nil, fmt.Errorf("%s cannot be locked: %w", dir, err)
	}
	return func() { d.Close() }, nil
}

// lockFile is locked by the management that works on the directory, as long as it runs.
const lockFile = ".lock"

// Own makes this program the only one that works on the directory until it ends; the kernel then frees the lock,
// however it ends. ErrOwned says that another program has it. Without room for the lock's file there is no lock and no
// error: the appliance must start on a full disk.
func (s *Store) Own() error {
	f, err := os.OpenFile(filepath.Join(s.dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		f.Close()
		return fmt.Errorf("%w %s: stop it first, or give this one a config-dir of its own", ErrOwned, s.dir)
	}
	s.owned = f // not closed, which would free the lock
	return nil
}

// replace makes data the startup file. The new text is on the disk before it gets the name, the earlier file keeps the
// name until the very rename, and the directory is synced last: a crash at any moment leaves one of the two, whole.
func (s *Store) replace(data []byte) error {
	tmp, err := s.write(render.Text{data})
	if err != nil {
		return err
	}
	if err := s.keepEarlier(data); err != nil {
		os.Remove(tmp)
		return fmt.Errorf("the earlier versions cannot be moved on: %w", err)
	}
	if err := s.disk.rename(tmp, s.Path()); err != nil {
		os.Remove(tmp)
		return err
	}
	if err := s.disk.syncDir(s.dir); err != nil {
		return fmt.Errorf("the new file may not survive a power cut: %w", err)
	}
	return nil
}

// writeBuffer is how many bytes are written at once: of ten thousand vservers two hundred times, of a small file once.
const writeBuffer = 64 << 10

// write puts a text into a temporary file beside the startup file and onto the disk.
func (s *Store) write(text render.Text) (name string, err error) {
	f, err := s.disk.create(s.dir)
	if err != nil {
		return "", err
	}
	b := bufio.NewWriterSize(f, writeBuffer)
	if _, err = text.WriteTo(b); err == nil {
		err = b.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// Put makes data the file of that name in the directory, at once and for the owner alone. The directory is not synced: a power cut
// may bring back the earlier one.
func (s *Store) Put(name string, data []byte) error { return s.put(name, render.Text{data}) }

func (s *Store) put(name string, text render.Text) error {
	tmp, err := s.write(text)
	if err != nil {
		return err
	}
	if err := s.disk.rename(tmp, filepath.Join(s.dir, name)); err != nil {
		os.Remove(tmp)
		return err
	}
	return nil
}

// drop removes a file of the directory that need not be there; was tells whether it was.
func (s *Store) drop(name string) (was bool, err error) {
	err = s.disk.remove(filepath.Join(s.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// putAside gives a file that cannot be used another name, so that who wants to can look at it. The error is why it cannot be used,
// and what went wrong with that.
func (s *Store) putAside(name, as string, why error) error {
	if err := os.Rename(filepath.Join(s.dir, name), filepath.Join(s.dir, as)); err != nil {
		return fmt.Errorf("%w; that fails: %w", why, err)
	}
	return why
}

// keepEarlier gives the present file the name startup.xml.0 as well and moves the earlier ones on, up to the first gap
// in the numbers. A save that changes nothing but who saved and when pushes nothing out, nor does one that follows a
// save that was cut off after this step.
func (s *Store) keepEarlier(data []byte) error {
	now, err := os.Stat(s.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	name := func(n int) string { return s.Path() + "." + strconv.Itoa(n) }
	if zero, err := os.Stat(name(0)); err == nil && os.SameFile(now, zero) {
		return nil
	}
	if old, err := readLimited(s.Path()); err == nil && bytes.Equal(render.WithoutMeta(old), render.WithoutMeta(data)) {
		return nil
	}
	last := 0
	for last < Versions-1 {
		if _, err := os.Lstat(name(last)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		last++
	}
	for n := last; n > 0; n-- {
		if err := s.disk.rename(name(n-1), name(n)); err != nil {
			return err
		}
	}
	return s.alias(s.Path(), name(0))
}

// preserve puts the startup file aside under the next free name startup.xml.broken-<n>. One that is aside already, byte
// for byte, is not put aside again.
func (s *Store) preserve() error {
	data, err := os.ReadFile(s.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for n := 1; ; n++ {
		name := s.Path() + ".broken-" + strconv.Itoa(n)
		there, e := os.ReadFile(name)
		if errors.Is(e, fs.ErrNotExist) {
			return s.alias(s.Path(), name)
		}
		if e == nil && err == nil && bytes.Equal(there, data) {
			return nil
		}
	}
}

// alias gives the file a second name, or copies it where the file system knows no second names.
func (s *Store) alias(from, to string) error {
	err := s.disk.link(from, to)
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EMLINK) {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	tmp, err := s.write(render.Text{data})
	if err != nil {
		return err
	}
	return s.disk.rename(tmp, to)
}

// Earlier are the paths of the earlier versions that exist, the newest first.
func (s *Store) Earlier() []string {
	var out []string
	for n := range Versions {
		name := filepath.Join(s.dir, File+"."+strconv.Itoa(n))
		if _, err := os.Lstat(name); err == nil {
			out = append(out, name)
		}
	}
	return out
}
