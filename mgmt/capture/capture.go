// Package capture writes what the dataplane captures at its ports into pcapng files below the configuration directory. It fetches
// frames and bounds files; which frames are captured is the dataplane's.
package capture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

const (
	// Folder is where the files are, below the configuration directory.
	Folder = "traces"
	suffix = ".pcapng"

	every    = 50 * time.Millisecond // between fetches
	fetch    = 1 << 20               // bytes of frames of one
	maxFiles = 100                   // in the folder
	spare    = 64 << 20              // bytes that must stay free on the disk: configurations are saved there
)

// Source is the dataplane.
type Source interface {
	Capture(ctx context.Context, order *api.CaptureOrder) (*api.Capture, error)
}

// Order is what an operator asks for.
type Order struct {
	api.CaptureFilter
	File string // name; empty: one of the time
	Most uint64 // bytes of the file
}

// State is what has become of the last capture.
type State struct {
	Order   Order
	Began   time.Time // zero: there has been none
	Running bool
	Frames  uint64 // in the file
	Bytes   uint64 // of the file
	Lost    uint64 // frames that the dataplane had no room for
	End     string // why it has ended
}

// Recorder has one capture at a time.
type Recorder struct {
	source Source
	dir    string
	ports  []string
	log    *slog.Logger
	free   func(dir string) uint64 // bytes

	mu    sync.Mutex
	state State
	stop  context.CancelFunc
	ended chan struct{}
}

// New returns a recorder of ports of these names, by their indexes in the dataplane's settings.
func New(source Source, configDir string, ports []string, log *slog.Logger) *Recorder {
	return &Recorder{source: source, dir: configDir, ports: ports, log: log, free: freeSpace}
}

// State tells about the last capture.
func (r *Recorder) State() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Start begins a capture. It returns when the dataplane captures.
func (r *Recorder) Start(ctx context.Context, o Order, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state.Running {
		return fmt.Errorf("a capture is running into %s/%s: see it with `show nstrace` or end it with `stop nstrace`", Folder, r.state.Order.File)
	}
	name, err := fileName(o.File, now)
	if err != nil {
		return err
	}
	o.File = name
	if err := r.hasRoom(); err != nil {
		return err
	}
	f, err := r.create(name)
	if err != nil {
		return err
	}
	if _, err := r.source.Capture(ctx, &api.CaptureOrder{Start: &o.CaptureFilter}); err != nil {
		return errors.Join(err, r.abandon(f, name))
	}
	w, err := newWriter(f, r.ports, o.Size)
	if err != nil {
		return errors.Join(err, r.abandon(f, name))
	}
	// The capture outlives the session that begins it.
	ctx, r.stop = context.WithCancel(context.WithoutCancel(ctx))
	r.state = State{Order: o, Began: now, Running: true}
	r.ended = make(chan struct{})
	go r.run(ctx, f, w, r.ended)
	return nil
}

// Stop ends the capture that is running and returns when its file is whole.
func (r *Recorder) Stop() error {
	r.mu.Lock()
	if !r.state.Running {
		r.mu.Unlock()
		return errors.New("no capture is running: begin one with `start nstrace`")
	}
	r.stop()
	ended := r.ended
	r.mu.Unlock()
	<-ended
	return nil
}

// Close ends the capture, if there is one.
func (r *Recorder) Close() {
	if r.State().Running {
		r.Stop()
	}
}

