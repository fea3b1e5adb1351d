package store

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/vendor-config/schema"
)

// part is an entry of an archive that somebody has made by hand.
type part struct {
	tar.Header
	data string
}

// forged is an archive with that manifest and those entries behind it.
func forged(t testing.TB, m Manifest, parts ...part) []byte {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, p := range append([]part{{tar.Header{Name: manifestName, Typeflag: tar.TypeReg}, string(text)}}, parts...) {
		p.Size, p.Mode = int64(len(p.data)), 0o777
		if err := w.WriteHeader(&p.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(p.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func plainPart(name, data string) part {
	return part{tar.Header{Name: name, Typeflag: tar.TypeReg}, data}
}

func entry(name, data string) Entry {
	sum := sha256.Sum256([]byte(data))
	return Entry{Name: name, Size: int64(len(data)), Sum: hex.EncodeToString(sum[:]), Mode: 0o755}
}

func TestArchivesThatAreRefused(t *testing.T) {
	of := func(e ...Entry) Manifest { return Manifest{Form: archiveForm, Files: e} }
	config := entry(File, "<x/>")
	huge := config
	huge.Size = maxFile + 1
	var many []Entry
	for n := range archiveFiles + 1 {
		many = append(many, entry(fmt.Sprintf("ssl/%d", n), ""))
	}
	for _, row := range []struct {
		name, want string
		file       []byte
	}{
		{"no gzip", "not compressed", []byte("PK")},
		{"no manifest", "manifest", forged(t, of(config))[:20]},
		{"another form", "form 9", forged(t, Manifest{Form: 9})},
		{"no configuration", "no configuration", forged(t, of(entry("ssl/a", "x")), plainPart("ssl/a", "x"))},
		{"a file is missing", "missing", forged(t, of(config))},
		{"a file too many", "not in its manifest", forged(t, of(config), plainPart(File, "<x/>"), plainPart("ssl/a", "x"))},
		{"a file twice", "twice", forged(t, of(config), plainPart(File, "<x/>"), plainPart(File, "<x/>"))},
		{"said twice", "twice", forged(t, of(config, config), plainPart(File, "<x/>"))},
		{"another content", "checksum", forged(t, of(config), plainPart(File, "<y/>"))},
		{"another length", "not as long", forged(t, of(config), plainPart(File, "<yy/>"))},
		{"too large", "too large", forged(t, of(huge), plainPart(File, "<x/>"))},
		{"too many files", "more than", forged(t, of(append(many, config)...), plainPart(File, "<x/>"))},
		{"a link", "no plain file", forged(t, of(config, entry("ssl/a", "")), plainPart(File, "<x/>"), part{tar.Header{Name: "ssl/a", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""})},
		{"a hard link", "no plain file", forged(t, of(config, entry("ssl/a", "")), plainPart(File, "<x/>"), part{tar.Header{Name: "ssl/a", Typeflag: tar.TypeLink, Linkname: File}, ""})},
		{"a way out", "no place", forged(t, of(config, entry("ssl/../../etc/passwd", "x")))},
		{"an absolute path", "no place", forged(t, of(config, entry("/etc/passwd", "x")))},
		{"the settings", "no place", forged(t, of(config, entry("mgmt.yaml", "x")))},
		{"a hidden file", "no place", forged(t, of(config, entry("ssl/.restore/x", "x")))},
		{"the history", "no place", forged(t, of(config, entry("history/1.xml.gz", "x")))},
		{"cut off", "damaged", forged(t, of(config, entry("ssl/a", strings.Repeat("x", 9999))), plainPart(File, "<x/>"), plainPart("ssl/a", strings.Repeat("x", 9999)))[:350]},
	} {
		a, err := unpack(bytes.NewReader(row.file), []string{"banner"})
		if err == nil || !strings.Contains(err.Error(), row.want) || a != nil {
			t.Errorf("%s: %v, want %q in it", row.name, err, row.want)
		}
	}
	if _, err := unpack(bytes.NewReader(forged(t, of(config, entry("banner", "hi")), plainPart(File, "<x/>"), plainPart("banner", "hi"))), []string{"banner"}); err != nil {
		t.Errorf("a right one: %v", err)
	}
}

func FuzzArchive(f *testing.F) {
	config := entry(File, "<x/>")
	f.Add(forged(f, Manifest{Form: archiveForm, Files: []Entry{config}}, plainPart(File, "<x/>")))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := unpack(bytes.NewReader(data), nil)
		if (a == nil) == (err == nil) {
			t.Fatalf("%v with %v", a, err)
		}
		if a != nil && a.File(File) == nil {
			t.Fatal("it has no configuration")
		}
	})
}

// putFile puts a file below the directory.
func putFile(t *testing.T, dir, name, text string, mode os.FileMode) {
	t.Helper()
	name = filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), mode), os.Chmod(name, mode)); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, dir, name, want string) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || string(got) != want {
		t.Errorf("%s: %q, %v, want %q", name, got, err, want)
	}
}

