package aaa

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"sluice/mgmt/radius"
	"sluice/vendor-config/schema"
)

type radiusServer struct{ *schema.RadiusAction }

func (r *radiusServer) name() string { return r.Name }

// login sends the request until it is answered or has been sent often enough. Only an answer that proves that its sender knows
// the key counts: with a Message-Authenticator, unless messageAuthenticator is OFF for a server that is older than CVE-2024-3596.
func (r *radiusServer) login(ctx context.Context, user, plain string) ([]string, error) {
	if len(plain) > radius.MostPassword {
		return nil, fmt.Errorf("%w: a password is at most %d bytes", errRejected, radius.MostPassword)
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
func (r *radiusServer) exchange(c net.Conn, request []byte) (answer []byte, forged, err error) {
	c.SetReadDeadline(time.Now().Add(time.Duration(r.AuthTimeout) * time.Second))
	if _, err := c.Write(request); err != nil {
		return nil, nil, err
	}
	b := make([]byte, radius.Most+1)
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
func (r *radiusServer) request(user, plain string, from net.Addr) []byte {
	var more []radius.Attribute
	if a, ok := from.(*net.UDPAddr); ok && r.RadNASIP == "ENABLED" {
		more = append(more, radius.Attribute{Kind: radius.NASAddress, Value: a.IP.To4()})
	}
	if id := r.RadNASID; id != "" {
		more = append(more, radius.Attribute{Kind: radius.NASIdentifier, Value: []byte(id)})
	} else if r.RadNASIP != "ENABLED" { // one of the two must be there (RFC 2865 section 4.1)
		more = append(more, radius.Attribute{Kind: radius.NASIdentifier, Value: []byte("sluice")})
	}
	return radius.Request(r.RadKey, user, plain, more...)
}

var (
	errForged   = errors.New("answers come that do not prove to know radKey: it is not that of the server, or somebody else answers")
	errUnsigned = errors.New("answers come without Message-Authenticator, which anybody on the way could have changed: " +
		"have the server send it, or set -messageAuthenticator OFF")
)

// proved tells why b is no answer to the request by one who knows the key, or nil.
func (r *radiusServer) proved(b, request []byte) error {
	signatures, ok := radius.Proved(b, request, r.RadKey)
	switch {
	case !ok || signatures > 1:
		return errForged
	case signatures == 0 && r.MessageAuth != "OFF":
		return errUnsigned
	}
	return nil
}

// read is what an answer says.
func (r *radiusServer) read(b []byte) ([]string, error) {
	switch b[0] {
	case radius.Accept:
	case radius.Reject:
		return nil, errRejected
	case radius.Challenge:
		return nil, fmt.Errorf("%w: it asks for more than a password, which is not supported", errRejected)
	default:
		return nil, fmt.Errorf("an answer with code %d, which is none to a login", b[0])
	}
	var groups []string
	if r.DefaultGroup != "" {
		groups = append(groups, r.DefaultGroup)
	}
	radius.Attributes(b[radius.Header:], func(kind byte, value []byte) { groups = append(groups, r.groupsIn(kind, value)...) })
	return groups, nil
}

// groupsIn are the groups that an attribute tells: one of RADIUS itself, or of a vendor (RFC 2865 section 5.26).
func (r *radiusServer) groupsIn(kind byte, value []byte) (groups []string) {
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
	case r.RadVendorID != 0 && kind == radius.Vendor && len(value) > 4 && binary.BigEndian.Uint32(value) == r.RadVendorID:
		radius.Attributes(value[4:], func(kind byte, value []byte) {
			if kind == r.RadAttribute {
				take(value)
			}
		})
	}
	return groups
}
