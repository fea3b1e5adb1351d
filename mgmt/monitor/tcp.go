package monitor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"sluice/mgmt/compile"
)

// CheckTCP is a monitor of type TCP: the server must complete the handshake.
func CheckTCP(ctx context.Context, p *compile.Probe) Outcome {
	s, err := open(ctx, p, "TCP")
	if err != nil {
		return failure(p, "TCP", err)
	}
	s.Close()
	if p.Secure {
		return success("TLS handshake completed")
	}
	return success("TCP syn+ack received")
}

// dial connects to the probe's target from its source. Closing the connection sends RST: nothing of it stays on the
// server, and no TIME_WAIT here uses up the few ports of the SNIP that are the kernel's.
func dial(ctx context.Context, p *compile.Probe) (*net.TCPConn, error) {
	if !p.Target.IsValid() || p.Target.Port() == 0 {
		return nil, errNoPort
	}
	way, err := wayTo(ctx, p)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Control: lateBind, KeepAlive: -1}
	d.SetMultipathTCP(false)
	if p.Source.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(p.Source, 0))
	}
	d = way.dialer(d)
	c, err := d.DialContext(ctx, "tcp", p.Target.String())
	if err != nil {
		return nil, err
	}
	t := c.(*net.TCPConn)
	if err := t.SetLinger(0); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// lateBind has the kernel pick the source port when the target is known, so that one port serves several targets: the
// kernel has 5,536 ports of a SNIP and there may be more monitors.
func lateBind(network, _ string, c syscall.RawConn) error {
	if network != "tcp4" {
		return nil // the option is IPv4's
	}
	var err error
	if e := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	}); e != nil {
		return e
	}
	return err
}

var errNoPort = errors.New("the service has no port, and the monitor no destPort")

// failure says in a sentence why a probe failed. what is the protocol that was waited for.
func failure(p *compile.Probe, what string, err error) Outcome {
	var timeout net.Error
	var handshake tlsFailure
	var lost astray
	if errors.As(err, &handshake) {
		what = "TLS"
	}
	switch {
	case errors.As(err, &lost) && lost.unsent:
		return unsent("the probe could not be sent: %v", lost)
	case errors.As(err, &lost) && p.Way == compile.Through:
		return failuref("device %s is unreachable: %v", p.Via, lost)
	case errors.As(err, &lost):
		return failuref("%v", lost)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failuref("%s connection refused by the server", what)
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return failuref("%s connection reset by the server", what)
	case errors.Is(err, syscall.EHOSTUNREACH):
		return failuref("server %s is unreachable: it does not answer ARP, or a router says so", p.Target.Addr())
	case errors.Is(err, syscall.ENETUNREACH):
		return unsent("no route to %s. Add a SNIP in its subnet, or a route", p.Target.Addr())
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return unsent("the probe could not be sent: source %s is not up on this appliance, or has no free port", p.Source)
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return unsent("the probe could not be sent: no file descriptor is left on this appliance")
	case errors.Is(err, errNoPort):
		return unsent("%s: %v", what, err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return failuref("%s connection timed out", what)
	}
	return failuref("%s: %v", what, cause(err))
}

func failuref(format string, a ...any) Outcome {
	return Outcome{Response: "Failure - " + fmt.Sprintf(format, a...) + "."}
}

// unsent is the end of a probe that did not leave the appliance, so that nothing is known of the server.
func unsent(format string, a ...any) Outcome {
	o := failuref(format, a...)
	o.Unsent = true
	return o
}

// cause is the innermost error: the operator need not read the layers that it came through.
func cause(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
