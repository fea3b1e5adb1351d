package store

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"testing"
)

var reasons = regexp.MustCompile(`<reason>[^<]*</reason>`)

// Whatever the file: reading ends, what is in force can be saved, and reading what was saved gives the same, with the
// rows that are held still held. Why they are held may be said anew: a row that stood in the wrong place is judged as a row.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(doc(server("a"), "<dns-zone xmlns:p='u'><p:x/></dns-zone>", "<server><name>b</name><ip-address>x</ip-address></server>")))
	f.Add([]byte(doc("<server><name>a</name", server("b"), "<!-- <server> -->", "<![CDATA[x]]>")))
	f.Add([]byte("<nc:config xmlns:nc='" + baseNS + "'><sluice xmlns='" + ownNS + "'>" + server("a") + "</sluice><held xmlns='" + heldNS +
		"'><row><reason>x</reason><content><q xmlns='z'/></content></row></held></nc:config>"))
	if data, err := encode(randomConfig(rand.New(rand.NewPCG(1, 1)), 4), nil, Meta{By: "x"}); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first := decode(data, nil)
		text, err := encode(first.config, outdated(first.held, first.config), first.meta)
		if err != nil {
			t.Fatalf("what was read cannot be saved: %v", err)
		}
		second := decode(text, nil)
		if second.torn {
			t.Fatalf("the saved file is damaged: %v\n%s", second.problems, text)
		}
		again, err := encode(second.config, outdated(second.held, second.config), second.meta)
		if err != nil || !bytes.Equal(reasons.ReplaceAll(again, nil), reasons.ReplaceAll(text, nil)) {
			t.Fatalf("%v: reading and saving again changes the file:\n%s\n%s", err, text, again)
		}
		if !first.config.Equal(second.config) {
			t.Fatalf("a save changes what is in force:\n%s", text)
		}
	})
}
