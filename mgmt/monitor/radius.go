package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"net"

	"sluice/mgmt/compile"
	"sluice/mgmt/radius"
)

// CheckRADIUS is a monitor of type RADIUS: the server must answer an Access-Request with one of the codes expected, which is
// Access-Accept (2) unless respCode says otherwise. An answer that does not prove that it knows the key does not count.
func CheckRADIUS(ctx context.Context, p *compile.Probe) Outcome {
	req := radiusPacket(p)
	c, err := sendUDP(ctx, p, req)
	if err != nil {
		return failure(p, "UDP", err)
	}
	defer c.Close()
	forged := 0
	b := make([]byte, radius.Most+1)
	for range datagramsMax {
		n, err := c.Read(b)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() && forged > 0 {
			break
		}
		if err != nil {
			return answerFailure(p, "RADIUS", err)
		}
		code, ok := radiusAnswer(b[:n], req, p.Ask.RadKey)
		if !ok {
			forged++
			continue
		}
		want := p.Ask.RespCodes
		if len(want) == 0 {
			want = [][2]uint16{{radius.Accept, radius.Accept}}
		}
		if !expected(want, code) {
			return failuref("RADIUS response code %d received, expected %s", code, codes(want))
		}
		return success("RADIUS response code %d received", code)
	}
	return failuref("RADIUS response with a wrong authenticator: radKey is not that of the server, or somebody else answers")
}

// radiusPacket is the request.
func radiusPacket(p *compile.Probe) []byte {
	a := p.Ask
	var more []radius.Attribute
	nas := a.RadNASIP
	if !nas.IsValid() {
		nas = p.Source
	}
	if nas = nas.Unmap(); nas.Is4() {
		more = append(more, radius.Attribute{Kind: radius.NASAddress, Value: nas.AsSlice()})
	}
	if a.RadNASID != "" {
		more = append(more, radius.Attribute{Kind: radius.NASIdentifier, Value: []byte(a.RadNASID)})
	}
	return radius.Request(a.RadKey, a.UserName, a.Password, more...)
}

// radiusAnswer is the code of an answer to the request by one who knows the key. A server that is monitored need not sign it
// with a Message-Authenticator: nobody is let in by it.
func radiusAnswer(b, req []byte, key string) (code int, ok bool) {
	if len(b) >= radius.Header {
		b = b[:min(len(b), int(binary.BigEndian.Uint16(b[2:])))] // what follows is padding
	}
	if _, ok := radius.Proved(b, req, key); !ok {
		return 0, false
	}
	return int(b[0]), true
}
