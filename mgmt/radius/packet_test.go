package radius

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

func unhex(s string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// TestExample is the one of RFC 2865 section 7.1, whose request is not signed.
func TestExample(t *testing.T) {
	const key = "xyzzy5461"
	authenticator := [16]byte(unhex("0f403f9473978057bd83d5cb98f4227a"))
	if got, want := hidden("arctangent", key, authenticator), unhex("0dbe708d93d413ce3196e43f782a0aee"); !bytes.Equal(got, want) {
		t.Errorf("hidden: %x, want %x", got, want)
	}
	asked := request(key, 0, authenticator, "nemo", "arctangent", nil)
	answer := unhex("02000026 86fe220e7624ba2a1005f6bf9b55e0b2 060600000001 0f0600000000 0e06c0a80103")
	if n, ok := Proved(answer, asked, key); n != 0 || !ok {
		t.Errorf("the example's answer: %d, %v", n, ok)
	}
	answer[len(answer)-1]++
	if _, ok := Proved(answer, asked, key); ok {
		t.Error("a changed answer is proved")
	}
}

func TestRequest(t *testing.T) {
	b := Request("key", strings.Repeat("u", 300), strings.Repeat("p", 200), Attribute{NASIdentifier, []byte("adc")})
	var got []byte
	if !walk(b[Header:], func(kind byte, value []byte, _ int) { got = append(got, kind, byte(len(value))) }) || int(binary.BigEndian.Uint16(b[2:])) != len(b) {
		t.Errorf("%x is not whole", b)
	}
	if want := []byte{messageAuthenticator, 16, userName, 253, userPassword, 128, NASIdentifier, 3}; !bytes.Equal(got, want) {
		t.Errorf("attributes %v, want %v", got, want)
	}
	blank := bytes.Clone(b)
	clear(blank[22:38])
	if !bytes.Equal(mac(blank, "key"), b[22:38]) {
		t.Error("the signature is wrong")
	}
	if len(hidden("", "key", [16]byte{})) != 16 {
		t.Error("an empty password is no block")
	}
}

// TestProved: each Message-Authenticator must be right, wherever it is, and is counted.
func TestProved(t *testing.T) {
	asked := Request("key", "u", "p")
	answer := func(attributes ...byte) []byte {
		b := append([]byte{Accept, asked[1], 0, 0}, asked[4:Header]...)
		b = append(b, attributes...)
		binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
		return b
	}
	seal := func(b []byte) []byte {
		sum := md5.Sum(append(bytes.Clone(b), "key"...))
		copy(b[4:], sum[:])
		return b
	}
	signed := answer(append([]byte{18, 3, 'x', messageAuthenticator, 18}, make([]byte, 16)...)...)
	copy(signed[25:], mac(signed, "key"))
	wrong := bytes.Clone(signed)
	wrong[30]++
	for name, x := range map[string]struct {
		b     []byte
		n     int
		right bool
	}{
		"signed":               {seal(signed), 1, true},
		"signed wrongly":       {seal(wrong), 1, false},
		"not signed":           {seal(answer(18, 3, 'x')), 0, true},
		"a short signature":    {seal(answer(messageAuthenticator, 3, 'x')), 1, false},
		"cut off":              {seal(answer(18, 4, 'x')), 0, false},
		"an attribute of none": {seal(answer(18, 1)), 0, false},
		"not sealed":           {answer(), 0, false},
		"a request":            {asked, 0, false},
		"nothing":              {nil, 0, false},
	} {
		if n, ok := Proved(x.b, asked, "key"); n != x.n || ok != x.right {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
}
