package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"sluice/vendor-config/schema"
)

// Where operators say that their files are: both stand for the store's directory, whatever it is called.
var filePrefixes = []string{"/config/", "/nsconfig/"}

// within is a file's name below the store's directory.
func (s *Store) within(name string) (string, error) {
	for _, p := range append(filePrefixes, s.dir+"/") {
		if rest, ok := strings.CutPrefix(name, p); ok {
			name = rest
			break
		}
	}
	name = path.Clean(name)
	if !fs.ValidPath(name) || name == "." {
		return "", schema.Refuse(schema.BadValue, "fileName", name).Because("files of configurations lie below /config")
	}
	return name, nil
}

// ReadFile reads a file that an operator names, of at most 64 MiB. No name and no link leads out of the store's directory.
func (s *Store) ReadFile(name string) ([]byte, error) {
	rel, err := s.within(name)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe must not keep us waiting
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, schema.Refuse(schema.NoSuchRow, "fileName", name).Because("there is no such file below /config")
	case err != nil:
		return nil, schema.Refuse(schema.NotPermitted, name).Because(plainCause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, schema.Refuse(schema.NotPermitted, name).Because("it is no file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	if err != nil {
		return nil, schema.Refuse(schema.NotPermitted, name).Because(err.Error())
	}
	return data, nil
}

// plainCause is an error without the names of functions and folders.
func plainCause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
