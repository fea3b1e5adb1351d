package monitor

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"sluice/mgmt/compile"
)

// CheckUDPECV is a monitor of type UDP-ECV: a datagram that comes back after `send` must contain `recv`. Without recv the
// server is up unless it says, by ICMP, that nobody listens: a datagram that it swallows is no fault.
func CheckUDPECV(ctx context.Context, p *compile.Probe) Outcome {
	c, err := sendUDP(ctx, p, p.Ask.Send)
	if err != nil {
		return failure(p, "UDP", err)
	}
	defer c.Close()
	answers := 0
	for b := make([]byte, 64<<10); ; {
		n, err := c.Read(b)
		var timeout net.Error
		switch late := errors.As(err, &timeout) && timeout.Timeout(); {
		case late && len(p.Ask.Recv) == 0 && errors.Is(ctx.Err(), context.DeadlineExceeded):
			return success("No ICMP error received")
		case late && answers > 0:
			return failuref("Pattern not found in %d datagrams received", answers)
		case err != nil:
			return answerFailure(p, "UDP", err)
		case len(p.Ask.Recv) == 0:
			return success("UDP response received")
		case bytes.Contains(b[:min(n, patternRoom)], p.Ask.Recv):
			return success("Pattern found in response")
		}
		if answers++; answers == datagramsMax {
			return failuref("Pattern not found in %d datagrams received", answers)
		}
	}
}

// datagramsMax is how many datagrams are looked at in one probe.
const datagramsMax = 64

// udp is a socket for the time of one probe.
type udp struct {
	net.Conn
	stop func() bool
}

// Close closes the socket.
func (u udp) Close() error {
	u.stop()
	return u.Conn.Close()
}

// sendUDP sends a datagram to the probe's target and gives the socket on which the answer comes; what others send does not
// arrive on it. Reading ends with ctx.
func sendUDP(ctx context.Context, p *compile.Probe, datagram []byte) (udp, error) {
	if !p.Target.IsValid() || p.Target.Port() == 0 {
		return udp{}, errNoPort
	}
	way, err := wayTo(ctx, p)
	if err != nil {
		return udp{}, err
	}
	d := net.Dialer{}
	if p.Source.IsValid() {
		d.LocalAddr = net.UDPAddrFromAddrPort(netip.AddrPortFrom(p.Source, 0))
	}
	d = way.dialer(d)
	c, err := d.DialContext(ctx, "udp", p.Target.String())
	if err != nil {
		return udp{}, err
	}
	u := udp{c, context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })}
	if _, err := u.Write(datagram); err != nil {
		u.Close()
		return udp{}, err
	}
	return u, nil
}
