package root

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lay makes files with their content below a new folder.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRootsThatMustNotBeShipped(t *testing.T) {
	clean := map[string]string{"etc/machine-id": "", "etc/shadow": "root:*:20000:0:99999:7:::\n", "usr/bin/true": "x"}
	if err := check(lay(t, clean), nil); err != nil {
		t.Fatalf("a clean root is refused: %v", err)
	}
	for _, row := range []struct{ file, text, want string }{
		{"etc/apt/sources.list", "deb x", "/etc/apt/sources.list"},
		{"etc/apt/sources.list.d/debian.sources", "", "/etc/apt/sources.list.d"},
		{"var/lib/apt/lists/x", "", "/var/lib/apt/lists"},
		{"etc/machine-id", "0123456789abcdef0123456789abcdef\n", "machine-id"},
		{"etc/ssh/ssh_host_ed25519_key", "", "host key"},
		{"config/ssh_host_key", "", "host key"},
		{"etc/shadow", "root::20000:0:99999:7:::\n", "root could log in"},
		{"etc/shadow", "root:*:20000:0:99999:7:::\noperator:$y$x:20000:0:99999:7:::\n", "operator could log in"},
		{"usr/share/doc/p/origin", "fetched from mirror.example today", "mirror.example"},
		{"var/lib/dpkg/status", "X: http://mirror.example/debian", "mirror.example"},
	} {
		files := map[string]string{}
		for k, v := range clean {
			files[k] = v
		}
		files[row.file] = row.text
		if err := check(lay(t, files), []string{"mirror.example"}); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want a word of %s", row.file, err, row.want)
		}
	}
}

func TestNobodyCanLogInByTheSystemsAccounts(t *testing.T) {
	dir := lay(t, map[string]string{"shadow": "root:$y$abc:20000:0:99999:7:::\nnobody::20000:0:99999:7:::\n", "bad": "root:x\n"})
	if err := lockRoot(filepath.Join(dir, "shadow")); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "shadow"))
	if want := "root:*:20000:0:99999:7:::\nnobody:*:20000:0:99999:7:::\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if err := lockRoot(filepath.Join(dir, "bad")); err == nil {
		t.Error("what is no shadow file is taken")
	}
}

func TestOurFilesReplaceThoseOfPackages(t *testing.T) {
	from := lay(t, map[string]string{"a/plain": "ours", "run": "#!/bin/sh"})
	dir := lay(t, map[string]string{"a/plain": "theirs", "a/other": "theirs"})
	if err := os.Chmod(filepath.Join(from, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{from, dir} { // a link is replaced, never followed
		if err := os.Symlink("/dev/null", filepath.Join(at, "a/masked")); err != nil {
			t.Fatal(err)
		}
	}
	if err := overlay(from, dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a/plain": "ours", "a/other": "theirs", "run": "#!/bin/sh"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(dir, "a/masked")); to != "/dev/null" || err != nil {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "run")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("a program is not executable: %v", err)
	}
}
