package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/image/bundle"
	"sluice/tests/lab/topology"
)

// offer puts a bundle where the operators' machine serves it by HTTP, and returns its URL.
func offer(t *testing.T, name string, content []byte) string {
	t.Helper()
	dir := lab.Path("bundles")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := lab.Pid("ops-httpd"); err != nil {
		if err := lab.Start("ops", "ops-httpd", "busybox", "httpd", "-f", "-p", topology.OpsIP+":80", "-h", dir); err != nil {
			t.Fatal(err)
		}
	}
	return "http://" + topology.OpsIP + "/" + name
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// unsound is a bundle that is signed rightly and whose root file system is none.
func unsound(t *testing.T) []byte {
	t.Helper()
	key, err := bundle.ReadPrivate(os.Getenv("SLUICE_KEY"))
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "root.sqfs")
	if err := os.WriteFile(root, bytes.Repeat([]byte("no file system\n"), 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(images, "work-vm")
	var release struct{ Version string }
	if err := json.Unmarshal(read(t, filepath.Join(work, "root/etc/sluice/release")), &release); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	m := bundle.Manifest{Version: release.Version + "-unsound", Flavour: "vm", Schema: 1}
	files := bundle.Files{Kernel: filepath.Join(work, "vmlinuz"), Initrd: filepath.Join(work, "initrd.img"), Root: root}
	if _, err := bundle.Write(&out, m, files, key); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// install installs a bundle and starts it; the machine says what becomes of it.
func (g *guest) install(t *testing.T, url, verdict string) {
	t.Helper()
	cmd := g.OpenSSH([]string{"timeout", "900", "ssh"}, "install image "+url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("install image %s: %v: %s", url, err, out)
	}
	t.Logf("%s", out)
	began := time.Now()
	_, _ = g.Shell("reboot -f") // the session goes with it
	if _, err := g.vm.Console.Wait(patience, verdict); err != nil {
		t.Fatal(err)
	}
	t.Logf("%q on the console %.0f s after reboot", verdict, time.Since(began).Seconds())
	if err := g.ready(patience); err != nil {
		t.Fatal(err)
	}
	if err := g.Settled(patience, "web"); err != nil {
		t.Fatal(err)
	}
	served(t, 9)
}

// TestUpgrade: a bundle is written to the other slot, comes up and is kept; one that does not come up returns by itself. What is not
// signed, or not whole, is refused and changes nothing.
func TestUpgrade(t *testing.T) {
	good := read(t, filepath.Join(images, "sluice-vm.bundle"))
	g := newMachine(t, 0, "virtio-net-pci")
	g.boot(t, g.userData(topology.BasicScript()))
	g.do(t, "add server kept 10.2.0.78", "save ns config")
	forged := bytes.Clone(good)
	if i := bytes.Index(forged, []byte(`"version"`)); i < 0 {
		t.Fatal("the bundle has no manifest")
	} else {
		forged[i+len(`"version": "`)]++
	}
	for _, r := range []struct {
		name, want string
		content    []byte
	}{{"forged.bundle", "signature", forged}, {"short.bundle", "bytes", good[:len(good)/2]}} {
		if out, err := g.Shell("install image " + offer(t, r.name, r.content)); err == nil || !strings.Contains(err.Error()+out, r.want) {
			t.Errorf("%s: %v\n%s", r.name, err, out)
		}
	}
	g.install(t, offer(t, "good.bundle", good), "has come up and is kept")
	g.shows(t, "show image", "Slot B:\tRunning")
	g.shows(t, "show server kept", "10.2.0.78")
	g.install(t, offer(t, "unsound.bundle", unsound(t)), "was tried and is not kept")
	g.shows(t, "show image", "Slot B:\tRunning")
	g.shows(t, "show server kept", "10.2.0.78")
}

// shows fails unless the answer to a line holds the words.
func (g *guest) shows(t *testing.T, line, words string) {
	t.Helper()
	if out, err := g.Shell(line); err != nil || !strings.Contains(out, words) {
		t.Errorf("%s does not say %q: %v\n%s", line, words, err, out)
	}
}
