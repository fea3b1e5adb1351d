package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sluice/vendor-config/schema"
)

// BackupDir is the folder of the store's directory with backups.
const BackupDir = "backup"

const (
	backupEnd  = ".tgz"
	backupMost = 50 // backups that are kept; the operator says which one goes
)

// Backup is a backup in the folder.
type Backup struct {
	Manifest
	Name  string
	Size  int64
	Fault string // why it cannot be restored, as far as its beginning tells
}

// backupFile is the name of a backup's file below the store's directory.
func backupFile(name string) string {
	return path.Join(BackupDir, strings.TrimSuffix(name, backupEnd)+backupEnd)
}

// Backup writes what `save ns config` would write now, with the files that belong to it, as a backup. Until it has returned
// there is no file of that name; one that is there stays. Rows that are kept though they are not in force are not in it.
func (s *Store) Backup(name string, c *schema.Config, m Manifest, extra []string) (skipped []string, err error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, notBackedUp(err)
	}
	defer root.Close()
	if err := s.room(root, name); err != nil {
		return nil, err
	}
	text, err := s.writer.XML(c, nil, Meta{By: m.By, At: m.At})
	if err != nil {
		return nil, notBackedUp(err)
	}
	a := &Archive{m}
	a.Files = []Entry{{Name: File, Mode: 0o600, Data: text}}
	if m.Level != "full" {
		extra = nil
	}
	if skipped, err = a.gather(root, extra); err != nil {
		return nil, notBackedUp(err)
	}
	data, err := a.pack()
	if err != nil {
		return nil, notBackedUp(err)
	}
	if err := s.Put(backupFile(name), data); err != nil {
		return nil, notBackedUp(plain(err))
	}
	return skipped, errors.Join(s.disk.syncDir(filepath.Join(s.dir, BackupDir)), s.disk.syncDir(s.dir))
}

func notBackedUp(err error) error {
	return fmt.Errorf("The backup is not made, nothing has changed: %w", err)
}

// room makes sure that there may be another backup, of that name.
func (s *Store) room(root *os.Root, name string) error {
	if err := s.disk.mkdir(filepath.Join(s.dir, BackupDir)); err != nil {
		return notBackedUp(plain(err))
	}
	if _, err := root.Lstat(backupFile(name)); err == nil {
		return schema.Refuse(schema.RowExists, "fileName", name).Because("give another name, or rm system backup " + name)
	}
	if names, _ := s.backupNames(); len(names) >= backupMost {
		return schema.Refuse(schema.NotPermitted, "system backup").Because(fmt.Sprintf("there are %d, which is the most; fetch and rm some first", len(names)))
	}
	return nil
}

// gather takes the files of the folders and the extra ones. What is no plain file, or has a name that no backup takes, is told.
func (a *Archive) gather(root *os.Root, extra []string) (skipped []string, err error) {
	var total int64
	take := func(name string) error {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && (!info.Mode().IsRegular() || !fitting(name, extra)) {
			skipped = append(skipped, name)
			return nil
		}
		if err != nil {
			return err
		}
		if total += info.Size(); total > archiveBytes || len(a.Files) > archiveFiles {
			return fmt.Errorf("there are more than %d files or %d MiB in %s", archiveFiles, archiveBytes>>20, strings.Join(archiveFolders, " and "))
		}
		data, err := ReadPlain(root, name, maxFile)
		if err == nil && int64(len(data)) > info.Size() {
			err = fmt.Errorf("%s is growing", name)
		}
		a.Files = append(a.Files, Entry{Name: name, Mode: info.Mode().Perm() & 0o755, Data: data})
		return err
	}
	for _, folder := range archiveFolders {
		err := fs.WalkDir(root.FS(), folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir():
				return nil
			}
			return take(name)
		})
		if err != nil {
			return nil, err
		}
	}
	for _, name := range extra {
		if err := take(name); err != nil {
			return nil, err
		}
	}
	return skipped, nil
}

// openBackup opens the file of a backup.
func (s *Store) openBackup(name string) (*os.File, int64, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	info, err := root.Lstat(backupFile(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, schema.Refuse(schema.NoSuchRow, "fileName", name).Because("see show system backup")
	case err != nil:
		return nil, 0, unfit(name, errors.New(plainCause(err)))
	case !info.Mode().IsRegular():
		return nil, 0, unfit(name, errors.New("it is no plain file"))
	case info.Size() > archivePacked:
		return nil, 0, unfit(name, fmt.Errorf("it is larger than %d MiB", archivePacked>>20))
	}
	f, err := root.OpenFile(backupFile(name), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, unfit(name, errors.New(plainCause(err)))
	}
	return f, info.Size(), nil
}

func unfit(name string, err error) error {
	return schema.Refuse(schema.BadArgument, "fileName", name).Because(err.Error())
}

// ReadBackup reads a backup whole and checks all of it but whether its configuration fits.
func (s *Store) ReadBackup(name string, extra []string) (*Archive, error) {
	f, _, err := s.openBackup(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := unpack(io.LimitReader(f, archivePacked), extra)
	if err != nil {
		return nil, unfit(name, err)
	}
	return a, nil
}

// RemoveBackup removes a backup.
func (s *Store) RemoveBackup(name string) error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = root.Remove(backupFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return schema.Refuse(schema.NoSuchRow, "fileName", name).Because("see show system backup")
	}
	if err != nil {
		return schema.Refuse(schema.NotPermitted, name).Because(plainCause(err))
	}
	return s.disk.syncDir(filepath.Join(s.dir, BackupDir))
}

// backupNames are the names of the backups in the folder, sorted.
func (s *Store) backupNames() ([]string, error) {
	d, err := os.Open(filepath.Join(s.dir, BackupDir))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	all, err := d.Readdirnames(20 * backupMost) // files may have been left there
	if err != nil && err != io.EOF {
		return nil, err
	}
	var names []string
	for _, n := range all {
		if bare, ok := strings.CutSuffix(n, backupEnd); ok && bare != "" {
			names = append(names, bare)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Backups tells of the backups in the folder, or of the one that is named.
func (s *Store) Backups(name string) ([]Backup, error) {
	names, err := s.backupNames()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("backups cannot be listed: %s", plainCause(err))
	}
	if name != "" {
		name = strings.TrimSuffix(name, backupEnd)
		names = slices.DeleteFunc(names, func(n string) bool { return n != name })
		if len(names) == 0 {
			return nil, schema.Refuse(schema.NoSuchRow, "fileName", name)
		}
	}
	var out []Backup
	for _, n := range names {
		b := Backup{Name: n}
		f, size, err := s.openBackup(n)
		if err == nil {
			var a *Archive
			if a, _, _, err = openArchive(io.LimitReader(f, 2*manifestMost)); err == nil {
				b.Manifest = a.Manifest
			}
			f.Close()
		}
		b.Size = size
		var r *schema.Refusal
		switch {
		case errors.As(err, &r):
			b.Fault = r.Hint
		case err != nil:
			b.Fault = err.Error()
		}
		out = append(out, b)
	}
	return out, nil
}
