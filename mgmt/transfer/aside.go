package transfer

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// asidePrefix begins the names of files that are being written. No client sees them, and who watches a folder leaves names with
// a dot alone.
const asidePrefix = ".put-"

var errCutOff = errors.New("the file did not come whole, and is as it was")

// aside is where a file is written that takes its name only when it is whole: a connection that breaks or a disk that fills
// leaves the one of that name as it was.
type aside struct {
	root *os.Root
	tmp  string // in root
	name string // that it is to have
}

// openAside opens one for a file that is written anew; nil where what is there is no file, so that the usual way judges it.
func (h *handler) openAside(root *os.Root, p place) (*file, error) {
	mode := fs.FileMode(0o600)
	info, err := root.Lstat(p.name)
	switch {
	case err == nil && (!info.Mode().IsRegular() || p.hidden(root, info)):
		return nil, nil
	case err == nil:
		mode = info.Mode().Perm() // such as of a monitor's script
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	a := &aside{tmp: path.Join(path.Dir(p.name), asidePrefix+rand.Text()), name: p.name}
	if a.root, err = p.root(); err != nil {
		return nil, err
	}
	q := p
	q.name = a.tmp
	f, err := h.openFile(a.root, q, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		_ = a.root.Remove(a.tmp)
		a.root.Close()
		return nil, err
	}
	f.aside = a
	if err := f.Chmod(mode); err != nil {
		f.failed.Store(true)
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// settle gives the file its name, or takes it away.
func (a *aside) settle(whole bool) error {
	defer a.root.Close()
	if !whole {
		return errors.Join(errCutOff, a.root.Remove(a.tmp))
	}
	if err := a.root.Rename(a.tmp, a.name); err != nil {
		return errors.Join(err, a.root.Remove(a.tmp))
	}
	d, err := a.root.Open(path.Dir(a.name))
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// where is the name under which a file is found while this session writes it.
func (h *handler) where(p place) place {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.open {
		if f.aside != nil && f.folder == p.folder && f.aside.name == p.name {
			p.name = f.aside.tmp
			break
		}
	}
	return p
}

// sweep removes what uploads left in a folder when management was killed.
func sweep(f Folder) {
	_ = filepath.WalkDir(f.Path, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasPrefix(d.Name(), asidePrefix) {
			return os.Remove(p)
		}
		return nil // what cannot be read is not there for clients either
	})
}
