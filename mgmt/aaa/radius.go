package aaa

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"sluice/vendor-config/schema"
)

// RADIUS is written here and not taken from a library: the only one to be had has no release and leaves the
// Message-Authenticator, on which everything rests since CVE-2024-3596, to its callers.

// Codes and attributes (RFC 2865 sections 3 and 5).
const (
	accessRequest   = 1
	accessAccept    = 2
	accessReject    = 3
	accessChallenge = 11

	attrUserName             = 1
	attrPassword             = 2
	attrNASAddress           = 4
	attrVendor               = 26
	attrNASIdentifier        = 32
	attrMessageAuthenticator = 80 // RFC 3579 section 3.2

	packetMax = 4096
)

type radius struct{ *schema.RadiusAction }

func (r *radius) name() string { return r.Name }

// login sends the request until it is answered or has been sent often enough. Only an answer that proves that its sender knows
// the key counts: with a Message-Authenticator, unless messageAuthenticator is OFF for a server that is older than CVE-2024-3596.
func (r *radius) login(ctx context.Context, user, plain string) ([]string, error) {
	if len(plain) > 128 { // RFC 2865 section 5.2
		return nil, fmt.Errorf("%w: a password is at most 128 bytes", errRejected)
	}
	d := net.Dialer{}
	c, err := d.DialContext(ctx, "udp", netip.AddrPortFrom(r.ServerIP, r.ServerPort).String())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	request := r.request(user, plain, c.LocalAddr())
	var forged error
	for range r.Retries {
		if err = ctx.Err(); err != nil {
			break
		}
		var answer []byte
		answer, forged, err = r.exchange(c, request)
		if err == nil {
			return r.read(answer)
		}
	}
	if forged != nil {
		return nil, forged
	}
	return nil, fmt.Errorf("no answer: %w", err)
}

// exchange sends the request once and waits for an answer to it. forged tells what is wrong with others that came.
func (r *radius) exchange(c net.Conn, request []byte) (answer []byte, forged, err error) {
	c.SetReadDeadline(time.Now().Add(time.Duration(r.AuthTimeout) * time.Second))
	if _, err := c.Write(request); err != nil {
		return nil, nil, err
	}
	b := make([]byte, packetMax+1)
	for {
		n, err := c.Read(b)
		if err != nil {
			return nil, forged, err
		}
		if forged = r.proved(b[:n], request); forged == nil {
			return b[:n], nil, nil
		}
	}
}

// request is an Access-Request.
func (r *radius) request(user, plain string, from net.Addr) []byte {
	var random [17]byte
	rand.Read(random[:])
	b := append([]byte{accessRequest, random[16], 0, 0}, random[:16]...)
	attribute := func(kind byte, value []byte) {
		b = append(append(b, kind, byte(len(value)+2)), value...)
	}
	attribute(attrMessageAuthenticator, make([]byte, 16)) // first, as the remedy of CVE-2024-3596 asks; filled in below
	attribute(attrUserName, []byte(user))
	attribute(attrPassword, r.hidden(plain, random[:16]))
	if a, ok := from.(*net.UDPAddr); ok && r.RadNASIP == "ENABLED" {
		attribute(attrNASAddress, a.IP.To4())
	}
	if id := r.RadNASID; id != "" {
		attribute(attrNASIdentifier, []byte(id))
	} else if r.RadNASIP != "ENABLED" { // one of the two must be there (RFC 2865 section 4.1)
		attribute(attrNASIdentifier, []byte("sluice"))
	}
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[22:38], r.mac(b))
	return b
}

func (r *radius) mac(b []byte) []byte {
	h := hmac.New(md5.New, []byte(r.RadKey))
	h.Write(b)
	return h.Sum(nil)
}

