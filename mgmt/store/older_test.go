package store

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// TestOlderFiles: startup files that earlier commits of this program have written, whose names the files bear, are read whole, and
// saved again they say the same.
func TestOlderFiles(t *testing.T) {
	files, _ := filepath.Glob("testdata/older/*.xml")
	if len(files) < 3 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := open(t)
		write(t, s, string(data))
		c, problems, err := s.Load()
		if err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", file, err, problems)
			continue
		}
		if got, _ := os.ReadFile(s.Path()); string(got) != string(data) {
			t.Errorf("%s: reading it has changed it", file)
		}
		if err := s.Save(c, Meta{}); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(s.Path())
		if sorted(got) != sorted(data) {
			t.Errorf("%s: it says something else now:\n%s", file, sorted(got)+"\nbefore\n"+sorted(data))
		}
		if left, _ := filepath.Glob(s.Path() + ".broken-*"); len(left) > 0 {
			t.Errorf("%s is taken for a damaged one", file)
		}
	}
}

// row is one row of a file.
var row = regexp.MustCompile(`(?m)^    <[a-z0-9-]+>\n(      .*\n)*    </[a-z0-9-]+>\n`)

// sorted are the rows of a file, whatever their order.
func sorted(data []byte) string {
	rows := row.FindAllString(string(data), -1)
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// TestFilesOfANewerRelease: what a newer program has written is not read, and not lost: it stays where it is, or is put aside by a save.
// The NSIP is there, so that somebody can come and look.
func TestFilesOfANewerRelease(t *testing.T) {
	newer := `<?xml version="1.0" encoding="UTF-8"?>
<?sluice version="999" saved-by="x" saved-at="2027-01-01T00:00:00Z"?>
<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><sluice xmlns="urn:sluice:config">
<ns-ip><ip-address>10.1.0.5</ip-address><netmask>255.255.255.0</netmask><type>NSIP</type></ns-ip>
<route><network>0.0.0.0</network><netmask>0.0.0.0</netmask><gateway>10.1.0.1</gateway></route>
<server><name>a</name><ip-address>10.2.0.1</ip-address></server></sluice></config>
`
	s := open(t)
	write(t, s, newer)
	c, problems, err := s.Load()
	if err == nil || len(problems) > 0 || !strings.Contains(err.Error(), "written by a newer release: its schema has version 999, this one knows up to 1") {
		t.Fatalf("%v %v", err, problems)
	}
	if len(schema.All[schema.NSIP](c)) != 1 || len(schema.All[schema.Route](c)) != 1 || len(schema.All[schema.Server](c)) != 0 {
		t.Error("not just the NSIP and its route are in force")
	}
	if got, _ := os.ReadFile(s.Path()); string(got) != newer {
		t.Error("reading it has changed it")
	}
	if err := s.Save(servers("b"), Meta{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(s.Path() + ".broken-1"); string(got) != newer {
		t.Error("saving has lost it")
	}
	if got := loaded(t, s); got != "b" {
		t.Errorf("saved is %q", got)
	}
	// The journal, the way back and a version of the history of a newer release.
	s.Record(servers("b", "c"), at(1))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepReturn(wayBack("a")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{JournalFile, ReturnFile} {
		path := filepath.Join(s.dir, name)
		data, _ := os.ReadFile(path)
		older := strings.Replace(string(data), `<?sluice version="1"?>`, `<?sluice version="999"?>`, 1)
		if older == string(data) {
			t.Fatalf("%s bears no version:\n%s", name, data)
		}
		if name == ReturnFile { // whose sum is that of what follows its head
			head, rest, _ := strings.Cut(older, "sum=\"")
			_, body, _ := strings.Cut(rest, "?>\n")
			older = head + "sum=\"" + sumOf([]byte(body)) + "\"?>\n" + body
		}
		if err := os.WriteFile(path, []byte(older), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c, _, err := s.Restore(); c != nil || err == nil || !strings.Contains(err.Error(), "is put aside as running.xml.unused: it was written by a newer release") {
		t.Errorf("the journal: %v %v", c, err)
	}
	if r, _, err := s.ReturnPoint(); r != nil || err == nil || !strings.Contains(err.Error(), "newer release") {
		t.Errorf("the way back: %v %v", r, err)
	}
}
