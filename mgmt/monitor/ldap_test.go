package monitor

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
	"testing"

	"sluice/mgmt/compile"
)

// ldapServer answers each message with the operations of its turn.
func ldapServer(t *testing.T, turns ...[][]byte) netip.AddrPort {
	return listen(t, func(c net.Conn) {
		r := bufio.NewReader(c)
		for i, turn := range turns {
			if _, err := readBER(r); err != nil {
				return
			}
			for _, op := range turn {
				c.Write(ldapMessage(uint32(i+1), op))
			}
		}
		drain(c)
	})
}

func ldapSays(tag byte, code uint32, text string) []byte {
	return ber(tag, berNumber(berEnumerated, code), berText(berOctets, ""), berText(berOctets, text))
}

func TestLDAP(t *testing.T) {
	noLeaks(t)
	bound, done := [][]byte{ldapSays(ldapBound, 0, "")}, ldapSays(ldapDone, 0, "")
	entry := ber(ldapEntry, berText(berOctets, "uid=probe"), ber(berSequence, ber(berSequence, berText(berOctets, "mail;lang-en"), ber(berSet, berText(berOctets, "x@y")))))
	ask := &compile.Ask{BaseDN: "dc=example", BindDN: "cn=probe", Password: "secret", Filter: "(uid=probe)", Attribute: "Mail"}
	other := *ask
	other.Attribute = "phone"
	bad := *ask
	bad.Filter = "(uid=probe"
	judge(t, []judged{
		{"found", "LDAP", ldapServer(t, bound, [][]byte{entry, done}), ask, true, "Success - LDAP search found an entry."},
		{"found behind a reference", "LDAP", ldapServer(t, bound, [][]byte{ber(ldapReference, berText(berOctets, "ldap://x")), entry, done}), ask, true, "Success - LDAP search found an entry."},
		{"no such attribute", "LDAP", ldapServer(t, bound, [][]byte{entry, done}), &other, false, "Failure - LDAP search found no entry with the attribute phone."},
		{"no entry", "LDAP", ldapServer(t, bound, [][]byte{done}), ask, false, "Failure - LDAP search found no entry."},
		{"no such base", "LDAP", ldapServer(t, bound, [][]byte{ldapSays(ldapDone, 32, "")}), ask, false, "Failure - LDAP search refused: no such object."},
		{"no such password", "LDAP", ldapServer(t, [][]byte{ldapSays(ldapBound, 49, "try again")}), ask, false, "Failure - LDAP bind of cn=probe refused: invalid credentials (try again)."},
		{"answers the search to the bind", "LDAP", ldapServer(t, [][]byte{done}), ask, false, "Failure - no valid LDAP response: it does not answer the bind."},
		{"entries without end", "LDAP", ldapServer(t, bound, make([][]byte, 0), nil), ask, false, "Failure - LDAP response timed out."},
		{"wrong filter", "LDAP", ldapServer(t, bound), &bad, false, `Failure - the probe could not be sent: filter "(uid=probe" is wrong at its character 2: the parenthesis is not closed.`},
	})
}

// TestLDAPFilter compares filters with what ldapsearch of OpenLDAP sends for them.
func TestLDAPFilter(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "870b6f626a656374436c617373",
		"uid=a":                 "a3080403756964040161",
		"(uid=a)":               "a3080403756964040161",
		"(uid=*)":               "8703756964",
		"(&(a=b)(!(c=d)))":      "a012a306040161040162a208a306040163040164",
		"(|(a>=1)(a<=2)(a~=3))": "a118a506040161040131a606040161040132a806040161040133",
		"(a=x*y*z)":             "a40e0401613009800178810179 82017a",
		"(a=*y)":                "a408040161300382 0179",
		`(a=\2a)`:               "a30604016104012a",
		"(a=)":                  "a305040161 0400",
		"(&)":                   "a000",
	} {
		got, err := ldapFilter(text)
		if want = strings.ReplaceAll(want, " ", ""); err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"(a", "(a=b", "(a=b)x", "(=b)", "(a b=c)", "()", "(&(a=b)", `(a=\2)`, `(a=\zz)`, "(!)", strings.Repeat("(!", 100) + "(a=b)" + strings.Repeat(")", 100)} {
		if got, err := ldapFilter(text); err == nil {
			t.Errorf("%.40s: accepted as %x", text, got)
		}
	}
}

func FuzzLDAPFilter(f *testing.F) {
	for _, s := range []string{"(&(a=b)(!(c=d*e)))", `(a=\2a)`, "a=b", "(|)", "(("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := ldapFilter(text)
		if err != nil {
			return
		}
		if e, rest, err := berNext(out); err != nil || len(rest) != 0 || e.tag < 0x80 {
			t.Errorf("%q gives %x", text, out)
		}
	})
}

// FuzzBER: an element that is read is within what was given, from a slice and from a stream alike.
func FuzzBER(f *testing.F) {
	f.Add([]byte{0x30, 0x03, 0x02, 0x01, 0x05})
	f.Add([]byte{0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0})
	f.Add([]byte{0x04, 0x81, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, rest, err := berNext(b)
		if err == nil && len(e.body)+len(rest) > len(b)-2 {
			t.Errorf("%x: %d bytes of body and %d of rest", b, len(e.body), len(rest))
		}
		s, streamErr := readBER(bufio.NewReaderSize(bytes.NewReader(b), 16))
		if err == nil && len(e.body) <= berMax && (streamErr != nil || !bytes.Equal(s.body, e.body) || s.tag != e.tag) {
			t.Errorf("%x: from a stream %x, %v", b, s.body, streamErr)
		}
		if n, err := berValue(e.body); err == nil && n < 0 && e.body[0] < 0x80 {
			t.Errorf("%x is %d", e.body, n)
		}
	})
}

func TestBERNumbers(t *testing.T) {
	for _, n := range []uint32{0, 1, 127, 128, 255, 256, 32767, 32768, 1<<31 - 1, 1<<32 - 1} {
		got, rest, err := berInt(berNumber(berInteger, n), berInteger)
		if err != nil || got != int64(n) || len(rest) != 0 {
			t.Errorf("%d: %d, %v", n, got, err)
		}
	}
	for body, want := range map[string]int64{"\xff": -1, "\x80\x00": -32768, "\x00\xff\xff\xff\xff\xff\xff\xff\xff": 1<<63 - 1, "\x7f\xff\xff\xff\xff\xff\xff\xff": 1<<63 - 1} {
		if got, err := berValue([]byte(body)); err != nil || got != want {
			t.Errorf("%x: %d, %v", body, got, err)
		}
	}
}
