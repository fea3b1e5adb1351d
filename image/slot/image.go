package slot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sluice/image/bundle"
)

// State is what can be told of the slots.
type State struct {
	Running Slot
	Current Slot   // that is started as things stand
	Tried   Slot   // that the next start tries once; empty: none
	Fault   string // of the boot loader's block
	Images  map[Slot]Image
	Trial   *Trial // the last one; nil: there was none
}

// Image is what lies in a slot.
type Image struct {
	*bundle.Manifest        // nil: no whole image lies there
	Fault            string // why not, if something is there
}

// State reads all of it.
func (d *Disk) State() (*State, error) {
	running, err := d.Running()
	if err != nil {
		return nil, err
	}
	s := &State{Running: running, Images: map[Slot]Image{}}
	err = d.withESP(func(esp string) error {
		e, _, err := d.readEnv(esp)
		if err != nil {
			s.Fault = err.Error()
		}
		s.Current, s.Tried = e.current(), e.tried()
		for _, at := range []Slot{A, B} {
			s.Images[at] = d.image(esp, at)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if s.Trial, err = d.Trial(); err != nil {
		s.Fault = err.Error()
	}
	return s, nil
}

// image reads what lies in a slot.
func (d *Disk) image(esp string, at Slot) Image {
	text, err := d.small(filepath.Join(esp, string(at), bundle.ManifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return Image{}
	}
	var m *bundle.Manifest
	if err == nil {
		m, err = bundle.ReadManifest(text)
	}
	if err != nil {
		return Image{Fault: "its manifest cannot be read"}
	}
	return Image{Manifest: m}
}

// smallMost bounds files of the ESP that are read whole, in bytes.
const smallMost = 64 << 10

func (d *Disk) small(name string) ([]byte, error) {
	f, err := d.ops.open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, smallMost))
}

// Verify reads the whole image of a slot back from the disk and holds it to its manifest.
func (d *Disk) Verify(at Slot) (m *bundle.Manifest, err error) {
	err = d.withESP(func(esp string) error {
		i := d.image(esp, at)
		if i.Manifest == nil {
			return fmt.Errorf("There is no whole image in slot %s: install one first", at)
		}
		m = i.Manifest
		for _, p := range m.Parts {
			name, err := d.place(esp, at, p.Name)
			if err == nil {
				err = d.same(name, p)
			}
			if err != nil {
				return fmt.Errorf("The image in slot %s is damaged, install it again: %w", at, err)
			}
		}
		return nil
	})
	return m, err
}

// place is where a part lies in a slot: the root file system in a partition of its own, what the boot loader reads on the ESP.
func (d *Disk) place(esp string, at Slot, part string) (string, error) {
	if part != bundle.Root {
		return filepath.Join(esp, string(at), part), nil
	}
	device, _, err := d.partition(at.partition())
	return device, err
}

// same tells whether a part is on the disk as it should be.
func (d *Disk) same(name string, p bundle.Part) error {
	f, err := d.ops.open(name, os.O_RDONLY)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, plain(err))
	}
	defer f.Close()
	if err := f.Forget(); err != nil {
		return fmt.Errorf("%s: %w", p.Name, plain(err))
	}
	h := sha256.New()
	n, err := io.CopyBuffer(onlyWriter{h}, io.NewSectionReader(f, 0, p.Size), make([]byte, chunk))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", p.Name, plain(err))
	case n != p.Size || hex.EncodeToString(h.Sum(nil)) != p.SHA256:
		return fmt.Errorf("%s on the disk is another one", p.Name)
	}
	return nil
}

// onlyWriter keeps io.CopyBuffer to its buffer.
type onlyWriter struct{ io.Writer }

// Release is what the running image says of itself.
type Release struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Flavour string `json:"flavour"`
}

// ReleaseFile is where it stands.
const ReleaseFile = "etc/sluice/release"

// Release reads it.
func (d *Disk) Release() (r Release, err error) {
	text, err := os.ReadFile(d.path(ReleaseFile))
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		err = fmt.Errorf("The running image does not say what it is: %w", err)
	}
	return r, err
}
