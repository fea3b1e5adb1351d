// Package transfer lets operators fetch and leave files by SFTP and by scp, which speaks SFTP too: configurations,
// certificates, traces. A client sees a root folder with those of the appliance in it and nothing else: the way to a file is
// held by os.Root, which neither dots nor links lead out of.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pkg/sftp"
	"golang.org/x/sys/unix"

	"sluice/mgmt/sshd"
)

// Folder is one that clients see.
type Folder struct {
	Name   string   // in the root, e.g. "config"
	Also   []string // other names that lead there, e.g. "nsconfig"; they are not listed
	Path   string   // on the machine; it is made when it is not there
	Hidden []string // names in it that no client sees nor writes, e.g. the host key
}

// Options are what transfers need.
type Options struct {
	Folders []Folder
	// May tells why the session's user may not do this, or nil. The command is "scp get PATH", "scp put PATH" or "scp rm PATH":
	// command policies are about it as about any other.
	May func(l sshd.Login, command string) error
	Log *slog.Logger
}

// Bounds.
const (
	maxFile  = 512 << 20 // bytes of one file
	leastRun = 64 << 20  // bytes of the disk that transfers leave free, so that the configuration can be saved
	leastNew = 1000      // files that transfers leave room for, where the disk has a bound for their number
	maxOpen  = 64        // files of a session at once, and folders
)

// Subsystem serves "sftp" at the SSH door.
func Subsystem(o Options) sshd.Subsystem {
	for _, f := range o.Folders {
		sweep(f)
	}
	return func(ctx context.Context, l sshd.Login, rw io.ReadWriter) int {
		h := &handler{o: o, login: l, ctx: ctx, log: o.Log.With("user", l.User, "source", l.Source, "session", l.ID)}
		s := sftp.NewRequestServer(channel{rw}, sftp.Handlers{FileGet: h, FilePut: h, FileCmd: h, FileList: h})
		stop := context.AfterFunc(ctx, func() { s.Close() })
		defer stop()
		defer h.closeAll()
		if err := s.Serve(); err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
			h.log.Warn("transfer", "error", err.Error())
			return 1
		}
		return 0
	}
}

// channel is a session's stream, which the door closes.
type channel struct{ io.ReadWriter }

func (channel) Close() error { return nil }

// handler answers the requests of one session.
type handler struct {
	o     Options
	login sshd.Login
	ctx   context.Context // of the session: what a client has asked for before it went is not done any more
	log   *slog.Logger

	mu      sync.Mutex
	open    map[*file]struct{}
	folders int // that are being listed
	names   int // in them
}

// place is where a path of the client leads.
type place struct {
	folder *Folder
	name   string // in the folder; "." is the folder itself
	shown  string // with the folder's own name, for the log and policies
}

var errDenied = sftp.ErrSSHFxPermissionDenied

// find finds the place of a path; a nil folder is the root. The library has made the path absolute and clean.
func (h *handler) find(p string) (place, error) {
	p = path.Clean("/" + p)
	first, rest, _ := strings.Cut(strings.TrimPrefix(p, "/"), "/")
	if first == "" {
		return place{shown: "/"}, nil
	}
	for i := range h.o.Folders {
		f := &h.o.Folders[i]
		if first != f.Name && !slices.Contains(f.Also, first) {
			continue
		}
		if rest == "" {
			rest = "."
		}
		if top, _, _ := strings.Cut(rest, "/"); slices.Contains(f.Hidden, top) || strings.HasPrefix(path.Base(rest), asidePrefix) {
			return place{}, fs.ErrNotExist
		}
		return place{f, rest, path.Join("/", f.Name, rest)}, nil
	}
	return place{}, fs.ErrNotExist
}

// root opens the folder of a place.
func (p place) root() (*os.Root, error) {
	if p.folder == nil {
		return nil, errDenied
	}
	if err := os.MkdirAll(p.folder.Path, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(p.folder.Path)
}

// hidden tells whether a file is one of the hidden by another name, such as a link to it.
func (p place) hidden(r *os.Root, info fs.FileInfo) bool { return among(p.secrets(r), info) }

// secrets are the hidden files that are there.
func (p place) secrets(r *os.Root) (all []fs.FileInfo) {
	for _, name := range p.folder.Hidden {
		if info, err := r.Lstat(name); err == nil {
			all = append(all, info)
		}
	}
	return all
}

func among(all []fs.FileInfo, info fs.FileInfo) bool {
	return slices.ContainsFunc(all, func(other fs.FileInfo) bool { return os.SameFile(other, info) })
}

// do asks whether the user may, does it, and writes down what came of it.
func (h *handler) do(verb, where string, p place, f func(r *os.Root) error) error {
	command := "scp " + verb + " " + p.shown
	if err := h.ctx.Err(); err != nil {
		return err
	}
	err := h.o.May(h.login, command)
	if err != nil {
		err = fmt.Errorf("%w: %w", errDenied, err)
	}
	if err == nil {
		var r *os.Root
		if r, err = p.root(); err == nil {
			err = f(r)
			r.Close()
		}
	}
	h.write(command+where, err)
	return plain(err)
}

func (h *handler) write(command string, err error) {
	if err != nil {
		h.log.Warn("command refused", "line", clip(command), "result", "ERROR: "+clip(err.Error()))
		return
	}
	h.log.Info("command", "line", clip(command), "result", "Done")
}

// plain is an error without paths of the machine.
func plain(err error) error {
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errDenied), errors.Is(err, fs.ErrPermission):
		return errDenied
	case errors.Is(err, fs.ErrNotExist):
		return os.ErrNotExist
	}
	return err
}

