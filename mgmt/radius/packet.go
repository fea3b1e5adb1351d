// Package radius makes requests for access of RADIUS and proves their answers (RFC 2865, RFC 3579). It sends and receives
// nothing: logins and monitors do, and judge what an answer means.
//
// It is written here and not taken from a library: the only one to be had has no release and leaves the Message-Authenticator,
// on which everything rests since CVE-2024-3596, to its callers.
package radius

import (
	"bytes"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
)

// Codes of answers (RFC 2865 section 3).
const (
	Accept    = 2
	Reject    = 3
	Challenge = 11
)

// Kinds of attributes (RFC 2865 section 5).
const (
	NASAddress    = 4
	Vendor        = 26
	NASIdentifier = 32

	userName             = 1
	userPassword         = 2
	messageAuthenticator = 80 // RFC 3579 section 3.2
)

// Bounds, in bytes.
const (
	Header       = 20   // of what is before the attributes
	Most         = 4096 // of a packet
	MostPassword = 128  // of a password as it is typed (RFC 2865 section 5.2)
	mostOfValue  = 253
)

// Attribute is one that a request has besides the user's name and password.
type Attribute struct {
	Kind  byte
	Value []byte
}

// Request is a new Access-Request, signed with the key. What is too long is cut.
func Request(key, user, password string, more ...Attribute) []byte {
	var random [17]byte
	rand.Read(random[:])
	return request(key, random[16], [16]byte(random[:16]), user, password, more)
}

func request(key string, id byte, authenticator [16]byte, user, password string, more []Attribute) []byte {
	const accessRequest = 1
	b := append([]byte{accessRequest, id, 0, 0}, authenticator[:]...)
	add := func(kind byte, value []byte) {
		value = value[:min(len(value), mostOfValue)]
		b = append(append(b, kind, byte(len(value)+2)), value...)
	}
	add(messageAuthenticator, make([]byte, md5.Size)) // first, as the remedy of CVE-2024-3596 asks; filled in below
	signature := len(b) - md5.Size
	add(userName, []byte(user))
	add(userPassword, hidden(password, key, authenticator))
	for _, a := range more {
		add(a.Kind, a.Value)
	}
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[signature:], mac(b, key))
	return b
}

func mac(b []byte, key string) []byte {
	h := hmac.New(md5.New, []byte(key))
	h.Write(b)
	return h.Sum(nil)
}

// hidden is the password as it is sent (RFC 2865 section 5.2), at least one block of it.
func hidden(password, key string, authenticator [16]byte) []byte {
	const block = md5.Size
	plain := password[:min(len(password), MostPassword)]
	text := make([]byte, max(1, (len(plain)+block-1)/block)*block)
	copy(text, plain)
	before := authenticator[:]
	for i := 0; i < len(text); i += block {
		mask := md5.Sum(append([]byte(key), before...))
		for k := range mask {
			text[i+k] ^= mask[k]
		}
		before = text[i : i+block]
	}
	return text
}

// Proved tells whether b answers the request by one who knows the key, and how many Message-Authenticators it has: each of them
// is right, and none is missed here.
func Proved(b, request []byte, key string) (signatures int, ok bool) {
	if len(b) < Header || len(b) > Most || int(binary.BigEndian.Uint16(b[2:])) != len(b) || b[1] != request[1] {
		return 0, false
	}
	authenticator := request[4:Header]
	sum := md5.New()
	sum.Write(b[:4])
	sum.Write(authenticator)
	sum.Write(b[Header:])
	sum.Write([]byte(key))
	if !hmac.Equal(sum.Sum(nil), b[4:Header]) {
		return 0, false
	}
	good := 0
	whole := walk(b[Header:], func(kind byte, value []byte, at int) {
		if kind != messageAuthenticator {
			return
		}
		if signatures++; len(value) != md5.Size {
			return
		}
		blank := bytes.Clone(b)
		copy(blank[4:Header], authenticator)
		clear(blank[Header+at:][:md5.Size])
		if hmac.Equal(mac(blank, key), value) {
			good++
		}
	})
	return signatures, whole && good == signatures
}

// Attributes calls f for each attribute of a packet after its Header, or of a vendor's.
func Attributes(b []byte, f func(kind byte, value []byte)) {
	walk(b, func(kind byte, value []byte, _ int) { f(kind, value) })
}

// walk calls f for each attribute; at is where the value begins. It tells whether the list is whole.
func walk(b []byte, f func(kind byte, value []byte, at int)) bool {
	for at := 0; at < len(b); at += int(b[at+1]) {
		if len(b)-at < 2 || b[at+1] < 2 || int(b[at+1]) > len(b)-at {
			return false
		}
		f(b[at], b[at+2:at+int(b[at+1])], at+2)
	}
	return true
}
