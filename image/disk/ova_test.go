package disk

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOVA unpacks a package as a hypervisor would: the description first, digests that are true, a disk that is the disk.
func TestOVA(t *testing.T) {
	dir := t.TempDir()
	raw := filepath.Join(dir, "x.raw")
	content := make([]byte, 4*MiB)
	copy(content[MiB:], "what is on the disk")
	if err := os.WriteFile(raw, content, 0o644); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "x.ova")
	if err := OVA(t.Context(), box(), raw, "../files/appliance.ovf", "0.1-test", file); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var names []string
	parts := map[string][]byte{}
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if parts[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if s := strings.Join(names, " "); s != "x.ovf x.mf x.vmdk" {
		t.Fatalf("it holds %s", s)
	}
	for _, name := range []string{"x.ovf", "x.vmdk"} {
		sum := sha256.Sum256(parts[name])
		if want := "SHA256(" + name + ")= " + hex.EncodeToString(sum[:]) + "\n"; !bytes.Contains(parts["x.mf"], []byte(want)) {
			t.Errorf("the digests do not say %s", want)
		}
	}
	for d := xml.NewDecoder(bytes.NewReader(parts["x.ovf"])); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the description is no XML: %v", err)
		}
	}
	for _, want := range []string{`ovf:transport="iso"`, `ovf:key="user-data"`, `ovf:capacity="4194304"`, `ovf:password="true"`, "0.1-test"} {
		if !bytes.Contains(parts["x.ovf"], []byte(want)) {
			t.Errorf("the description lacks %s", want)
		}
	}
	again := filepath.Join(dir, "again/x.ova")
	if err := os.Mkdir(filepath.Dir(again), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := OVA(t.Context(), box(), raw, "../files/appliance.ovf", "0.1-test", again); err != nil {
		t.Fatal(err)
	}
	first, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(again); err != nil || !bytes.Equal(first, second) {
		t.Errorf("a second package of the same differs (%v)", err)
	}
	vmdk, back := filepath.Join(dir, "back.vmdk"), filepath.Join(dir, "back.raw")
	if err := os.WriteFile(vmdk, parts["x.vmdk"], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := box().Run(t.Context(), "qemu-img", "convert", "-f", "vmdk", "-O", "raw", vmdk, back); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(back); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the disk is another one (%v)", err)
	}
}

// TestContentID: qemu-img writes the number that it draws without leading zeros, one in sixteen times shorter than ours.
func TestContentID(t *testing.T) {
	const rest = "parentCID=ffffffff\nddb.x = \"1\"\n"
	for _, row := range []struct {
		id, filling string
		fits        bool
	}{
		{"ff92ef84", "\x00", true}, {"f92ef84", strings.Repeat("\x00", 9), true}, {"4", strings.Repeat("\x00", 8), true},
		{"f92ef84", "\x00x", false}, {"", "\x00\x00", false}, {"0ff92ef84", "\x00", false},
	} {
		head := []byte("KDMV\n# Disk\nCID=" + row.id + "\n" + rest + row.filling)
		at, text := describedAnew(head)
		if (text != nil) != row.fits {
			t.Errorf("%q: %q", row.id, text)
		}
		if text == nil {
			continue
		}
		copy(head[at:], text)
		if got, want := strings.TrimRight(string(head), "\x00"), "KDMV\n# Disk\nCID=51c0ce04\n"+rest; got != want {
			t.Errorf("%q: it becomes %q", row.id, got)
		}
	}
}
