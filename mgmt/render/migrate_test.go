package render

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// steps are migrations of a history that this program could have had.
func steps(t *testing.T, all ...step) {
	t.Helper()
	before := migrations
	t.Cleanup(func() { migrations = before })
	migrations = all
}

// from1 renames an object and a leaf, makes two rows of one and forgets another. from2 gives a value another name.
func from1(o Old) []Old {
	switch o.Object {
	case "real-server":
		o.Object = "server"
		for i := range o.Leaves {
			if o.Leaves[i].Name == "address" {
				o.Leaves[i].Name = "ip-address"
			}
		}
	case "pair":
		return []Old{{"server", []OldLeaf{{"name", "p1"}, {"ip-address", "10.2.0.8"}}}, {"server", []OldLeaf{{"name", "p2"}, {"ip-address", "10.2.0.9"}}}}
	case "fax":
		return nil
	}
	return []Old{o}
}

func from2(o Old) []Old {
	for i, l := range o.Leaves {
		if o.Object == "server" && l.Name == "state" && l.Text == "OFF" {
			o.Leaves[i].Text = "DISABLED"
		}
	}
	return []Old{o}
}

const oldFile = `<?xml version="1.0" encoding="UTF-8"?>
<?sluice version="VERSION" saved-by="x" saved-at="2026-11-30T00:00:00Z"?>
<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">
  <sluice xmlns="urn:sluice:config">
    <real-server><name>a</name><address>10.2.0.1</address><state>OFF</state></real-server>
    <server><name>b</name><ip-address>10.2.0.2</ip-address><state>OFF</state></server>
    <pair/>
    <fax><number>1</number></fax>
    <real-server><name>bad</name><address>10.2.0.300</address></real-server>
    <thing><x>1</x></thing>
  </sluice>
</config>
`

// TestMigrations: a file of an older version is read as what it meant then; of the newest one nothing is migrated.
func TestMigrations(t *testing.T) {
	steps(t, from1, from2)
	d := ReadXML([]byte(strings.Replace(oldFile, "VERSION", "1", 1)), Options{})
	var got []string
	for _, s := range schema.All[schema.Server](d.Config) {
		got = append(got, s.Name+" "+s.IPAddress.String()+" "+s.State)
	}
	if want := []string{"a 10.2.0.1 DISABLED", "b 10.2.0.2 DISABLED", "p1 10.2.0.8 ENABLED", "p2 10.2.0.9 ENABLED"}; !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q\n%v", got, want, d.Problems)
	}
	if len(d.Held) != 2 || len(d.Problems) != 2 || d.Newer != nil {
		t.Errorf("%d held, %v", len(d.Held), d.Problems)
	}
	// What is held is written into a file of the newest version, and means the same there.
	text, err := encode(d.Config, d.Held, Meta{By: "x"})
	if err != nil || !strings.Contains(string(text), `<?sluice version="3" `) || !strings.Contains(string(text), "<ip-address>10.2.0.300</ip-address>") || strings.Contains(string(text), "real-server") {
		t.Errorf("%v\n%s", err, text)
	}
	again := ReadXML(text, Options{Own: true})
	if !again.Config.Equal(d.Config) || len(again.Held) != 2 || again.Torn {
		t.Errorf("saved and read again: %v", again.Problems)
	}
	d = ReadXML([]byte(strings.Replace(oldFile, "VERSION", "2", 1)), Options{})
	if s := schema.Get[schema.Server](d.Config, "b"); s == nil || s.State != "DISABLED" || len(schema.All[schema.Server](d.Config)) != 1 {
		t.Errorf("version 2: %+v %v", s, d.Problems)
	}
	d = ReadXML([]byte(strings.Replace(oldFile, "VERSION", "3", 1)), Options{})
	if len(schema.All[schema.Server](d.Config)) != 0 {
		t.Errorf("version 3 is migrated: %v", d.Problems)
	}
	for _, version := range []string{"4", "99999999999999999999", "0", "-1", "x", ""} {
		d = ReadXML([]byte(strings.Replace(oldFile, "VERSION", version, 1)), Options{Own: true})
		if (version == "4") != errors.Is(d.Newer, ErrNewer) || d.Newer != nil && (d.Config.Len(schema.Of[schema.Server]()) > 0 || d.Refusal() == nil) || version != "" && d.Refusal() == nil {
			t.Errorf("version %q: %v %v", version, d.Newer, d.Problems)
		}
	}
	plain := strings.Replace(oldFile, `<?sluice version="VERSION" saved-by="x" saved-at="2026-11-30T00:00:00Z"?>`, "", 1)
	if d := ReadXML([]byte(plain), Options{Own: true}); len(schema.All[schema.Server](d.Config)) != 4 {
		t.Errorf("a file of before there were versions: %v", d.Problems)
	}
	if d := ReadXML([]byte(plain), Options{}); len(schema.All[schema.Server](d.Config)) != 0 {
		t.Errorf("an operator's text without a version is migrated: %v", d.Problems)
	}
}

// TestBrokenOlderFiles: an older file is read with the same forgiveness.
func TestBrokenOlderFiles(t *testing.T) {
	steps(t, from1, from2)
	text := strings.Replace(oldFile, "VERSION", "1", 1)
	for cut := range len(text) {
		d := ReadXML([]byte(text[:cut]), Options{})
		if d.Refusal() == nil {
			t.Fatalf("cut at %d it is whole", cut)
		}
	}
	d := ReadXML([]byte(strings.Replace(text, "</real-server>", "", 1)), Options{})
	if schema.Get[schema.Server](d.Config, "b") == nil || len(d.Problems) == 0 {
		t.Errorf("%v", d.Problems)
	}
	nested := strings.Replace(text, "<address>10.2.0.1</address>", "<address><deep>1</deep></address>", 1)
	if d := ReadXML([]byte(nested), Options{}); schema.Get[schema.Server](d.Config, "a") != nil || schema.Get[schema.Server](d.Config, "b") == nil {
		t.Errorf("%v", d.Problems)
	}
}
