package packet

import (
	"bytes"
	"regexp"
	"testing"
)

// callIDs is CallID by another way: the header's lines as a whole, then a pattern.
var callIDLine = regexp.MustCompile(`(?i)^(?:call-id|i)[ \t]*:[ \t]*(.*?)[ \t]*$`)

func naiveCallID(m []byte) []byte {
	lines := bytes.Split(m, []byte("\n"))
	for _, l := range lines[:len(lines)-1] {
		l = bytes.TrimSuffix(l, []byte("\r"))
		if len(l) == 0 {
			return nil
		}
		if v := callIDLine.FindSubmatch(l); v != nil && len(v[1]) > 0 {
			return v[1]
		}
	}
	return nil
}

var sipMessages = map[string]string{
	"INVITE sip:bob@example.com SIP/2.0\r\nVia: SIP/2.0/UDP pc33\r\nCall-ID: a84b4c76e66710@pc33\r\nCSeq: 1 INVITE\r\n\r\n": "a84b4c76e66710@pc33",
	"SIP/2.0 200 OK\r\ni:f81d4fae-7dec\r\n\r\n":                                             "f81d4fae-7dec",
	"SIP/2.0 200 OK\nCALL-id \t:  x y \t\n\n":                                               "x y",
	"OPTIONS sip:a SIP/2.0\r\nCall-ID: cut":                                                 "",
	"OPTIONS sip:a SIP/2.0\r\nCall-ID:\r\ni: 2\r\n\r\n":                                     "2",
	"OPTIONS sip:a SIP/2.0\r\n\r\nCall-ID: in the body\r\n":                                 "",
	"OPTIONS sip:a SIP/2.0\r\nX-Call-ID: 1\r\nCall-IDs: 2\r\nInfo: 3\r\nCall ID: 4\r\n\r\n": "",
	"": "", "\n": "", "i\n": "", "i:\n": "", ":\n": "", "call-id\n": "",
}

func TestCallID(t *testing.T) {
	for m, want := range sipMessages {
		if got := string(CallID([]byte(m))); got != want {
			t.Errorf("%q has the Call-ID %q, want %q", m, got, want)
		}
	}
}

func FuzzCallID(f *testing.F) {
	for m := range sipMessages {
		f.Add([]byte(m))
	}
	f.Fuzz(func(t *testing.T, m []byte) {
		if got, want := CallID(m), naiveCallID(m); !bytes.Equal(got, want) {
			t.Errorf("%q has the Call-ID %q, want %q", m, got, want)
		}
	})
}
