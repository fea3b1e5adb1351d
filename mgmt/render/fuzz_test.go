package render

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"testing"

	"sluice/tests/configs"
	"sluice/vendor-config/schema"
)

var reasons = regexp.MustCompile(`<reason>[^<]*</reason>`)

// Whatever the file: reading ends, what is in force can be saved, and reading what was saved gives the same, with the
// rows that are held still held. Why they are held may be said anew: a row that stood in the wrong place is judged as a row.
func FuzzXML(f *testing.F) {
	f.Add([]byte(doc(server("a"), "<dns-zone xmlns:p='u'><p:x/></dns-zone>", "<server><name>b</name><ip-address>x</ip-address></server>")))
	f.Add([]byte(doc("<server><name>a</name", server("b"), "<!-- <server> -->", "<![CDATA[x]]>")))
	f.Add([]byte("<nc:config xmlns:nc='" + baseNS + "'><sluice xmlns='" + ownNS + "'>" + server("a") + "</sluice><held xmlns='" + heldNS +
		"'><row><reason>x</reason><content><q xmlns='z'/></content></row></held></nc:config>"))
	if data, err := encode(configs.Random(rand.New(rand.NewPCG(1, 1)), 4), nil, Meta{By: "x"}); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first := ReadXML(data, Options{})
		text, err := encode(first.Config, Outdated(first.Held, first.Config), first.Meta)
		if err != nil {
			t.Fatalf("what was read cannot be saved: %v", err)
		}
		second := ReadXML(text, Options{})
		if second.Torn {
			t.Fatalf("the saved file is damaged: %v\n%s", second.Problems, text)
		}
		again, err := encode(second.Config, Outdated(second.Held, second.Config), second.Meta)
		if err != nil || !bytes.Equal(reasons.ReplaceAll(again, nil), reasons.ReplaceAll(text, nil)) {
			t.Fatalf("%v: reading and saving again changes the file:\n%s\n%s", err, text, again)
		}
		if !first.Config.Equal(second.Config) {
			t.Fatalf("a save changes what is in force:\n%s", text)
		}
	})
}

// The same for JSON and YAML, which are taken whole or not at all: what was read is written and read again.
func FuzzJSON(f *testing.F) { fuzzForm(f, JSON, ReadJSON) }

func FuzzYAML(f *testing.F) { fuzzForm(f, YAML, ReadYAML) }

func fuzzForm(f *testing.F, write func(*schema.Config) ([]byte, error), read func([]byte, Options) *Document) {
	if data, err := write(configs.Random(rand.New(rand.NewPCG(1, 1)), 2)); err == nil {
		f.Add(data)
	}
	for _, file := range hostile {
		if len(file) < 1000 {
			f.Add([]byte(file))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first := read(data, Options{})
		text, err := write(first.Config)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		if second := read(text, Options{}); len(second.Problems) > 0 || !second.Config.Equal(first.Config) {
			t.Fatalf("%v\n%s", second.Problems, text)
		}
	})
}
