package bundle

import (
	"archive/tar"
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newKey is a key that lives as long as a test.
func newKey(t testing.TB) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// someFiles are parts of that length.
func someFiles(t testing.TB, size int) Files {
	t.Helper()
	dir := t.TempDir()
	f := Files{filepath.Join(dir, "k"), filepath.Join(dir, "i"), filepath.Join(dir, "r")}
	for i, name := range []string{f.Kernel, f.Initrd, f.Root} {
		data := bytes.Repeat([]byte{byte('a' + i)}, size+i)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

var release = Manifest{Version: "0.1-abc", Commit: "abcdef", Flavour: "vm", Schema: 1}

func written(t testing.TB, key ed25519.PrivateKey, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, release, someFiles(t, size), key); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// unpacked reads a bundle whole.
func unpacked(data []byte, key ed25519.PublicKey) (map[string]string, error) {
	b, err := Open(bytes.NewReader(data), key)
	if err != nil {
		return nil, err
	}
	parts := map[string]string{}
	return parts, b.Unpack(func(p Part, r io.Reader) error {
		data, err := io.ReadAll(r)
		parts[p.Name] = string(data)
		return err
	})
}

func TestBundle(t *testing.T) {
	key := newKey(t)
	data := written(t, key, 100_000)
	if !bytes.Equal(data, written(t, key, 100_000)) {
		t.Error("the same files make other bytes")
	}
	parts, err := unpacked(data, public(key))
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range order {
		if want := strings.Repeat(string(rune('a'+i)), 100_000+i); parts[name] != want {
			t.Errorf("%s has %d bytes", name, len(parts[name]))
		}
	}
	b, err := Open(bytes.NewReader(data), public(key))
	if err != nil || b.Version != "0.1-abc" || b.Part(Root).Size != 100_002 || len(b.Signature) != ed25519.SignatureSize {
		t.Errorf("%+v, %v", b, err)
	}
}

// entries are those of a bundle, for a test to spoil.
type entries []*struct {
	h    tar.Header
	data []byte
}

func taken(t testing.TB, data []byte) (all entries) {
	t.Helper()
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &struct {
			h    tar.Header
			data []byte
		}{tar.Header{Typeflag: h.Typeflag, Name: h.Name, Mode: h.Mode}, body})
	}
}

func (all entries) packed(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range all {
		if e.h.Size = int64(len(e.data)); e.h.Typeflag != tar.TypeReg {
			e.h.Size, e.data = 0, nil
		}
		if err := w.WriteHeader(&e.h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// resigned has another manifest and the signature of it.
func (all entries) resigned(t testing.TB, key ed25519.PrivateKey, change func(*Manifest)) {
	t.Helper()
	var m Manifest
	if err := json.Unmarshal(all[0].data, &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	all[0].data, all[1].data = text, ed25519.Sign(key, text)
}

func TestBundlesThatAreRefused(t *testing.T) {
	key := newKey(t)
	good := written(t, key, 5000)
	for _, row := range []struct {
		name, want string
		spoil      func(all entries) entries
	}{
		{"no signature", "no bundle", func(all entries) entries { return append(all[:1:1], all[2:]...) }},
		{"another's signature", "not of the key", func(all entries) entries { all[1].data = ed25519.Sign(newKey(t), all[0].data); return all }},
		{"a short signature", "not of the key", func(all entries) entries { all[1].data = all[1].data[:63]; return all }},
		{"a long signature", "no bundle", func(all entries) entries { all[1].data = append(all[1].data, 0); return all }},
		{"another version in the manifest", "not of the key", func(all entries) entries {
			all[0].data = bytes.Replace(all[0].data, []byte("0.1-abc"), []byte("0.1-abd"), 1)
			return all
		}},
		{"a manifest too large", "no bundle", func(all entries) entries { all[0].data = make([]byte, manifestMost+1); return all }},
		{"a signed manifest that is none", "cannot be read", func(all entries) entries {
			all[0].data = []byte("[]")
			all[1].data = ed25519.Sign(key, all[0].data)
			return all
		}},
		{"another form", "form 2", func(all entries) entries { all.resigned(t, key, func(m *Manifest) { m.Form = 2 }); return all }},
		{"a part too large", "not between", func(all entries) entries {
			all.resigned(t, key, func(m *Manifest) { m.Parts[0].Size = 65 << 20 })
			return all
		}},
		{"an empty part", "not between", func(all entries) entries { all.resigned(t, key, func(m *Manifest) { m.Parts[2].Size = 0 }); return all }},
		{"another part", "part 2 is not initrd.img", func(all entries) entries {
			all.resigned(t, key, func(m *Manifest) { m.Parts[1].Name = "../boot" })
			return all
		}},
		{"a part too few", "names 2 parts", func(all entries) entries {
			all.resigned(t, key, func(m *Manifest) { m.Parts = m.Parts[:2] })
			return all
		}},
		{"no checksum", "is none", func(all entries) entries {
			all.resigned(t, key, func(m *Manifest) { m.Parts[0].SHA256 = "00" })
			return all
		}},
		{"a version that clears the screen", "its version", func(all entries) entries {
			all.resigned(t, key, func(m *Manifest) { m.Version = "\x1b[2J" })
			return all
		}},
		{"another content", "checksum of root.sqfs", func(all entries) entries { all[4].data[4000] ^= 1; return all }},
		{"a part that is longer", "as long as the manifest says", func(all entries) entries { all[3].data = append(all[3].data, 'x'); return all }},
		{"a part that is missing", "cut off or damaged before root.sqfs", func(all entries) entries { return all[:4] }},
		{"parts in another order", "not where", func(all entries) entries { all[2], all[3] = all[3], all[2]; return all }},
		{"a part that is a link", "not where", func(all entries) entries {
			all[2].h.Typeflag, all[2].h.Linkname = tar.TypeSymlink, "/dev/vda"
			return all
		}},
		{"an extended header", "not where", func(all entries) entries {
			all[2].h.PAXRecords = map[string]string{"SLUICE.x": "y"}
			return all
		}},
		{"one more", "more in it", func(all entries) entries { return append(all, all[4]) }},
	} {
		_, err := unpacked(row.spoil(taken(t, good)).packed(t), public(key))
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
	for n := 0; n <= bytes.LastIndexByte(good, 'c'); n += 97 {
		if _, err := unpacked(good[:n], public(key)); err == nil {
			t.Fatalf("a bundle that is cut off after %d bytes is taken", n)
		}
	}
	if _, err := Open(bytes.NewReader(good), nil); err == nil {
		t.Error("a bundle is taken without a key")
	}
}

// TestHalfReadPart: who does not read a part to its end has not had it checked.
func TestHalfReadPart(t *testing.T) {
	key := newKey(t)
	b, err := Open(bytes.NewReader(written(t, key, 5000)), public(key))
	if err == nil {
		err = b.Unpack(func(_ Part, r io.Reader) error { _, err := io.ReadFull(r, make([]byte, 5000)); return err })
	}
	if err == nil || !strings.Contains(err.Error(), "not read to its end") {
		t.Error(err)
	}
}

// TestOpenSSLAndTar: a key of openssl signs; GNU tar lists the bundle, and openssl finds its signature right.
func TestOpenSSLAndTar(t *testing.T) {
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v: %s", name, args, err, out)
		}
		return string(out)
	}
	run("openssl", "genpkey", "-algorithm", "ed25519", "-out", "key.pem")
	key, err := ReadPrivate(filepath.Join(dir, "key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	pub, err := PublicText(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"bundle.pub": pub, "x.bundle": written(t, key, 3000)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Fields(run("tar", "-xvf", "x.bundle")), append([]string{ManifestName, SignatureName}, order...); !strings.EqualFold(strings.Join(got, " "), strings.Join(want, " ")) {
		t.Errorf("tar finds %v", got)
	}
	if out := run("openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "bundle.pub", "-rawin", "-in", ManifestName, "-sigfile", SignatureName); !strings.Contains(out, "Verified Successfully") {
		t.Error(out)
	}
	back, err := ReadPublic(filepath.Join(dir, "bundle.pub"))
	if err != nil || !back.Equal(key.Public()) {
		t.Errorf("the public key: %v", err)
	}
	run("openssl", "genpkey", "-algorithm", "x25519", "-out", "other.pem")
	if _, err := ReadPrivate(filepath.Join(dir, "other.pem")); err == nil || !strings.Contains(err.Error(), "no ed25519 key") {
		t.Errorf("another kind of key: %v", err)
	}
	if _, err := ReadPublic(filepath.Join(dir, "key.pem")); err == nil {
		t.Error("a private key passes for a public one")
	}
}

func FuzzBundle(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	good := written(f, key, 700)
	f.Add(good, false)
	f.Add(good[:3000], false)
	f.Add([]byte(`{"form":1,"version":"1","flavour":"vm","parts":[]}`), true)
	f.Fuzz(func(t *testing.T, data []byte, manifest bool) {
		if manifest { // the text of one, signed
			if m, err := ReadManifest(data); err == nil && (m.Part(Root).Size < 1 || m.Version == "") {
				t.Fatalf("%+v", m)
			}
			return
		}
		parts, err := unpacked(data, public(key))
		if err == nil && (len(parts) != 3 || len(parts[Root]) != 702) {
			t.Fatal("another bundle than the signed one is taken")
		}
	})
}
