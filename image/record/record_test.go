package record

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestRecordComesBackAsItWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "boot.yaml")
	yes := true
	want := &Record{
		Management: "52:54:00:00:00:01", Platform: "virtual",
		Ports:     []Port{{"1/1", "52:54:00:00:00:02"}, {"1/2", "0000:00:05.0"}},
		Overrides: Overrides{Workers: 2, Busy: &yes, Isolate: "1-2"},
		Users:     []User{{Name: "nsroot", PasswordHash: "$argon2id$x", AuthorizedKeys: []string{"ssh-ed25519 AAAA me"}}},
		FirstBoot: FirstBoot{Source: "NoCloud", Instance: "i-1", Problems: []string{"a: b"}},
		Rest:      map[string]any{"of-a-newer-release": []any{"kept", 1}},
	}
	for range 2 { // the second time over a file that is there
		if err := want.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("the record is %+v, %v, want %+v", got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the record's mode is %v, %v, want 0600", info.Mode(), err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files are left beside the record, want it alone", len(entries))
	}
}

func TestRecordThatIsNotThere(t *testing.T) {
	if r, err := Read(filepath.Join(t.TempDir(), "none")); err != nil || !reflect.DeepEqual(r, &Record{}) {
		t.Errorf("a record that is not there is %+v, %v", r, err)
	}
}

func TestDamagedRecordIsEmptyAndSaysSo(t *testing.T) {
	for text, want := range map[string]string{
		"ports: 7":             "cannot unmarshal",
		"ports: [{name: 1/1}]": "needs a name and a nic",
		"ports: [{name: 1/1, nic: a}, {name: 1/1, nic: b}]": "1/1 stands twice",
		"ports: [{name: 1/1, nic: a}, {name: 1/2, nic: a}]": "NIC a stands twice",
		"users: [{password-hash: x}]":                       "has no name",
		"\x00\x01":                                          "control characters",
		strings.Repeat("#", Largest+1):                      "are the most",
	} {
		path := filepath.Join(t.TempDir(), "boot.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%.40q: %v, want %q with the file's name", text, err, want)
		}
		if !reflect.DeepEqual(r, &Record{}) {
			t.Errorf("%.40q gives %+v, want an empty record", text, r)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("management: none\nports: [{name: 1/1, nic: 52:54:00:00:00:02}]\nusers: [{name: nsroot}]\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Parse(text)
		if (r == nil) == (err == nil) {
			t.Errorf("%q gives %v and %v", text, r, err)
		}
	})
}