// aBackup is a store whose backup "b" holds one certificate and one script, which have changed since.
func aBackup(t *testing.T) (*Store, *Archive) {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "ssl/a.pem", "old", 0o600)
	putFile(t, dir, "monitors/m.sh", "old", 0o755)
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "ssl/out")); err != nil {
		t.Fatal(err)
	}
	skipped, err := s.Backup("b", schema.New(), Manifest{Level: "basic"}, []string{"banner"})
	if err != nil || len(skipped) != 1 || skipped[0] != "ssl/out" {
		t.Fatalf("skipped %v, %v", skipped, err)
	}
	putFile(t, dir, "ssl/a.pem", "new", 0o600)
	putFile(t, dir, "monitors/m.sh", "new", 0o755)
	a, err := s.ReadBackup("b", nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, a
}

// TestRestoreCutOff: who is killed at any step has all of the backup, or nothing of it, at the next start.
func TestRestoreCutOff(t *testing.T) {
	killed := func(t *testing.T, step func(s *Store, a *Archive), done bool, want string) {
		s, a := aBackup(t)
		step(s, a)
		s, err := Open(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second start has nothing to do
			got, err := s.FinishRestore()
			if err != nil || got != done {
				t.Fatalf("finished %v, %v", got, err)
			}
			done = false
		}
		holds(t, s.dir, "ssl/a.pem", want)
		holds(t, s.dir, "monitors/m.sh", want)
		if _, err := os.Stat(s.Path()); (err == nil) != (want == "old") {
			t.Errorf("startup file: %v", err)
		}
		if info, err := os.Stat(filepath.Join(s.dir, "monitors/m.sh")); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("the script: %v, %v", info.Mode(), err)
		}
		left, _ := filepath.Glob(filepath.Join(s.dir, ".restore*"))
		if len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	move := func(s *Store, from, to string) {
		if err := os.Rename(filepath.Join(s.dir, from), filepath.Join(s.dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	stage := func(s *Store, a *Archive) {
		if err := s.Stage(a); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("while laying", func(t *testing.T) {
		killed(t, func(s *Store, a *Archive) { stage(s, a); move(s, RestoreDir, restoreMade) }, false, "new")
	})
	t.Run("laid", func(t *testing.T) { killed(t, stage, true, "old") })
	t.Run("one placed", func(t *testing.T) {
		killed(t, func(s *Store, a *Archive) { stage(s, a); move(s, RestoreDir+"/ssl/a.pem", "ssl/a.pem") }, true, "old")
	})
	t.Run("all placed", func(t *testing.T) {
		killed(t, func(s *Store, a *Archive) { stage(s, a); _ = s.Place(); move(s, RestoreDir+"/"+File, File) }, true, "old")
	})
}

// full is a file on a disk that has no room.
type full struct{ *os.File }

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestBackupOnAFullDisk(t *testing.T) {
	s, _ := aBackup(t)
	s.disk.create = func(dir string) (file, error) {
		f, err := os.CreateTemp(dir, File+".tmp-*")
		return full{f}, err
	}
	_, err := s.Backup("c", schema.New(), Manifest{}, nil)
	if err == nil || !strings.Contains(err.Error(), "not made, nothing has changed: no space left") {
		t.Errorf("%v", err)
	}
	all, err := s.Backups("")
	if err != nil || len(all) != 1 || all[0].Name != "b" || all[0].Fault != "" {
		t.Errorf("%v, %v", all, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, File+".tmp-*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
