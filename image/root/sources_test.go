package root

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOnlyDebiansOwnIndexesAreTaken(t *testing.T) {
	got := parseSources(`Debian|bookworm|amd64|http://a.example/debian/|bookworm|main|/lists/a
Debian|bookworm-security|amd64|http://a.example/debian-security/|bookworm-security|main|/lists/b
Debian|bookworm-security|amd64|http://a.example/debian-security/|bookworm-security|main|/lists/b
Debian|bookworm|i386|http://a.example/debian/|bookworm|main|/lists/c
Debian Backports|bookworm-backports|amd64|http://a.example/debian/|bookworm-backports|main|/lists/d
Debian|bookworm-backports|amd64|http://a.example/debian/|bookworm-backports|main|/lists/d
Debian|trixie|amd64|http://a.example/debian/|trixie|main|/lists/e
Some Vendor|stable|amd64|https://b.example/apt/|stable|main|/lists/f
nonsense
`)
	want := []source{
		{"http://a.example/debian-security/", "bookworm-security", "main", "/lists/b"},
		{"http://a.example/debian/", "bookworm", "main", "/lists/a"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTheTarballsNameFollowsWhatItIsMadeOf(t *testing.T) {
	index := filepath.Join(t.TempDir(), "Packages")
	key := func(content string, packages ...string) string {
		if err := os.WriteFile(index, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		k, err := baseKey([]source{{Release: "bookworm", Component: "main", File: index}}, packages)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := key("one", "a", "b")
	if again := key("one", "a", "b"); again != first {
		t.Errorf("the same gives %s and %s", first, again)
	}
	if key("two", "a", "b") == first || key("one", "a") == first {
		t.Error("another index or another list of packages has the same name")
	}
	if _, err := baseKey([]source{{Release: "bookworm", File: index + ".none"}}, nil); err == nil {
		t.Error("an index that is not there is taken")
	}
}

func TestPackageLists(t *testing.T) {
	for _, row := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"# only words\n\n", nil},
		{"b # why\na\nb\n", []string{"a", "b"}},
		{"a b\n", nil},
	} {
		file := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(file, []byte(row.text), 0o644); err != nil {
			t.Fatal(err)
		}
		got, err := readPackages(file)
		if (err != nil) != (row.text == "a b\n") || !slices.Equal(got, row.want) {
			t.Errorf("%q: %v, %v", row.text, got, err)
		}
	}
	for _, list := range []string{"../files/packages.list"} {
		if names, err := readPackages(list); err != nil || len(names) < 10 {
			t.Errorf("%s: %d packages, %v", list, len(names), err)
		}
	}
}

func TestWhatAptSaysOfAKernel(t *testing.T) {
	if got := dependsOn("linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-9-cloud-amd64\n", "linux-image-"); got != "linux-image-6.1.0-9-cloud-amd64" {
		t.Errorf("the kernel is %q", got)
	}
	if got := dependsOn("", "linux-image-"); got != "" {
		t.Errorf("the kernel of nothing is %q", got)
	}
	file, sum, err := parseURI("'http://a.example/x/linux_1_amd64.deb' linux_1_amd64.deb 123 SHA256:abcd\n")
	if file != "linux_1_amd64.deb" || sum != "abcd" || err != nil {
		t.Errorf("%q %q %v", file, sum, err)
	}
	for _, bad := range []string{"", "'u' f 1", "'u' f 1 MD5Sum:00", "'u' ../f 1 SHA256:00"} {
		if _, _, err := parseURI(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
