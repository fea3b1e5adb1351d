package sbom

import (
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdx/v2/v2_3"

	"sluice/image/tool"
)

func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhoseAFileIs(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"tar.list": "/.\n/bin\n/bin/tar\n", "libc6:amd64.list": "/lib/x86_64-linux-gnu/libc.so.6\n/usr/share/doc/libc6/copyright\n"})
	o, err := readOwners(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.add("/usr/lib/modules/", "linux-image")
	for name, want := range map[string]string{
		"/usr/bin/tar": "tar", "/usr/lib/x86_64-linux-gnu/libc.so.6": "libc6", "/usr/share/doc/libc6/copyright": "libc6",
		"/usr/lib/modules/6/kernel/a.ko": "linux-image", "/etc/ssl/certs/a.pem": "ca-certificates", "/usr/bin/unknown": "", "/bin": "tar",
	} {
		if got := o.of(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
	if _, err := readOwners(t.TempDir()); err == nil {
		t.Error("a folder without lists is taken")
	}
}

// root makes a small root with a package, a kernel and a program of Go, and what describes it.
func root(t *testing.T) Input {
	t.Helper()
	dir := t.TempDir()
	lay(t, dir, map[string]string{
		"tree/usr/bin/tar": "a", "tree/usr/lib/modules/6/a.ko": "b", "tree/etc/sluice/release": "c", "tree/etc/systemd/system/own.service": "d",
		"source/image/files/etc/systemd/system/own.service": "d",
		"admin/info/tar.list":                               "/bin/tar\n",
		"admin/status": "Package: tar\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1.34+dfsg-1\nMaintainer: x <x@example.com>\nDescription: x\n\n" +
			"Package: gone\nStatus: install ok installed\nArchitecture: amd64\nSource: source-of-gone (2)\nVersion: 1\nMaintainer: x <x@example.com>\nDescription: x\n",
		"deb/DEBIAN/control": "Package: linux-image-6\nVersion: 6.1-1\nArchitecture: amd64\nMaintainer: x <x@example.com>\nDescription: x\n",
	})
	if out, err := exec.Command("dpkg-deb", "-b", filepath.Join(dir, "deb"), filepath.Join(dir, "kernel.deb")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program := filepath.Join(dir, "program")
	if out, err := exec.Command("go", "build", "-o", program, "sluice/image").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return Input{
		Tree: filepath.Join(dir, "tree"), Admin: filepath.Join(dir, "admin"), Source: filepath.Join(dir, "source"), Kernel: filepath.Join(dir, "kernel.deb"),
		Version: "0.1-test", Flavour: "vm", Programs: []string{program},
	}
}

func box() tool.Box { return tool.Box{Epoch: time.Unix(1764460800, 0), Log: io.Discard} }

// TestTheDocument reads the document as anybody would, and looks each file up.
func TestTheDocument(t *testing.T) {
	in := root(t)
	file := filepath.Join(t.TempDir(), "x.spdx.json")
	if err := Write(t.Context(), box(), in, file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc v2_3.Document
	if err := json.ReadInto(bytes.NewReader(text), &doc); err != nil {
		t.Fatalf("no SPDX: %v", err)
	}
	names, of := map[string]string{}, map[string]string{}
	for _, p := range doc.Packages {
		names[string(p.PackageSPDXIdentifier)] = p.PackageName + " " + p.PackageVersion
	}
	for _, r := range doc.Relationships {
		of[string(r.RefB.ElementRefID)] = names[string(r.RefA.ElementRefID)]
	}
	got := map[string]string{}
	for _, f := range doc.Files {
		got[f.FileName] = of[string(f.FileSPDXIdentifier)]
	}
	for name, want := range map[string]string{
		"./usr/bin/tar": "tar 1.34+dfsg-1", "./usr/lib/modules/6/a.ko": "linux-image-6 6.1-1", "./etc/sluice/release": "sluice 0.1-test", "./etc/systemd/system/own.service": "sluice 0.1-test",
	} {
		if got[name] != want {
			t.Errorf("%s is said to be of %q, want %q", name, got[name], want)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d files are listed, there are 4", len(got))
	}
	for _, want := range []string{"pkg:golang/std@", "pkg:golang/github.com/spdx/tools-golang@", "pkg:deb/debian/tar@1.34%2Bdfsg-1?arch=amd64", "pkg:deb/debian/grub-pc-bin@"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("nothing is said of %s", want)
		}
	}
	if strings.Contains(string(text), "pkg:deb/debian/gone@") {
		t.Error("a package is listed of which no file is left")
	}
	again := filepath.Join(t.TempDir(), "again")
	if err := Write(t.Context(), box(), in, again); err != nil {
		t.Fatal(err)
	}
	if second, err := os.ReadFile(again); err != nil || !bytes.Equal(text, second) {
		t.Errorf("a second document of the same differs (%v)", err)
	}
}

func TestAFileOfNobodyIsRefused(t *testing.T) {
	in := root(t)
	lay(t, in.Tree, map[string]string{"opt/stray": "x"})
	err := Write(t.Context(), box(), in, filepath.Join(t.TempDir(), "x"))
	if err == nil || !strings.Contains(err.Error(), "/opt/stray") {
		t.Errorf("%v", err)
	}
}

func TestTheDigestOfAPackagesFiles(t *testing.T) {
	a, b := sha1.Sum([]byte("a")), sha1.Sum([]byte("b"))
	file := func(sum [20]byte) *v2_3.File {
		return &v2_3.File{Checksums: []common.Checksum{{Algorithm: common.SHA1, Value: hex.EncodeToString(sum[:])}}}
	}
	if x, y := verification([]*v2_3.File{file(a), file(b)}), verification([]*v2_3.File{file(b), file(a)}); x != y || len(x) != hex.EncodedLen(20) {
		t.Errorf("the digest depends on the order: %s, %s", x, y)
	}
}
