package bundle

import (
	"archive/tar"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// Bundle is one that is being read. Its manifest is signed by the key that it was opened with.
type Bundle struct {
	*Manifest
	Text      []byte // of the manifest, which was signed
	Signature []byte

	tar *tar.Reader
}

// errNone is what a file is told that does not begin as a bundle does.
var errNone = errors.New("it is no bundle: it does not begin with a manifest and its signature")

// Open reads the manifest of a bundle. Nothing of it is looked at before its signature is found to be of key.
func Open(r io.Reader, key ed25519.PublicKey) (*Bundle, error) {
	if len(key) != ed25519.PublicKeySize {
		return nil, errors.New("there is no key to hold a bundle to")
	}
	b := &Bundle{tar: tar.NewReader(r)}
	var err error
	if b.Text, err = b.small(ManifestName, manifestMost); err != nil {
		return nil, err
	}
	if b.Signature, err = b.small(SignatureName, ed25519.SignatureSize); err != nil {
		return nil, err
	}
	if len(b.Signature) != ed25519.SignatureSize || !ed25519.Verify(key, b.Text, b.Signature) {
		return nil, errors.New("its signature is not of the key that this appliance trusts")
	}
	if b.Manifest, err = ReadManifest(b.Text); err != nil {
		return nil, err
	}
	return b, nil
}

// small reads one of the first entries.
func (b *Bundle) small(name string, most int64) ([]byte, error) {
	h, err := b.tar.Next()
	if err != nil || !plain(h, name) || h.Size > most {
		return nil, errNone
	}
	text, err := io.ReadAll(io.LimitReader(b.tar, most))
	if err != nil {
		return nil, errNone
	}
	return text, nil
}

// plain tells whether an entry is a plain file of that name. Extended headers may mean another length than the one that stands
// there, and no bundle has them.
func plain(h *tar.Header, name string) bool {
	return h.Typeflag == tar.TypeReg && h.Name == name && len(h.PAXRecords) == 0 && h.Size >= 0
}

// Unpack gives each part to take, in their order. A part whose checksum is wrong ends in an error instead of io.EOF, so that
// whoever has read a part to its end has the right one.
func (b *Bundle) Unpack(take func(p Part, r io.Reader) error) error {
	for _, p := range b.Parts {
		h, err := b.tar.Next()
		switch {
		case err != nil:
			return fmt.Errorf("it is cut off or damaged before %s", p.Name)
		case !plain(h, p.Name) || h.Size != p.Size:
			return fmt.Errorf("%s is not where and as long as the manifest says", p.Name)
		}
		c := &checked{r: b.tar, part: p, sum: sha256.New()}
		if err := take(p, c); err != nil {
			return err
		}
		if !c.whole {
			return fmt.Errorf("%s was not read to its end", p.Name)
		}
	}
	if _, err := b.tar.Next(); err != io.EOF {
		return errors.New("there is more in it than its manifest says")
	}
	return nil
}

// checked reads one part.
type checked struct {
	r     io.Reader
	part  Part
	sum   hash.Hash
	seen  int64
	whole bool
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.sum.Write(b[:n])
	c.seen += int64(n)
	switch {
	case err == nil:
		return n, nil
	case err != io.EOF:
		return n, fmt.Errorf("it is cut off in %s: %w", c.part.Name, err)
	case c.seen != c.part.Size || hex.EncodeToString(c.sum.Sum(nil)) != c.part.SHA256:
		return n, fmt.Errorf("the checksum of %s is wrong", c.part.Name)
	}
	c.whole = true
	return n, io.EOF
}
