package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"sluice/vendor-config/schema"
)

// ErrNoFile and ErrTooLarge are why a file is not read, beside fs.ErrNotExist.
var (
	ErrNoFile   = errors.New("it is no file")
	ErrTooLarge = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
)

// below is a file's name without the folder that operators put before it: the store's directory, or what stands for it whatever
// it is called.
func (s *Store) below(name string) string {
	for _, p := range []string{path.Clean(s.dir) + "/", "/config/", "/nsconfig/"} {
		if rest, ok := strings.CutPrefix(name, p); ok {
			return rest
		}
	}
	return name
}

// Read reads a file that an operator names, of at most 64 MiB. A name or a link that leads out of the store's directory is an error.
func (s *Store) Read(name string) ([]byte, error) { return s.readBelow(s.below(name)) }

func (s *Store) readBelow(name string) ([]byte, error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if s.hidden(root, name) {
		return nil, fs.ErrNotExist
	}
	return ReadPlain(root, name, maxFile)
}

// Hide keeps files of the directory from being read as configurations, by whatever name: even what a reader says about a line that
// it does not understand may tell too much of a key.
func (s *Store) Hide(names ...string) { s.secret = append(s.secret, names...) }

func (s *Store) hidden(root *os.Root, name string) bool {
	switch top, _, _ := strings.Cut(path.Clean(name), "/"); top {
	case RestoreDir, restoreMade, SlotsDir, "ssl":
		return true
	}
	info, err := root.Stat(name)
	return err == nil && slices.ContainsFunc(s.secret, func(other string) bool {
		there, err := root.Stat(other)
		return err == nil && os.SameFile(there, info)
	})
}

// ReadFile is Read of a command's argument fileName, which refuses in its terms.
func (s *Store) ReadFile(name string) ([]byte, error) {
	rel := path.Clean(s.below(name))
	if !fs.ValidPath(rel) || rel == "." {
		return nil, schema.Refuse(schema.BadValue, "fileName", name).Because("files of configurations lie below /config")
	}
	data, err := s.readBelow(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, schema.Refuse(schema.NoSuchRow, "fileName", name).Because("there is no such file below /config")
	case err != nil:
		return nil, schema.Refuse(schema.NotPermitted, name).Because(plainCause(err))
	}
	return data, nil
}

// ReadPlain reads a file below root that is one: neither a folder nor a pipe (ErrNoFile), nor longer than most bytes (ErrTooLarge).
func ReadPlain(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not keep us waiting
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, ErrNoFile
	}
	return readBounded(f, most)
}

// readLimited is ReadPlain for files of the store's own with a configuration.
func readLimited(name string) ([]byte, error) { return readOwn(name, maxFile) }

func readOwn(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, most)
}

func readBounded(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = ErrTooLarge
	}
	return data, err
}

// plainCause is an error without the names of functions and folders.
func plainCause(err error) string { return plain(err).Error() }

func plain(err error) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return p.Err
	case errors.As(err, &l):
		return l.Err
	}
	return err
}
