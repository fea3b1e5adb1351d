package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"golang.org/x/sys/unix"

	"sluice/vendor-config/schema"
)

// A restore first lays all files into a folder of its own. When that folder gets its name the restore is decided: who is killed
// from then on finishes it at the next start. Renames alone are left then, for which a full disk has room.
const (
	RestoreDir  = ".restore"     // files that are to be put in their places
	restoreMade = ".restore.tmp" // files that are being laid there, or of a restore that is over
)

// Stage lays the files of a backup ready. Nothing has changed if it fails.
func (s *Store) Stage(a *Archive) error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return notRestored(err)
	}
	defer root.Close()
	if err := s.disk.clear(root, restoreMade); err != nil {
		return notRestored(err)
	}
	err = s.stage(root, a)
	if err == nil {
		err = s.disk.move(root, restoreMade, RestoreDir)
	}
	if err == nil {
		err = s.disk.syncDir(s.dir)
	}
	if err != nil {
		return notRestored(errors.Join(err, s.unstage(root)))
	}
	return nil
}

func notRestored(err error) error {
	return fmt.Errorf("The backup is not restored, nothing has changed: %w", plain(err))
}

func (s *Store) stage(root *os.Root, a *Archive) error {
	folders := map[string]bool{restoreMade: true}
	for _, e := range a.Files {
		if e.Name != File {
			if err := s.takes(root, e.Name); err != nil {
				return err
			}
		}
		to := path.Join(restoreMade, e.Name)
		if err := s.disk.folder(root, path.Dir(to), 0o700); err != nil {
			return err
		}
		for d := path.Dir(to); d != "."; d = path.Dir(d) {
			folders[d] = true
		}
		if err := s.lay(root, to, e); err != nil {
			return err
		}
	}
	for d := range folders {
		if err := s.disk.syncDir(filepath.Join(s.dir, d)); err != nil {
			return err
		}
	}
	return nil
}

// takes makes the folder of a file and tells why the file could not be put there.
func (s *Store) takes(root *os.Root, name string) error {
	if err := s.disk.folder(root, path.Dir(name), 0o755); err != nil { // nobody runs the scripts in one of them
		return err
	}
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return schema.Refuse(schema.NotPermitted, name).Because("what is there is no plain file")
	}
	return nil
}

// lay writes a new file onto the disk. Scripts alone may be read by others, and nobody but the owner writes.
func (s *Store) lay(root *os.Root, name string, e Entry) error {
	mode := fs.FileMode(0o600)
	if path.Dir(e.Name) != "." && e.Name[:len("ssl/")] != "ssl/" {
		mode = e.Mode & 0o755
	}
	f, err := s.disk.lay(root, name)
	if err != nil {
		return err
	}
	if _, err = f.Write(e.Data); err == nil {
		err = f.Chmod(mode | 0o600)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Place puts the files that are laid ready in their places. The configuration stays behind.
func (s *Store) Place() error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return s.place(root)
}

func (s *Store) place(root *os.Root) error {
	folders := map[string]bool{}
	err := fs.WalkDir(root.FS(), RestoreDir, func(from string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to := from[len(RestoreDir)+1:]
		if to == File {
			return nil
		}
		if err := s.disk.folder(root, path.Dir(to), 0o755); err != nil {
			return err
		}
		folders[path.Dir(to)] = true
		return s.disk.move(root, from, to)
	})
	for d := range folders {
		err = errors.Join(err, s.disk.syncDir(filepath.Join(s.dir, d)))
	}
	return err
}

// Unstage drops what is laid ready: the restore is over, or is given up.
func (s *Store) Unstage() error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return s.unstage(root)
}

func (s *Store) unstage(root *os.Root) error {
	err := s.disk.move(root, RestoreDir, restoreMade) // so that half of it is never finished
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = s.disk.syncDir(s.dir)
	}
	return errors.Join(err, s.disk.clear(root, restoreMade))
}

// FinishRestore finishes a restore in which management was killed, before Load: its configuration is the startup configuration
// then. done tells whether there was one. One that cannot be finished is given up.
func (s *Store) FinishRestore() (done bool, err error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	if _, err := root.Lstat(RestoreDir); err != nil {
		return false, s.disk.clear(root, restoreMade)
	}
	s.saving.Lock()
	defer s.saving.Unlock()
	err = s.place(root)
	if err == nil {
		err = s.begin(root)
	}
	err = errors.Join(err, s.unstage(root))
	if err != nil {
		return false, fmt.Errorf("a restore of a backup was cut off and cannot be finished, restore it again: %w", err)
	}
	return true, nil
}

// begin makes the configuration that is laid ready the startup configuration.
func (s *Store) begin(root *os.Root) error {
	from := path.Join(RestoreDir, File)
	data, err := ReadPlain(root, from, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it has its name already
		return nil
	case err != nil:
		return err
	}
	if err := s.keepEarlier(data); err != nil && !errors.Is(err, unix.ENOSPC) {
		return err
	}
	if err := s.disk.rename(filepath.Join(s.dir, from), s.Path()); err != nil {
		return err
	}
	return s.disk.syncDir(s.dir)
}