// clip bounds what a client can write into the log.
func clip(s string) string {
	const most = 500
	if len(s) > most {
		return s[:most] + "..."
	}
	return s
}

// Fileread opens a file for reading.
func (h *handler) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	p, err := h.find(r.Filepath)
	if err != nil {
		return nil, os.ErrNotExist
	}
	var out *file
	err = h.do("get", "", p, func(root *os.Root) (err error) {
		out, err = h.openFile(root, p, os.O_RDONLY)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Filewrite opens a file for writing. A new one is for the appliance alone.
func (h *handler) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	p, err := h.find(r.Filepath)
	if err != nil {
		return nil, errDenied // the root has no files
	}
	want, flags := r.Pflags(), os.O_WRONLY|os.O_CREATE
	if want.Trunc {
		flags |= os.O_TRUNC
	}
	if want.Excl {
		flags |= os.O_EXCL
	}
	var out *file
	err = h.do("put", "", p, func(root *os.Root) (err error) {
		if want.Trunc && !want.Excl {
			out, err = h.openAside(root, p)
		}
		if err == nil && out == nil {
			out, err = h.openFile(root, p, flags)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// openFile opens a regular file: neither a device nor a pipe, at which somebody would wait for ever.
func (h *handler) openFile(root *os.Root, p place, flags int) (*file, error) {
	if flags&os.O_CREATE != 0 {
		if err := roomIn(root); err != nil {
			return nil, err
		}
	}
	f, err := root.OpenFile(p.name, flags&^os.O_TRUNC|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || p.hidden(root, info)) {
		err = errDenied
	}
	if err == nil && flags&os.O_TRUNC != 0 { // not before it is known what it is
		err = f.Truncate(0)
	}
	out := &file{File: f, h: h, folder: p.folder}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil && len(h.open) >= maxOpen {
		err = errors.New("too many files are open in this session")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if h.open == nil {
		h.open = map[*file]struct{}{}
	}
	h.open[out] = struct{}{}
	return out, nil
}

// closeAll closes what a session has left open.
func (h *handler) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for f := range h.open {
		f.File.Close()
		if f.aside != nil {
			_ = f.aside.settle(false)
		}
	}
	clear(h.open)
}

// file is an open file that cannot grow beyond its bounds.
type file struct {
	*os.File
	h       *handler
	folder  *Folder
	aside   *aside      // nil: it is written in its place
	failed  atomic.Bool // not all of it came
	checked time.Time   // when the disk was last asked for its room
	mu      sync.Mutex
}

// TransferError is told by the library when the connection ends before the file is closed.
func (f *file) TransferError(error) { f.failed.Store(true) }

// Close closes it; what was written is on the disk before the client is told so.
func (f *file) Close() error {
	f.h.mu.Lock()
	_, open := f.h.open[f]
	delete(f.h.open, f)
	f.h.mu.Unlock()
	if !open {
		return os.ErrClosed
	}
	err := errors.Join(f.Sync(), f.File.Close())
	if f.aside != nil {
		err = errors.Join(err, f.aside.settle(err == nil && !f.failed.Load()))
	}
	return err
}

// WriteAt writes within the bounds.
func (f *file) WriteAt(b []byte, at int64) (n int, err error) {
	if at < 0 || at+int64(len(b)) > maxFile {
		err = fmt.Errorf("a file has at most %d MB", maxFile>>20)
	} else if err = f.room(); err == nil {
		n, err = f.File.WriteAt(b, at)
	}
	if err != nil {
		f.failed.Store(true)
	}
	return n, err
}

// room asks, once in a while, whether the disk has some left.
func (f *file) room() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.checked) < 100*time.Millisecond {
		return nil
	}
	if err := roomAt(f.File); err != nil {
		return err
	}
	f.checked = time.Now()
	return nil
}

// roomIn asks whether the disk of a folder has room for one more file; empty ones and folders fill it too.
func roomIn(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	return roomAt(d)
}

var statfs = unix.Fstatfs // a test has a small disk

func roomAt(f *os.File) error {
	var s unix.Statfs_t
	if err := statfs(int(f.Fd()), &s); err != nil {
		return err
	}
	switch {
	case s.Bavail*uint64(s.Bsize) < leastRun:
		return fmt.Errorf("the disk has less than %d MB left", leastRun>>20)
	case s.Files > 0 && s.Ffree < leastNew:
		return fmt.Errorf("the disk has room for less than %d files", leastNew)
	}
	return nil
}
