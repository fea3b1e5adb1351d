package monitor

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"

	"sluice/mgmt/compile"
)

// Codes and attributes of RADIUS (RFC 2865 sections 3 and 5).
const (
	radiusRequest = 1
	radiusAccept  = 2

	radiusUserName      = 1
	radiusPassword      = 2
	radiusNASAddress    = 4
	radiusNASIdentifier = 32
	radiusAuthenticator = 80 // Message-Authenticator (RFC 3579 section 3.2), which servers want since CVE-2024-3596

	radiusMax = 4096 // bytes of a packet
)

// CheckRADIUS is a monitor of type RADIUS: the server must answer an Access-Request with one of the codes expected, which is
// Access-Accept (2) unless respCode says otherwise. An answer that does not prove that it knows the key does not count.
func CheckRADIUS(ctx context.Context, p *compile.Probe) Outcome {
	var id [17]byte
	rand.Read(id[:])
	req := radiusPacket(p, id[16], [16]byte(id[:16]))
	c, err := sendUDP(ctx, p, req)
	if err != nil {
		return failure(p, "UDP", err)
	}
	defer c.Close()
	forged := 0
	b := make([]byte, radiusMax+1)
	for range datagramsMax {
		n, err := c.Read(b)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() && forged > 0 {
			break
		}
		if err != nil {
			return answerFailure(p, "RADIUS", err)
		}
		code, err := radiusAnswer(b[:n], req, p.Ask.RadKey)
		if err != nil {
			forged++
			continue
		}
		want := p.Ask.RespCodes
		if len(want) == 0 {
			want = [][2]uint16{{radiusAccept, radiusAccept}}
		}
		if !expected(want, code) {
			return failuref("RADIUS response code %d received, expected %s", code, codes(want))
		}
		return success("RADIUS response code %d received", code)
	}
	return failuref("RADIUS response with a wrong authenticator: radKey is not that of the server, or somebody else answers")
}

// radiusPacket is the request.
func radiusPacket(p *compile.Probe, id byte, authenticator [16]byte) []byte {
	a := p.Ask
	b := append([]byte{radiusRequest, id, 0, 0}, authenticator[:]...)
	attribute := func(kind byte, value []byte) {
		value = value[:min(len(value), 253)]
		b = append(append(b, kind, byte(len(value)+2)), value...)
	}
	attribute(radiusAuthenticator, make([]byte, 16)) // first, as the fix of CVE-2024-3596 asks; filled in below
	attribute(radiusUserName, []byte(a.UserName))
	attribute(radiusPassword, radiusHidden(a.Password, a.RadKey, authenticator))
	nas := a.RadNASIP
	if !nas.IsValid() {
		nas = p.Source
	}
	if nas = nas.Unmap(); nas.Is4() {
		v := nas.As4()
		attribute(radiusNASAddress, v[:])
	}
	if a.RadNASID != "" {
		attribute(radiusNASIdentifier, []byte(a.RadNASID))
	}
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	mac := hmac.New(md5.New, []byte(a.RadKey))
	mac.Write(b)
	copy(b[22:38], mac.Sum(nil))
	return b
}

// radiusHidden is the password as it is sent (RFC 2865 section 5.2): of at most 128 bytes.
func radiusHidden(password, key string, authenticator [16]byte) []byte {
	text := []byte(password)[:min(len(password), 128)]
	text = append(text, make([]byte, (16-len(text)%16)%16)...)
	if len(text) == 0 {
		text = make([]byte, 16)
	}
	before := authenticator[:]
	for i := 0; i < len(text); i += 16 {
		mask := md5.Sum(append([]byte(key), before...))
		for k := range mask {
			text[i+k] ^= mask[k]
		}
		before = text[i : i+16]
	}
	return text
}

// radiusAnswer checks that b answers the request req by one who knows the key, and gives its code.
func radiusAnswer(b, req []byte, key string) (code int, err error) {
	if len(b) < 20 {
		return 0, malformed("it is shorter than a header")
	}
	n := int(binary.BigEndian.Uint16(b[2:]))
	if n < 20 || n > len(b) || n > radiusMax || b[1] != req[1] {
		return 0, malformed("it does not answer the request")
	}
	b = b[:n] // what follows is padding
	sum := md5.New()
	sum.Write(b[:4])
	sum.Write(req[4:20])
	sum.Write(b[20:])
	sum.Write([]byte(key))
	if !hmac.Equal(sum.Sum(nil), b[4:20]) {
		return 0, malformed("its authenticator is wrong")
	}
	for rest := b[20:]; len(rest) > 0; rest = rest[rest[1]:] {
		if len(rest) < 2 || rest[1] < 2 || int(rest[1]) > len(rest) {
			return 0, malformed("an attribute is cut off")
		}
		if rest[0] == radiusAuthenticator && !radiusProved(b, rest[2:rest[1]], req, key) {
			return 0, malformed("its Message-Authenticator is wrong")
		}
	}
	return int(b[0]), nil
}

// radiusProved checks the Message-Authenticator of an answer, which lies in b at value.
func radiusProved(b, value, req []byte, key string) bool {
	if len(value) != 16 {
		return false
	}
	blank := bytes.Clone(b)
	copy(blank[4:20], req[4:20])
	at := bytes.Index(b, value)
	for i := range value {
		blank[at+i] = 0
	}
	mac := hmac.New(md5.New, []byte(key))
	mac.Write(blank)
	return hmac.Equal(mac.Sum(nil), value)
}
