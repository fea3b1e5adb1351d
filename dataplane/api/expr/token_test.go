package expr

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"
)

// TestTokens: how tokens are written, of which packets they are, and what is wrong with others.
func TestTokens(t *testing.T) {
	for text, want := range map[string]string{
		"client.ip.src":                                        "CLIENT.IP.SRC 0 ffffffff 0",
		"CLIENT.IP.SRC.SUBNET( 24 )":                           "CLIENT.IP.SRC.SUBNET(24) 0 ffffff 0",
		"CLIENT.IP.DST.SUBNET(9)":                              "CLIENT.IP.DST.SUBNET(9) 0 80ff00000000 0",
		"CLIENT.IP.DST.SUBNET(32)":                             "CLIENT.IP.DST 0 ffffffff00000000 0",
		"CLIENT.TCP.SRCPORT":                                   "CLIENT.TCP.SRCPORT 6 0 65535",
		"CLIENT.UDP.SRCPORT":                                   "CLIENT.UDP.SRCPORT 17 0 65535",
		"CLIENT.UDP.PAYLOAD(65535)":                            "CLIENT.UDP.PAYLOAD(65535) 17 0 0",
		`client.udp.payload(9).after_str("a b")`:               `CLIENT.UDP.PAYLOAD(9).AFTER_STR("a b") 17 0 0`,
		`CLIENT.UDP.PAYLOAD(9).BEFORE_STR("\"\\").SUBSTR(0,1)`: `CLIENT.UDP.PAYLOAD(9).BEFORE_STR("\"\\").SUBSTR(0, 1) 17 0 0`,
	} {
		k, err := ParseToken(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		addresses, port := k.Key()
		if got := fmt.Sprintf("%s %d %x %d", k, k.Protocol(), addresses, port); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"":                                     "at character 1: the end stands where a token must: one of CLIENT.IP.SRC",
		"80":                                   "at character 1: 80 stands where a token must",
		"CLIENT.VLAN.ID":                       "at character 1: CLIENT.VLAN.ID is no token: it is one of",
		"CLIENT.IP.SRC.EQ(10.0.0.1)":           "at character 1: EQ is no part of an address: a token takes SUBNET",
		"CLIENT.IP.SRC.SUBNET(33)":             "at character 22: 33 is no length of a subnet: it is 1 to 32",
		"CLIENT.TCP.SRCPORT.SUBNET(3)":         "at character 1: SUBNET is no part of a port",
		"CLIENT.IP.SRC && CLIENT.IP.DST":       "at character 15: && cannot follow a token: it is one part of a packet",
		"CLIENT.TCP.PAYLOAD(9)":                "is not known when a connection is balanced",
		`HTTP.REQ.URL.QUERY.VALUE("token")`:    "is not known when a connection is balanced",
		"CLIENT.UDP.PAYLOAD":                   "at character 19: the end stands where ( and the argument of PAYLOAD must",
		"CLIENT.UDP.PAYLOAD(0)":                "at character 20: 0 is no number of bytes from 1 to 65535",
		"CLIENT.UDP.PAYLOAD(65536)":            "at character 20: 65536 is no number of bytes from 1 to 65535",
		"CLIENT.UDP.PAYLOAD(9).UPPER(1)":       "at character 22: UPPER is no part of a payload: it takes AFTER_STR, BEFORE_STR, SUBSTR",
		"CLIENT.UDP.PAYLOAD(9).PAYLOAD(1)":     "at character 22: PAYLOAD is no part of a payload",
		"CLIENT.UDP.PAYLOAD(9).SUBSTR(1)":      "SUBSTR has 2 arguments, not 1",
		"CLIENT.UDP.PAYLOAD(9).AFTER_STR(x)":   "at character 33: x is no text of 1 to 32 bytes in quotes",
		`CLIENT.UDP.PAYLOAD(9).AFTER_STR("")`:  `"" is no text of 1 to 32 bytes in quotes`,
		`CLIENT.UDP.PAYLOAD(9).AFTER_STR("x`:   `at character 33: the text that begins here does not end: write " behind it`,
		`CLIENT.UDP.PAYLOAD(9).AFTER_STR("x\"`: `the text that begins here does not end`,
		`CLIENT.UDP.PAYLOAD(9).AFTER_STR("` + strings.Repeat("x", 33) + `")`: "is no text of 1 to 32 bytes in quotes",
		`CLIENT.UDP.PAYLOAD(9)` + strings.Repeat(".SUBSTR(1, 1)", MaxCuts):   "a token has 8 steps at most",
		"CLIENT.IP.SRC" + strings.Repeat(" ", MaxLength):                     "characters and 1499 are the most",
	} {
		if _, err := ParseToken(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := Parse(`CLIENT.TCP.DSTPORT.EQ("80")`); err == nil {
		t.Error("a test takes a text")
	}
}

// TestApplyAgainstStrings compares the steps with what strings does.
func TestApplyAgainstStrings(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	some := func(n int) string {
		b := make([]byte, r.IntN(n))
		for i := range b {
			b[i] = "ab=&\r\n\"\\\x00\xff"[r.IntN(10)%(4+6*r.IntN(2))]
		}
		return string(b)
	}
	found := 0
	for range 5000 {
		payload, n := some(60), 1+r.IntN(70)
		text, want := fmt.Sprintf("CLIENT.UDP.PAYLOAD(%d)", n), payload[:min(n, len(payload))]
		for range r.IntN(4) {
			s := "a" + some(2)
			switch r.IntN(3) {
			case 0:
				text += ".AFTER_STR(" + quote([]byte(s)) + ")"
				_, want, _ = strings.Cut(want, s)
			case 1:
				text += ".BEFORE_STR(" + quote([]byte(s)) + ")"
				before, _, ok := strings.Cut(want, s)
				if want = before; !ok {
					want = ""
				}
			default:
				a, b := r.IntN(9), 1+r.IntN(20)
				text += fmt.Sprintf(".SUBSTR(%d, %d)", a, b)
				want = want[min(a, len(want)):]
				want = want[:min(b, len(want))]
			}
		}
		k, err := ParseToken(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(Apply(k.Cuts(), []byte(payload))); got != want {
			t.Fatalf("%s of %q is %q, want %q", text, payload, got, want)
		}
		if want != "" {
			found++
		}
	}
	if found < 1000 {
		t.Errorf("only %d of 5000 tokens were there", found)
	}
	k, _ := ParseToken(`CLIENT.UDP.PAYLOAD(100).AFTER_STR("id=").BEFORE_STR("&").SUBSTR(0, 8)`)
	payload := []byte("GET id=0123456789&x")
	if n := testing.AllocsPerRun(100, func() { Apply(k.Cuts(), payload) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParseToken: no text makes the parser fail; what is accepted is written back so that it means the same, and its steps give part
// of any payload.
func FuzzParseToken(f *testing.F) {
	for _, s := range []string{"CLIENT.IP.SRC.SUBNET(24)", "CLIENT.UDP.SRCPORT", `CLIENT.UDP.PAYLOAD(20).AFTER_STR("a\"").BEFORE_STR("\\").SUBSTR(1, 2)`, `CLIENT.UDP.PAYLOAD(1).AFTER_STR("`, `"x`, "CLIENT.IP.DST.SUBNET"} {
		f.Add(s, []byte(`some payload with a" and \ in it`))
	}
	f.Fuzz(func(t *testing.T, text string, payload []byte) {
		k, err := ParseToken(text)
		if err != nil {
			var fault *Error
			if !errors.As(err, &fault) || fault.At < 1 || fault.At > len(text)+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		written := k.String()
		if len(written) > MaxLength {
			return
		}
		again, err := ParseToken(written)
		if err != nil || again.String() != written {
			t.Fatalf("%q is written %q: %v, %v", text, written, again, err)
		}
		part := Apply(k.Cuts(), payload)
		if !bytes.Equal(part, Apply(again.Cuts(), payload)) {
			t.Fatalf("%q and %q differ of %q", text, written, payload)
		}
		if p, all := unsafe.SliceData(part), unsafe.SliceData(payload); len(part) > 0 &&
			(uintptr(unsafe.Pointer(p)) < uintptr(unsafe.Pointer(all)) || uintptr(unsafe.Pointer(p))+uintptr(len(part)) > uintptr(unsafe.Pointer(all))+uintptr(len(payload))) {
			t.Fatalf("%q gives what is not in %q", text, payload)
		}
	})
}
