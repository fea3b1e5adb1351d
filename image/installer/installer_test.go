package installer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/image/bundle"
)

// machine lays out what a kernel says of disks: name -> size in sectors, read-only, model.
func machine(t *testing.T) string {
	t.Helper()
	sys := t.TempDir()
	file := func(name, text string) {
		path := filepath.Join(sys, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []struct{ name, size, ro, model string }{
		{"sda", "1000000000", "0", "FAST\x1b[2J DISK  9\n"}, {"nvme0n1", "2000000000", "0", "Flash"}, {"sdb", "61440000", "0", "Stick"},
		{"sdc", "1000000000", "1", "Locked"}, {"sdd", "1000", "0", "Tiny"}, {"sde", "-5", "0", "Odd"}, {"sdf", "no number", "0", "Odder"}, {"sr0", "1000000000", "0", "CD"},
	} {
		file("block/"+d.name+"/size", d.size+"\n")
		file("block/"+d.name+"/ro", d.ro+"\n")
		file("block/"+d.name+"/device/model", d.model)
	}
	file("block/loop0/size", "1000000000\n")
	file("block/loop0/ro", "0\n")
	file("block/sdb/sdb1/partition", "1\n")
	for _, name := range []string{"sda", "sdb", "sdb/sdb1"} {
		link := filepath.Join(sys, "class/block", filepath.Base(name))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(sys, "block", name), link); err != nil {
			t.Fatal(err)
		}
	}
	return sys
}

func TestWhichDisksCanBeWrittenTo(t *testing.T) {
	disks, err := Disks(machine(t), "sdb", least)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range disks {
		got = append(got, d.String())
	}
	want := "nvme0n1, 1024.0 GB, Flash|sda, 512.0 GB, FAST [2J DISK 9"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("%q, want %q", s, want)
	}
	if _, err := Disks(t.TempDir(), "", 0); err == nil {
		t.Error("a machine that says nothing of its disks has some")
	}
}

func TestTheMediumsDisk(t *testing.T) {
	sys := machine(t)
	for name, want := range map[string]string{"sdb1": "sdb", "sda": "sda"} {
		if got, err := Whole(sys, name); got != want || err != nil {
			t.Errorf("%s lies on %q, %v", name, got, err)
		}
	}
	if _, err := Whole(sys, "none"); err == nil {
		t.Error("a device that is not there has a disk")
	}
}

// TestNothingIsWrittenUnlessItIsSaidSo gives answers that must not lead to an installation.
func TestNothingIsWrittenUnlessItIsSaidSo(t *testing.T) {
	dev := t.TempDir()
	for _, name := range []string{"sda", "nvme0n1", "sdb"} {
		if err := os.WriteFile(filepath.Join(dev, name), []byte("precious"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		answers string
		restart bool
	}{
		{"restart\n", true},
		{"\n3\n0\n-1\nsda\nerase\nrestart\n", true},
		{"1\nyes\n1\n\n2\nERASE\nrestart\n", true},
		{"1\n", false},
		{"", false},
		{strings.Repeat("x", 10000) + "\n", false},
	} {
		restarted := false
		var out bytes.Buffer
		err := Dialogue{
			In: strings.NewReader(row.answers), Out: &out, Sys: machine(t), Dev: dev, Medium: t.TempDir(), Own: "sdb", Lock: filepath.Join(dev, "lock"),
			Restart: func() error { restarted = true; return nil },
		}.Run(t.Context())
		if restarted != row.restart || (err == nil) != row.restart {
			t.Errorf("%.40q: restarted %v, %v", row.answers, restarted, err)
		}
		if !strings.Contains(out.String(), "nvme0n1") {
			t.Errorf("%.40q: no disk is named: %s", row.answers, out.String())
		}
	}
	for _, name := range []string{"sda", "nvme0n1", "sdb"} {
		if text, err := os.ReadFile(filepath.Join(dev, name)); string(text) != "precious" || err != nil {
			t.Errorf("%s was changed", name)
		}
	}
}

// TestAMediumThatIsDamaged is refused before the disk is touched, and the dialogue goes on.
func TestAMediumThatIsDamaged(t *testing.T) {
	dev, medium := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(dev, "sda"), []byte("precious"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(medium, bundle.ManifestName), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err := Dialogue{
		In: strings.NewReader("2\nerase\nrestart\n"), Out: &out, Sys: machine(t), Dev: dev, Medium: medium, Own: "sdb", Lock: filepath.Join(dev, "lock"),
		Restart: func() error { return errors.New("restarted") },
	}.Run(t.Context())
	if err == nil || err.Error() != "restarted" || !strings.Contains(out.String(), "the medium is damaged") {
		t.Errorf("%v: %s", err, out.String())
	}
	if text, _ := os.ReadFile(filepath.Join(dev, "sda")); string(text) != "precious" {
		t.Error("the disk was changed")
	}
}

func TestWhatIsWrittenIsHeldToTheManifest(t *testing.T) {
	device := filepath.Join(t.TempDir(), "disk")
	content := []byte("a root file system")
	sum := sha256.Sum256(content)
	part := bundle.Part{Name: bundle.Root, Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
	for _, row := range []struct {
		text string
		good bool
	}{{string(content), true}, {"a root file systen", false}, {"a root", false}, {string(content) + "!", false}} {
		if err := os.WriteFile(device, make([]byte, 100), 0o644); err != nil {
			t.Fatal(err)
		}
		err := write(device, strings.NewReader(row.text), part, "the medium")
		if (err == nil) != row.good || (err != nil && !strings.Contains(err.Error(), "damaged")) {
			t.Errorf("%q: %v", row.text, err)
		}
	}
	if err := write("/dev/full", bytes.NewReader(content), part, "the medium"); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("a full disk: %v", err)
	}
}
