// Package watch takes in configuration files that are put into a directory and writes beside each what became of it, so that
// a directory can be the whole interface. What a file means it does not know.
package watch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Result is the end of the name of a file that says what became of the one before it.
const Result = ".result"

// maxFile is the greatest file that is taken, in bytes.
const maxFile = 64 << 20

// Apply puts what a file holds in force and returns what there is to say, in lines.
type Apply func(name string, data []byte) (text string, err error)

// Run takes in files of dir until ctx ends: those that are there and whose result is not, and then each that is written or
// moved there. A file that is still being written is not taken (inotify: IN_CLOSE_WRITE, IN_MOVED_TO).
func Run(ctx context.Context, dir string, apply Apply, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("the directory %s cannot be watched: %w", dir, err)
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return fmt.Errorf("the directory %s cannot be watched: %w", dir, err)
	}
	events := os.NewFile(uintptr(fd), "inotify")
	stop := context.AfterFunc(ctx, func() { events.Close() })
	defer stop()
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CLOSE_WRITE|unix.IN_MOVED_TO); err != nil {
		return fmt.Errorf("the directory %s cannot be watched: %w", dir, err)
	}
	w := &watcher{dir, apply, log}
	w.all()
	buffer := make([]byte, 64<<10)
	for {
		n, err := events.Read(buffer)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the directory %s is not watched any more: %w", dir, err)
		}
		w.news(buffer[:n])
	}
}

type watcher struct {
	dir   string
	apply Apply
	log   *slog.Logger
}

// news handles events; when some were lost it looks at all files.
func (w *watcher) news(b []byte) {
	for len(b) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(b[unsafe.Offsetof(unix.InotifyEvent{}.Mask):])
		length := int(binary.NativeEndian.Uint32(b[unsafe.Offsetof(unix.InotifyEvent{}.Len):]))
		end := min(unix.SizeofInotifyEvent+length, len(b))
		name := string(bytes.TrimRight(b[unix.SizeofInotifyEvent:end], "\x00"))
		b = b[end:]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			w.all()
		} else {
			w.file(name)
		}
	}
}

func (w *watcher) all() {
	list, err := os.ReadDir(w.dir) // by name, so that their order is known
	if err != nil {
		w.log.Error("files", "directory", w.dir, "error", err)
	}
	for _, e := range list {
		w.file(e.Name())
	}
}

// file takes in one file, unless its result says that this content was taken in before.
func (w *watcher) file(name string) {
	if name == "" || name[0] == '.' || strings.HasSuffix(name, Result) || strings.HasSuffix(name, "~") || strings.HasSuffix(name, ".tmp") {
		return
	}
	data, err := w.read(name)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	sum := sha256.Sum256(data)
	mark := "sha256 " + hex.EncodeToString(sum[:])
	if before, e := os.ReadFile(filepath.Join(w.dir, name+Result)); err == nil && e == nil && strings.Contains(string(before), "\n"+mark+"\n") {
		return
	}
	text := ""
	if err == nil {
		text, err = w.apply(name, data)
	}
	first := "Done"
	if err != nil {
		first = "ERROR: " + strings.TrimSpace(err.Error())
	}
	out := fmt.Sprintf("%s\ntime %s\n%s\n%s", first, time.Now().UTC().Format(time.RFC3339), mark, text)
	w.log.Info("file taken in", "file", filepath.Join(w.dir, name), "result", first)
	if err := w.tell(name, out); err != nil {
		w.log.Error("the result of a file cannot be written", "file", name, "error", err)
	}
}

// read reads a file; what is none, such as a link or a pipe, is refused.
func (w *watcher) read(name string) ([]byte, error) {
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, errors.New("it is a link, which is not followed")
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	}
	return data, err
}

// tell writes the result at once: who looks for it finds it whole or not at all.
func (w *watcher) tell(name, text string) error {
	tmp, err := os.CreateTemp(w.dir, ".result-*")
	if err != nil {
		return err
	}
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), filepath.Join(w.dir, name+Result))
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}