// hidden is the password as it is sent (RFC 2865 section 5.2).
func (r *radius) hidden(plain string, authenticator []byte) []byte {
	text := append([]byte(plain), make([]byte, (16-len(plain)%16)%16)...)
	before := authenticator
	for i := 0; i < len(text); i += 16 {
		mask := md5.Sum(append([]byte(r.RadKey), before...))
		for k := range mask {
			text[i+k] ^= mask[k]
		}
		before = text[i : i+16]
	}
	return text
}

var (
	errForged   = errors.New("answers come that do not prove to know radKey: it is not that of the server, or somebody else answers")
	errUnsigned = errors.New("answers come without Message-Authenticator, which anybody on the way could have changed: " +
		"have the server send it, or set -messageAuthenticator OFF")
)

// proved tells why b is no answer to the request by one who knows the key, or nil.
func (r *radius) proved(b, request []byte) error {
	if len(b) < 20 || len(b) > packetMax || int(binary.BigEndian.Uint16(b[2:])) != len(b) || b[1] != request[1] {
		return errForged
	}
	sum := md5.New()
	sum.Write(b[:4])
	sum.Write(request[4:20])
	sum.Write(b[20:])
	sum.Write([]byte(r.RadKey))
	if !hmac.Equal(sum.Sum(nil), b[4:20]) {
		return errForged
	}
	signatures, good := 0, 0
	whole := attributes(b[20:], func(kind byte, value []byte, at int) {
		if kind != attrMessageAuthenticator {
			return
		}
		if signatures++; len(value) != 16 {
			return
		}
		blank := bytes.Clone(b)
		copy(blank[4:20], request[4:20])
		clear(blank[20+at : 20+at+16])
		if hmac.Equal(r.mac(blank), value) {
			good++
		}
	})
	switch {
	case !whole || good != signatures || signatures > 1:
		return errForged
	case signatures == 0 && r.MessageAuth != "OFF":
		return errUnsigned
	}
	return nil
}

// attributes calls f for each attribute; at is where the value begins. It tells whether the list is whole.
func attributes(b []byte, f func(kind byte, value []byte, at int)) bool {
	for at := 0; at < len(b); at += int(b[at+1]) {
		if len(b)-at < 2 || b[at+1] < 2 || int(b[at+1]) > len(b)-at {
			return false
		}
		f(b[at], b[at+2:at+int(b[at+1])], at+2)
	}
	return true
}

// read is what an answer says.
func (r *radius) read(b []byte) ([]string, error) {
	switch b[0] {
	case accessAccept:
	case accessReject:
		return nil, errRejected
	case accessChallenge:
		return nil, fmt.Errorf("%w: it asks for more than a password, which is not supported", errRejected)
	default:
		return nil, fmt.Errorf("an answer with code %d, which is none to a login", b[0])
	}
	var groups []string
	if r.DefaultGroup != "" {
		groups = append(groups, r.DefaultGroup)
	}
	attributes(b[20:], func(kind byte, value []byte, _ int) { groups = append(groups, r.groupsIn(kind, value)...) })
	return groups, nil
}

// groupsIn are the groups that an attribute tells: one of RADIUS itself, or of a vendor (RFC 2865 section 5.26).
func (r *radius) groupsIn(kind byte, value []byte) (groups []string) {
	if r.RadAttribute == 0 {
		return nil
	}
	take := func(value []byte) {
		list, ok := strings.CutPrefix(string(value), r.RadGroupPrefix)
		if !ok {
			return
		}
		for _, g := range strings.Split(list, r.RadGroupSep) {
			if g = strings.TrimSpace(g); g != "" {
				groups = append(groups, g)
			}
		}
	}
	switch {
	case r.RadVendorID == 0 && kind == r.RadAttribute:
		take(value)
	case r.RadVendorID != 0 && kind == attrVendor && len(value) > 4 && binary.BigEndian.Uint32(value) == r.RadVendorID:
		attributes(value[4:], func(kind byte, value []byte, _ int) {
			if kind == r.RadAttribute {
				take(value)
			}
		})
	}
	return groups
}
