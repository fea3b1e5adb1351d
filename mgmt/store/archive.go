package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A backup is a compressed tar file. Its first entry says what it is and bears the checksum of each other entry; an entry that is
// not as it says, or that it does not speak of, makes the whole file unfit. It may have come by SFTP from anywhere.

// Bounds of a backup.
const (
	manifestName  = "manifest.json"
	manifestMost  = 1 << 20 // bytes of the first entry
	archiveFiles  = 1000    // besides the configuration
	archiveBytes  = 64 << 20
	archivePacked = archiveBytes + maxFile // bytes of the file: what does not compress is hardly longer
	archiveForm   = 1                      // of the file; another one is refused
)

// Manifest is what a backup says of itself.
type Manifest struct {
	Form    int       `json:"form"`
	Level   string    `json:"level"` // basic or full
	Comment string    `json:"comment,omitempty"`
	By      string    `json:"by"`
	Host    string    `json:"host"`
	Release string    `json:"release"`
	At      time.Time `json:"at"`
	Files   []Entry   `json:"files"`
}

// Entry is a file of a backup, named as in the store's directory.
type Entry struct {
	Name string      `json:"name"`
	Mode fs.FileMode `json:"mode"`
	Size int64       `json:"size"`
	Sum  string      `json:"sha256"`

	Data []byte `json:"-"`
}

// Archive is what a backup holds.
type Archive struct{ Manifest }

// File is the content of a file of the backup, or nil.
func (a *Archive) File(name string) []byte {
	for _, e := range a.Files {
		if e.Name == name {
			return e.Data
		}
	}
	return nil
}

// pack is the archive as a file.
func (a *Archive) pack() ([]byte, error) {
	for i := range a.Files {
		e := &a.Files[i]
		e.Size, e.Sum = int64(len(e.Data)), sumOf(e.Data)
	}
	a.Form = archiveForm
	manifest, err := json.MarshalIndent(a.Manifest, "", " ")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	for _, e := range slices.Concat([]Entry{{Name: manifestName, Mode: 0o600, Size: int64(len(manifest)), Data: manifest}}, a.Files) {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: e.Name, Mode: int64(e.Mode), Size: e.Size, ModTime: a.At}); err != nil {
			return nil, err
		}
		if _, err := t.Write(e.Data); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(t.Close(), z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// unpack reads a backup and checks it against its own word. extra are the names that are allowed beside folders.
func unpack(r io.Reader, extra []string) (*Archive, error) {
	a, t, rest, err := openArchive(r)
	if err != nil {
		return nil, err
	}
	if err := a.check(extra); err != nil {
		return nil, err
	}
	for seen := 0; ; seen++ {
		h, err := t.Next()
		if err == io.EOF && seen == len(a.Files) {
			if _, err := io.Copy(io.Discard, rest); err != nil { // up to the checksum of the whole
				return nil, fmt.Errorf("it is damaged: %w", err)
			}
			return a, nil
		}
		switch {
		case err == io.EOF:
			return nil, errors.New("files are missing that its manifest speaks of")
		case err != nil:
			return nil, fmt.Errorf("it is damaged: %w", err)
		case h.Typeflag != tar.TypeReg:
			return nil, fmt.Errorf("%q is no plain file", h.Name)
		}
		i := slices.IndexFunc(a.Files, func(e Entry) bool { return e.Name == h.Name })
		if i < 0 || a.Files[i].Data != nil {
			return nil, fmt.Errorf("%q is not in its manifest, or is there twice", h.Name)
		}
		if err := a.Files[i].read(t, h.Size); err != nil {
			return nil, err
		}
	}
}

// read takes the content of an entry, no more than the manifest has promised.
func (e *Entry) read(r io.Reader, size int64) error {
	if size != e.Size {
		return fmt.Errorf("%q is not as long as its manifest says", e.Name)
	}
	data, err := io.ReadAll(io.LimitReader(r, e.Size+1))
	if err != nil {
		return fmt.Errorf("it is damaged: %w", err)
	}
	if sumOf(data) != e.Sum {
		return fmt.Errorf("the checksum of %q is wrong", e.Name)
	}
	if e.Data = data; data == nil {
		e.Data = []byte{}
	}
	return nil
}

// openArchive reads the manifest; the other entries follow in t, which reads from rest.
func openArchive(r io.Reader) (a *Archive, t *tar.Reader, rest io.Reader, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, nil, nil, errors.New("it is no backup: it is not compressed by gzip")
	}
	// Headers take 512 bytes each, and their padding the same.
	rest = io.LimitReader(z, archiveBytes+maxFile+manifestMost+8192*(archiveFiles+2))
	t = tar.NewReader(rest)
	h, err := t.Next()
	if err != nil || h.Name != manifestName || h.Typeflag != tar.TypeReg || h.Size > manifestMost {
		return nil, nil, nil, errors.New("it is no backup: it does not begin with a manifest")
	}
	text, err := io.ReadAll(io.LimitReader(t, manifestMost))
	a = &Archive{}
	if err == nil {
		err = json.Unmarshal(text, &a.Manifest)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("its manifest cannot be read: %w", err)
	}
	if a.Form != archiveForm {
		return nil, nil, nil, fmt.Errorf("it is of form %d, and this release reads form %d", a.Form, archiveForm)
	}
	return a, t, rest, nil
}

// check tells what is wrong with a manifest.
func (a *Archive) check(extra []string) error {
	var total int64
	seen := map[string]bool{}
	for _, e := range a.Files {
		switch {
		case !fitting(e.Name, extra):
			return fmt.Errorf("a file %q has no place here", e.Name)
		case seen[e.Name]:
			return fmt.Errorf("%q is there twice", e.Name)
		case e.Size < 0 || e.Size > maxFile || e.Name != File && e.Size > archiveBytes:
			return fmt.Errorf("%q is too large", e.Name)
		}
		if seen[e.Name] = true; e.Name != File {
			total += e.Size
		}
	}
	switch {
	case !seen[File]:
		return errors.New("it holds no configuration")
	case len(a.Files) > archiveFiles+1 || total > archiveBytes:
		return fmt.Errorf("it holds more than %d files or %d MiB", archiveFiles, archiveBytes>>20)
	}
	return nil
}

// archiveFolders are the folders that backups hold.
var archiveFolders = []string{"ssl", "monitors"}

// fitting tells whether a backup may hold a file of that name: nothing that leads elsewhere, nothing hidden.
func fitting(name string, extra []string) bool {
	if name == File || slices.Contains(extra, name) {
		return true
	}
	folder, rest, ok := strings.Cut(name, "/")
	if !ok || !slices.Contains(archiveFolders, folder) || !fs.ValidPath(name) || len(name) > 255 || strings.Count(rest, "/") > 4 {
		return false
	}
	return !strings.HasPrefix(rest, ".") && !strings.Contains(rest, "/.") && !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f || c == '\\' })
}
