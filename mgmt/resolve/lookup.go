package resolve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"

	"sluice/vendor-config/schema"
)

// payload is the size of UDP answers that we take (RFC 9715: one that is hardly ever fragmented).
const payload = 1232

var (
	errNoName    = errors.New("the name does not exist")
	errNoAddress = errors.New("the name has no IPv4 address")
)

// fromFile reads whom to ask from a file in the form of resolv.conf(5).
func fromFile(file string) (*dns.ClientConfig, error) {
	conf, err := dns.ClientConfigFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("the name servers cannot be read from %s: %w", file, err)
	}
	if len(conf.Servers) == 0 {
		return nil, fmt.Errorf("%s names no name server", file)
	}
	return conf, nil
}

// Lookup finds the IPv4 addresses of a host, once.
func (r *Resolver) Lookup(ctx context.Context, domain string) ([]netip.Addr, error) {
	found, _, err := r.lookup(ctx, domain)
	return found, err
}

// lookup finds the IPv4 addresses of a host and how long they hold.
func (r *Resolver) lookup(ctx context.Context, domain string) ([]netip.Addr, time.Duration, error) {
	conf, err := r.config()
	if err != nil {
		return nil, 0, err
	}
	for _, name := range conf.NameList(domain) {
		var found []netip.Addr
		var ttl time.Duration
		found, ttl, err = inTurn(ctx, conf, name)
		if !errors.Is(err, errNoName) {
			return found, ttl, err
		}
	}
	return nil, 0, err
}

// inTurn asks one name server after the other until one knows.
func inTurn(ctx context.Context, conf *dns.ClientConfig, name string) (found []netip.Addr, ttl time.Duration, err error) {
	patience := time.Duration(max(conf.Timeout, 1)) * time.Second
	for range max(conf.Attempts, 1) {
		for _, server := range conf.Servers {
			at := net.JoinHostPort(server, conf.Port)
			var in *dns.Msg
			if in, err = ask(ctx, at, name, patience); err != nil {
				err = fmt.Errorf("name server %s does not answer: %s", server, reason(err))
				continue
			}
			switch in.Rcode {
			case dns.RcodeSuccess:
				return addresses(in)
			case dns.RcodeNameError:
				return nil, 0, errNoName
			}
			err = fmt.Errorf("name server %s answers %s", server, dns.RcodeToString[in.Rcode])
		}
	}
	return nil, 0, err
}

// reason is an error of the network without the addresses that it repeats.
func reason(err error) string {
	if e := (net.Error)(nil); errors.As(err, &e) && e.Timeout() {
		return "timeout"
	}
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		return text[i+2:]
	}
	return text
}

// ask sends one question, by TCP if the answer does not fit.
func ask(ctx context.Context, at, name string, patience time.Duration) (*dns.Msg, error) {
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), dns.TypeA)
	m.SetEdns0(payload, false)
	for _, network := range []string{"udp", "tcp"} {
		c := dns.Client{Net: network, Timeout: patience, UDPSize: payload}
		in, _, err := c.ExchangeContext(ctx, m, at)
		switch {
		case err != nil:
			return nil, err
		case len(in.Question) != 1 || !strings.EqualFold(in.Question[0].Name, m.Question[0].Name) || in.Question[0].Qtype != dns.TypeA:
			return nil, errors.New("it answers another question")
		case in.Rcode == dns.RcodeFormatError && m.IsEdns0() != nil:
			m.Extra = nil // a server that does not know EDNS (RFC 6891 7)
			return askPlain(ctx, at, m, patience)
		case !in.Truncated:
			return in, nil
		}
	}
	return nil, errors.New("its answer is cut off")
}

func askPlain(ctx context.Context, at string, m *dns.Msg, patience time.Duration) (*dns.Msg, error) {
	c := dns.Client{Net: "tcp", Timeout: patience}
	in, _, err := c.ExchangeContext(ctx, m, at)
	return in, err
}

// addresses are those of an answer. A chain of aliases holds as long as each of its records does.
func addresses(in *dns.Msg) (found []netip.Addr, ttl time.Duration, err error) {
	ttl = latest
	for _, rr := range in.Answer {
		ttl = min(ttl, time.Duration(rr.Header().Ttl)*time.Second)
		a, ok := rr.(*dns.A)
		if !ok {
			continue
		}
		ip, ok := netip.AddrFromSlice(a.A.To4())
		if ok && schema.Unicast(ip) {
			found = append(found, ip)
		}
	}
	if len(found) == 0 {
		return nil, 0, errNoAddress
	}
	return found, ttl, nil
}
