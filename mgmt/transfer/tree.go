package transfer

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pkg/sftp"
)

// Filecmd changes the tree. Links are never made, and of attributes only size and times are taken: what is left is for the
// appliance alone, whatever the client's file was.
func (h *handler) Filecmd(r *sftp.Request) error {
	p, err := h.find(r.Filepath)
	if err != nil {
		return os.ErrNotExist
	}
	if p.name == "." && r.Method != "Setstat" {
		return errDenied // the folders stay
	}
	switch r.Method {
	case "Setstat":
		return h.setstat(p, r)
	case "Remove":
		return h.do("rm", "", p, func(root *os.Root) error { return remove(root, p, false) })
	case "Rmdir":
		return h.do("rm", "", p, func(root *os.Root) error { return remove(root, p, true) })
	case "Mkdir":
		return h.do("put", "", p, func(root *os.Root) error {
			if err := roomIn(root); err != nil {
				return err
			}
			return root.Mkdir(p.name, 0o700)
		})
	case "Rename":
		return h.rename(p, r.Target, false)
	}
	return sftp.ErrSSHFxOpUnsupported
}

// PosixRename takes the place of a file that is there, which Rename does not.
func (h *handler) PosixRename(r *sftp.Request) error {
	p, err := h.find(r.Filepath)
	if err != nil || p.folder == nil || p.name == "." {
		return errDenied
	}
	return h.rename(p, r.Target, true)
}

func (h *handler) rename(p place, target string, over bool) error {
	to, err := h.find(target)
	if err != nil || to.folder != p.folder || to.name == "." {
		return errDenied
	}
	if err := h.o.May(h.login, "scp put "+to.shown); err != nil {
		h.write("scp put "+to.shown, err)
		return errDenied
	}
	return h.do("rm", " "+to.shown, p, func(root *os.Root) error {
		if _, err := root.Lstat(to.name); err == nil && !over {
			return fs.ErrExist
		}
		return root.Rename(p.name, to.name)
	})
}

func remove(root *os.Root, p place, folder bool) error {
	info, err := root.Lstat(p.name)
	if err == nil && info.IsDir() != folder {
		err = errDenied
	}
	if err != nil {
		return err
	}
	return root.Remove(p.name)
}

// setstat takes the size and the times. Without either it does nothing, so that `scp -p` and `put` of OpenSSH go on.
func (h *handler) setstat(p place, r *sftp.Request) error {
	flags, attr := r.AttrFlags(), r.Attributes()
	if p.name == "." || !flags.Size && !flags.Acmodtime {
		return nil
	}
	p = h.where(p)
	return h.do("put", "", p, func(root *os.Root) error {
		f, err := h.openFile(root, p, os.O_WRONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		if flags.Size {
			if attr.Size > maxFile {
				return errDenied
			}
			if err := f.Truncate(int64(attr.Size)); err != nil {
				return err
			}
		}
		if flags.Acmodtime {
			return root.Chtimes(p.name, time.Unix(int64(attr.Atime), 0), time.Unix(int64(attr.Mtime), 0))
		}
		return nil
	})
}

// Filelist lists a folder or tells of one file.
func (h *handler) Filelist(r *sftp.Request) (sftp.ListerAt, error) {
	p, err := h.find(r.Filepath)
	if err != nil {
		return nil, os.ErrNotExist
	}
	switch r.Method {
	case "List":
		return h.list(p)
	case "Stat":
		return h.stat(p, (*os.Root).Stat)
	}
	return nil, sftp.ErrSSHFxOpUnsupported // links are not told about
}

// Lstat tells of a link itself.
func (h *handler) Lstat(r *sftp.Request) (sftp.ListerAt, error) {
	p, err := h.find(r.Filepath)
	if err != nil {
		return nil, os.ErrNotExist
	}
	return h.stat(p, (*os.Root).Lstat)
}

// RealPath resolves nothing but dots: paths are of the tree that clients see.
func (h *handler) RealPath(p string) (string, error) { return path.Clean("/" + p), nil }

func (h *handler) stat(p place, stat func(*os.Root, string) (fs.FileInfo, error)) (sftp.ListerAt, error) {
	if p.folder == nil {
		return listing{folder("/")}, nil
	}
	var out listing
	p = h.where(p)
	err := h.look(p, func(root *os.Root) error {
		info, err := stat(root, p.name)
		if err == nil && p.hidden(root, info) {
			err = fs.ErrNotExist
		}
		if p.name == "." {
			out = listing{folder(p.folder.Name)}
		} else {
			out = listing{info}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Bounds of what is listed: of a folder, and of all that a session has open at once.
const (
	maxListed = 10_000
	maxNames  = 2 * maxListed
)

func (h *handler) list(p place) (sftp.ListerAt, error) {
	var out listing
	if p.folder == nil {
		for _, f := range h.o.Folders {
			out = append(out, folder(f.Name))
		}
		return h.keep(out)
	}
	if h.full() {
		return nil, errFolders
	}
	err := h.look(p, func(root *os.Root) error {
		d, err := root.Open(p.name)
		if err != nil {
			return err
		}
		defer d.Close()
		all, err := d.Readdir(maxListed)
		if err != nil && err != io.EOF {
			return err
		}
		secrets := p.secrets(root)
		for _, info := range all {
			if !among(secrets, info) && !strings.HasPrefix(info.Name(), asidePrefix) {
				out = append(out, info)
			}
		}
		slices.SortFunc(out, func(a, b fs.FileInfo) int {
			if a.Name() < b.Name() {
				return -1
			}
			return 1
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return h.keep(out)
}

// keep counts a folder that is being listed, until the client closes it.
func (h *handler) keep(l listing) (sftp.ListerAt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.folders >= maxOpen || h.names+len(l) > maxNames {
		return nil, errFolders
	}
	h.folders++
	h.names += len(l)
	return &openFolder{listing: l, h: h}, nil
}

var errFolders = errors.New("too many folders are open in this session")

// full tells, before a folder is read, that there is no place for it.
func (h *handler) full() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.folders >= maxOpen || h.names >= maxNames
}

// openFolder is a listing that counts until it is closed.
type openFolder struct {
	listing
	h    *handler
	once sync.Once
}

// Close ends the listing.
func (o *openFolder) Close() error {
	o.once.Do(func() {
		o.h.mu.Lock()
		defer o.h.mu.Unlock()
		o.h.folders--
		o.h.names -= len(o.listing)
	})
	return nil
}

// look is do for what only reads names: it is not written down, or each scp would be ten lines.
func (h *handler) look(p place, f func(*os.Root) error) error {
	if err := h.ctx.Err(); err != nil {
		return err
	}
	if err := h.o.May(h.login, "scp get "+p.shown); err != nil {
		h.write("scp get "+p.shown, err)
		return errDenied
	}
	root, err := p.root()
	if err != nil {
		return plain(err)
	}
	defer root.Close()
	return plain(f(root))
}

// listing are files to be told.
type listing []fs.FileInfo

// ListAt hands out those from at on.
func (l listing) ListAt(to []os.FileInfo, at int64) (int, error) {
	if at >= int64(len(l)) {
		return 0, io.EOF
	}
	n := copy(to, l[at:])
	if n < len(to) {
		return n, io.EOF
	}
	return n, nil
}

// folder is one of the tree that clients see.
type folder string

func (f folder) Name() string     { return string(f) }
func (folder) Size() int64        { return 0 }
func (folder) Mode() fs.FileMode  { return fs.ModeDir | 0o700 }
func (folder) ModTime() time.Time { return time.Unix(0, 0) }
func (folder) IsDir() bool        { return true }
func (folder) Sys() any           { return nil }
