package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// doc is a startup file with these lines as its rows; the first one is line 4.
func doc(rows ...string) string {
	return "<?xml version=\"1.0\"?>\n<config xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\">\n<sluice xmlns=\"urn:sluice:config\">\n" +
		strings.Join(rows, "\n") + "\n</sluice>\n</config>\n"
}

const web = `<server><name>%s</name><ip-address>10.2.0.11</ip-address></server>`

func server(name string) string { return fmt.Sprintf(web, name) }

// write puts a text in the place of the startup file.
func write(t *testing.T, s *Store, text string) {
	t.Helper()
	if err := os.WriteFile(s.Path(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t *testing.T, s *Store) (*schema.Config, string) {
	t.Helper()
	c, problems, err := s.Load()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return c, strings.Join(out, "\n")
}

func TestNothingSavedIsLost(t *testing.T) {
	s := open(t)
	original := doc(server("a"), `<dns-zone xmlns:q="urn:q"><!-- mine --><q:name>x</q:name></dns-zone>`,
		"<server><name>b</name><ip-address>bad</ip-address></server>", "<server><name>c</nme></server>")
	write(t, s, original)
	c, _ := load(t, s)
	if err := s.Save(c, Meta{}); err != nil {
		t.Fatal(err)
	}
	aside, err := os.ReadFile(s.Path() + ".broken-1")
	if err != nil || string(aside) != original {
		t.Fatalf("the damaged original is not aside: %v", err)
	}
	first, _ := os.ReadFile(s.Path())
	for _, want := range []string{`<content><dns-zone xmlns="urn:sluice:config" xmlns:q="urn:q"><!-- mine --><q:name>x</q:name></dns-zone></content>`,
		`<reason>unknown element &lt;dns-zone&gt;</reason>`, `<name>b</name><ip-address>bad</ip-address>`} {
		if !strings.Contains(string(first), want) {
			t.Errorf("the saved file lacks %s\n%s", want, first)
		}
	}
	c, problems := load(t, s)
	if !strings.Contains(problems, "dns-zone: unknown element <dns-zone> (not in force, kept in the file)") || !strings.Contains(problems, "server b: Invalid IP address") {
		t.Errorf("after the next start nobody hears of it:\n%s", problems)
	}
	if err := s.Save(c, Meta{}); err != nil {
		t.Fatal(err)
	}
	if second, _ := os.ReadFile(s.Path()); string(second) != string(first) {
		t.Errorf("a second save changes the file:\n%s\n%s", first, second)
	}
	if left, _ := filepath.Glob(s.Path() + ".broken-*"); len(left) != 1 {
		t.Errorf("put aside: %v; held rows are no new damage", left)
	}
}

func TestHeldRowIsReplacedOrComesIntoForceOrIsForgotten(t *testing.T) {
	s := open(t)
	service := "<service><name>s</name><server>b</server><service-type>TCP</service-type><port>80</port></service>"
	write(t, s, doc(server("a"), "<server><name>b</name><ip-address>bad</ip-address></server>", service, "<dns-zone/>"))
	c, _ := load(t, s)
	schema.Put(c, schema.All[schema.Server](servers("b"))[0]) // the operator repairs it
	if err := s.Save(c, Meta{}); err != nil {
		t.Fatal(err)
	}
	c, problems := load(t, s)
	if got := names(c); got != "a b" {
		t.Errorf("servers %q", got)
	}
	if strings.Contains(problems, "server b") {
		t.Errorf("the bad row is still held though a good one has replaced it:\n%s", problems)
	}
	if schema.Get[schema.Service](c, "s") == nil || !strings.Contains(problems, "service s: this row was not in force when it was saved and is now") {
		t.Errorf("the service whose server exists again does not come back, or silently:\n%s", problems)
	}
	if n := s.Forget(); n != 1 {
		t.Errorf("%d rows forgotten, want the zone", n)
	}
	if err := s.Save(c, Meta{}); err != nil {
		t.Fatal(err)
	}
	if _, problems := load(t, s); problems != "" {
		t.Errorf("forgotten rows are back: %s", problems)
	}
}

func TestSaveWithoutLoadLosesNothing(t *testing.T) {
	s := open(t)
	write(t, s, doc(server("a"), "<dns-zone/>", "<server>"))
	save(t, s, "z")
	data, _ := os.ReadFile(s.Path())
	if !strings.Contains(string(data), "<dns-zone") {
		t.Errorf("the unknown row is gone:\n%s", data)
	}
	if _, err := os.Stat(s.Path() + ".broken-1"); err != nil {
		t.Error(err)
	}
}

func TestFileThatCannotBeReadIsPutAside(t *testing.T) {
	s := open(t)
	f, err := os.Create(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(maxFile + 1); err != nil { // sparse
		t.Fatal(err)
	}
	f.Close()
	c, _, err := s.Load()
	if err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") || c == nil {
		t.Fatalf("%v", err)
	}
	save(t, s, "a")
	if fi, err := os.Stat(s.Path() + ".broken-1"); err != nil || fi.Size() != maxFile+1 {
		t.Fatalf("%v %v", fi, err)
	}
}
