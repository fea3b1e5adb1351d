package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/image/bundle"
)

// TestUpgradeLosesPower: the power is cut while an image is written, between the steps, and while it is tried; a slot is damaged after it
// was found right; an image has no room. Each time the machine runs again by itself and says what became of it.
func TestUpgradeLosesPower(t *testing.T) {
	if !full() {
		return
	}
	url := offer(t, "good.bundle", read(t, filepath.Join(images, "sluice-vm.bundle")))
	g := newMachine(t, 0, "virtio-net-pci")
	if err := g.seed(g.userData("")); err != nil {
		t.Fatal(err)
	}
	g.again(t, "")
	g.do(t, "add server kept 10.2.0.78", "save ns config")
	if out, err := g.Shell("install image " + offer(t, "large.bundle", large(t))); err == nil || !strings.Contains(err.Error()+out, "The image is too large") {
		t.Errorf("an image without room: %v\n%s", err, out)
	}

	g.until(t, "install image "+url, "is written to slot B")
	g.again(t, "")
	g.shows(t, "show image", "Slot A:\tRunning, Started next")
	g.shows(t, "show image", "Slot B:\tIdle\n\tEmpty")

	g.until(t, "install image "+url, "The next start tries slot B")
	g.again(t, "has come up and is kept") // any start is the next one
	g.shows(t, "show image", "Slot B:\tRunning, Started next")

	g.do(t, "install image "+url)
	_, _ = g.Shell("reboot -f")
	if _, err := g.vm.Console.Wait(patience, "sluice: slot A with "); err != nil { // it runs, and is on trial
		t.Fatal(err)
	}
	g.stop()
	g.again(t, "was tried and is not kept: it did not come up")
	g.shows(t, "show image", "Slot B:\tRunning, Started next")
	g.shows(t, "show image", "Not kept, slot B came back: it did not come up")

	g.do(t, "set image -boot A", "shell dd if=/dev/zero of=/dev/vda3 bs=1M count=1 conv=fsync")
	_, _ = g.Shell("reboot -f")
	if _, err := g.vm.Console.Wait(patience, "was tried and is not kept"); err != nil {
		t.Fatal(err)
	}
	if err := g.ready(patience); err != nil {
		t.Fatal(err)
	}
	g.shows(t, "show image", "Slot B:\tRunning, Started next")
	g.shows(t, "show server kept", "10.2.0.78")
}

// until gives a command whose text comes while it runs, and cuts the power when it says that.
func (g *guest) until(t *testing.T, line, words string) {
	t.Helper()
	cmd := g.OpenSSH([]string{"timeout", "900", "ssh"}, line)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := false
	for in := bufio.NewScanner(out); !said && in.Scan(); {
		said = strings.Contains(in.Text(), words)
	}
	g.stop()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if !said {
		t.Fatalf("%s does not say %q", line, words)
	}
}

// again starts the machine, and waits until the console says the words, if there are any, and the shell answers.
func (g *guest) again(t *testing.T, words string) {
	t.Helper()
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	if words != "" {
		if _, err := g.vm.Console.Wait(patience, words); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.ready(patience); err != nil {
		t.Fatal(err)
	}
}

// large is a bundle that is signed rightly and has no room in any slot that is tested.
func large(t *testing.T) []byte {
	t.Helper()
	key, err := bundle.ReadPrivate(os.Getenv("SLUICE_KEY"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := bundle.Files{Kernel: filepath.Join(dir, "k"), Initrd: filepath.Join(dir, "i"), Root: filepath.Join(dir, "r")}
	for name, size := range map[string]int64{files.Kernel: 1, files.Initrd: 1, files.Root: 600 << 20} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, size); err != nil {
			t.Fatal(err)
		}
	}
	begin := &beginning{most: 64 << 10} // nobody reads more of it than its manifest
	if _, err := bundle.Write(begin, bundle.Manifest{Version: "9", Flavour: "vm", Schema: 1}, files, key); err != nil {
		t.Fatal(err)
	}
	return begin.kept
}

// beginning keeps the first bytes of what is written.
type beginning struct {
	kept []byte
	most int
}

func (b *beginning) Write(p []byte) (int, error) {
	b.kept = append(b.kept, p[:min(len(p), b.most-len(b.kept))]...)
	return len(p), nil
}
