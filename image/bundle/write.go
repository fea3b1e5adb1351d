package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"fmt"
	"io"
	"os"
)

// Write writes a bundle of the files, signed by key. The same files and the same key make the same bytes.
func Write(w io.Writer, m Manifest, files Files, key ed25519.PrivateKey) (*Manifest, error) {
	made, text, err := Describe(m, files)
	if err != nil {
		return nil, err
	}
	t := tar.NewWriter(w)
	for _, e := range []struct {
		name string
		data []byte
	}{{ManifestName, text}, {SignatureName, ed25519.Sign(key, text)}} {
		if err := entry(t, e.name, int64(len(e.data)), bytes.NewReader(e.data)); err != nil {
			return nil, err
		}
	}
	for _, p := range made.Parts {
		if err := part(t, p, files.path(p.Name)); err != nil {
			return nil, err
		}
	}
	return made, t.Close()
}

func part(t *tar.Writer, p Part, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return entry(t, p.Name, p.Size, f)
}

// entry writes one file, of no owner and no time.
func entry(t *tar.Writer, name string, size int64, r io.Reader) error {
	if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, Format: tar.FormatUSTAR}); err != nil {
		return err
	}
	n, err := io.Copy(t, io.LimitReader(r, size))
	if err == nil && n != size {
		err = fmt.Errorf("%s has become shorter while the bundle was written", name)
	}
	return err
}
