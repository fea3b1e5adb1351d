// Package bundle is the file by which an appliance is upgraded: a tar file of a manifest, the manifest's ed25519 signature, and the
// kernel, the initial RAM disk and the root file system that the manifest names with size and checksum. The build writes it;
// the appliance reads it as a stream, and gives nothing on that the manifest and its signature do not vouch for. It knows neither slots nor disks.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Names of the entries of a bundle, in their order. What comes first is checked before what follows is looked at.
const (
	ManifestName  = "manifest.json"
	SignatureName = "manifest.sig"
	Kernel        = "vmlinuz"
	Initrd        = "initrd.img"
	Root          = "root.sqfs"
)

// End is how the name of a bundle's file ends.
const End = ".bundle"

// form is that of the file which this program reads and writes.
const form = 1

// manifestMost is the greatest manifest, in bytes.
const manifestMost = 16 << 10

// most is how large each part may be at all, in bytes, whatever the disk has room for.
var most = map[string]int64{Kernel: 64 << 20, Initrd: 256 << 20, Root: 8 << 30}

// order is that of the parts.
var order = []string{Kernel, Initrd, Root}

// Manifest is what a bundle says of itself.
type Manifest struct {
	Form    int    `json:"form"`
	Version string `json:"version"` // of the release
	Commit  string `json:"commit,omitempty"`
	Flavour string `json:"flavour"` // vm or metal
	Schema  int    `json:"schema"`  // newest version of saved configurations that the release reads
	Parts   []Part `json:"parts"`
}

// Part is a file that a bundle brings.
type Part struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Part is the part of that name; a manifest that was read has each.
func (m *Manifest) Part(name string) Part {
	if i := slices.IndexFunc(m.Parts, func(p Part) bool { return p.Name == name }); i >= 0 {
		return m.Parts[i]
	}
	return Part{Name: name}
}

// Bytes is how long all parts are together.
func (m *Manifest) Bytes() (n int64) {
	for _, p := range m.Parts {
		n += p.Size
	}
	return n
}

// Files are where the parts lie when a bundle is made.
type Files struct{ Kernel, Initrd, Root string }

func (f Files) path(name string) string {
	return map[string]string{Kernel: f.Kernel, Initrd: f.Initrd, Root: f.Root}[name]
}

// Describe adds the parts to a manifest and returns its text, as it stands in a bundle and beside the kernel in a slot.
func Describe(m Manifest, files Files) (*Manifest, []byte, error) {
	m.Form, m.Parts = form, nil
	for _, name := range order {
		size, sum, err := measure(files.path(name))
		if err != nil {
			return nil, nil, err
		}
		m.Parts = append(m.Parts, Part{Name: name, Size: size, SHA256: sum})
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return nil, nil, err
	}
	text = append(text, '\n')
	if _, err := ReadManifest(text); err != nil {
		return nil, nil, fmt.Errorf("no appliance would take the bundle: %w", err)
	}
	return &m, text, nil
}

func measure(path string) (size int64, sum string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	h := sha256.New()
	size, err = io.Copy(h, f)
	return size, hex.EncodeToString(h.Sum(nil)), err
}

// ReadManifest reads the text of a manifest and checks it.
func ReadManifest(text []byte) (*Manifest, error) {
	if len(text) > manifestMost {
		return nil, fmt.Errorf("its manifest is larger than %d KiB", manifestMost>>10)
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, errors.New("its manifest cannot be read")
	}
	if m.Form != form {
		return nil, fmt.Errorf("it is of form %d, and this release reads form %d", m.Form, form)
	}
	return &m, m.check()
}

// words are the characters of versions, commits and flavours, which operators read on their terminals.
const words = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+~_-"

func (m *Manifest) check() error {
	for _, w := range []struct{ what, text string }{{"version", m.Version}, {"flavour", m.Flavour}, {"commit", m.Commit}} {
		if len(w.text) > 64 || strings.Trim(w.text, words) != "" || w.text == "" && w.what != "commit" {
			return fmt.Errorf("its %s is no word of at most 64 letters, digits and . + ~ _ -", w.what)
		}
	}
	if len(m.Parts) != len(order) {
		return fmt.Errorf("it names %d parts and should name %s", len(m.Parts), strings.Join(order, ", "))
	}
	for i, p := range m.Parts {
		sum, err := hex.DecodeString(p.SHA256)
		switch {
		case p.Name != order[i]:
			return fmt.Errorf("part %d is not %s", i+1, order[i])
		case p.Size < 1 || p.Size > most[p.Name]:
			return fmt.Errorf("%s is not between 1 byte and %d MiB long", p.Name, most[p.Name]>>20)
		case err != nil || len(sum) != sha256.Size || strings.ToLower(p.SHA256) != p.SHA256:
			return fmt.Errorf("the checksum of %s is none", p.Name)
		}
	}
	return nil
}