// run fetches frames until the capture is over.
func (r *Recorder) run(ctx context.Context, f *os.File, w *writer, ended chan struct{}) {
	defer close(ended)
	tick := time.NewTicker(every)
	defer tick.Stop()
	end := ""
	for end == "" {
		select {
		case <-ctx.Done():
			end = "stopped"
		case <-tick.C:
			end = r.drain(w)
		}
	}
	// Once the workers have let go of it what they have is all there is.
	if _, err := r.source.Capture(context.Background(), &api.CaptureOrder{Stop: true}); err == nil {
		if bad := r.drain(w); bad != "" && bad != done {
			end = bad
		}
	}
	if err := errors.Join(w.close(r.State().Lost, time.Now()), f.Sync(), f.Close()); err != nil {
		end = "the file could not be written: " + cause(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	r.state.Running, r.state.End, r.state.Bytes = false, end, w.n
	r.log.Info("capture ended", "file", path.Join(Folder, r.state.Order.File), "frames", r.state.Frames, "bytes", w.n, "lost", r.state.Lost, "result", end)
}

// done is why a capture ends that has all that it wanted.
const done = "done"

// drain writes what there is. It returns why the capture is over, or "".
func (r *Recorder) drain(w *writer) string {
	for {
		c, err := r.source.Capture(context.Background(), &api.CaptureOrder{Most: fetch})
		if err != nil {
			return "the dataplane did not give its frames: " + strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		why := r.write(w, c.Frames)
		if err := w.flush(); err != nil && why == "" {
			why = "the file could not be written: " + cause(err)
		}
		r.mu.Lock()
		r.state.Frames, r.state.Bytes, r.state.Lost = w.frames, w.n, c.Lost
		r.mu.Unlock()
		switch {
		case why != "":
			return why
		case c.More:
		case !c.Running:
			return done
		default:
			if err := r.hasRoom(); err != nil {
				return err.Error()
			}
			return ""
		}
	}
}

// write adds frames to the file until it is as large as it may become.
func (r *Recorder) write(w *writer, frames []api.CapturedFrame) string {
	most := r.state.Order.Most // which nobody changes while the capture runs
	for i := range frames {
		if w.size+frameRoom+uint64(len(frames[i].Data)) > most {
			return fmt.Sprintf("the file has the size that it may have, %d bytes", most)
		}
		if err := w.frame(&frames[i]); err != nil {
			return "the file could not be written: " + cause(err)
		}
	}
	return ""
}

// fileName is a plain name in the folder.
func fileName(name string, now time.Time) (string, error) {
	if name == "" {
		return "nstrace-" + now.UTC().Format("20060102-150405") + suffix, nil
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(name, "/"), Folder+"/")
	for _, c := range plain {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", c) {
			return "", schema.Refuse(schema.BadArgument, "fileName", name).Because("name a file in " + Folder + " by letters, digits, '.', '_' and '-'")
		}
	}
	if plain == "" || plain[0] == '.' {
		return "", schema.Refuse(schema.BadArgument, "fileName", name).Because("the name of a file begins with a letter or a digit")
	}
	if !strings.HasSuffix(plain, suffix) {
		plain += suffix
	}
	return plain, nil
}

// create makes the file, which must not be there yet.
func (r *Recorder) create(name string) (*os.File, error) {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := root.Mkdir(Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("the folder %s cannot be made: %s", Folder, cause(err))
	}
	if there, err := fs.ReadDir(root.FS(), Folder); err == nil && len(there) >= maxFiles {
		return nil, fmt.Errorf("there are %d files in %s, more are not kept: remove some by SFTP", len(there), Folder)
	}
	f, err := root.OpenFile(path.Join(Folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, schema.Refuse(schema.RowExists, name).Because("it is in " + Folder + ": choose another -fileName")
	case err != nil:
		return nil, fmt.Errorf("the file %s cannot be made in %s: %s", name, Folder, cause(err))
	}
	return f, nil
}

// abandon removes a file that has come to nothing.
func (r *Recorder) abandon(f *os.File, name string) error {
	root, err := os.OpenRoot(r.dir)
	if err != nil {
		return errors.Join(f.Close(), err)
	}
	defer root.Close()
	return errors.Join(f.Close(), root.Remove(path.Join(Folder, name)))
}

// hasRoom says whether the disk has.
func (r *Recorder) hasRoom() error {
	if n := r.free(r.dir); n < spare {
		return fmt.Errorf("the disk of the configuration has %d MB free, of which %d MB must stay so: remove files", n>>20, spare>>20)
	}
	return nil
}

func freeSpace(dir string) uint64 {
	var st unix.Statfs_t
	if err := unix.Statfs(filepath.Clean(dir), &st); err != nil {
		return 0
	}
	return st.Bavail * uint64(st.Bsize)
}

// cause is an error without the path, which is of this machine.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
