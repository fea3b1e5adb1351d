package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/dns/dnsmessage"

	"sluice/mgmt/compile"
)

// CheckDNS is a monitor of type DNS (RFC 1035): the server must answer the query without an error and, with IPAddress, with
// one of those addresses. Without a query the root is asked for and any answer will do, even a refusal.
func CheckDNS(ctx context.Context, p *compile.Probe) Outcome {
	q, err := dnsQuery(p.Ask)
	if err != nil {
		return unsent("the probe could not be sent: %v", err)
	}
	c, err := sendUDP(ctx, p, q.packet)
	if err != nil {
		return failure(p, "UDP", err)
	}
	defer c.Close()
	b := make([]byte, 64<<10)
	for range datagramsMax {
		n, err := c.Read(b)
		if err != nil {
			return answerFailure(p, "DNS", err)
		}
		found, ours, err := q.judge(b[:n])
		switch {
		case !ours:
			continue
		case err != nil:
			return answerFailure(p, "DNS", err)
		}
		return success("%s", found)
	}
	return failuref("%d datagrams received, none of which answers the query", datagramsMax)
}

// talkDNS is CheckDNS over TCP (RFC 7766).
func talkDNS(s *session, p *compile.Probe) (string, error) {
	q, err := dnsQuery(p.Ask)
	if err != nil {
		return "", wrongAsk(err.Error())
	}
	if _, err = s.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(q.packet))), q.packet...)); err != nil {
		return "", err
	}
	var size [2]byte
	if _, err := io.ReadFull(s.in, size[:]); err != nil {
		return "", err
	}
	b := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(s.in, b); err != nil {
		return "", err
	}
	found, ours, err := q.judge(b)
	if !ours {
		return "", malformed("it does not answer the query")
	}
	return found, err
}

// query is a question to a DNS server and what its answer must hold.
type query struct {
	packet []byte
	name   string // for the operator
	id     uint16
	asked  dnsmessage.Question
	any    bool // any answer will do
	wanted []netip.Addr
}

var queryTypes = map[string]dnsmessage.Type{"Address": dnsmessage.TypeA, "AAAA": dnsmessage.TypeAAAA, "Zone": dnsmessage.TypeSOA}

func dnsQuery(a *compile.Ask) (*query, error) {
	name := strings.TrimSuffix(a.Query, ".") + "."
	n, err := dnsmessage.NewName(name)
	if err != nil {
		return nil, err
	}
	q := &query{name: a.Query, id: uint16(rand.Uint32()), any: a.Query == "", wanted: a.Addresses,
		asked: dnsmessage.Question{Name: n, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}
	if t, ok := queryTypes[a.QueryType]; ok {
		q.asked.Type = t
	}
	m := dnsmessage.Message{Header: dnsmessage.Header{ID: q.id, RecursionDesired: true}, Questions: []dnsmessage.Question{q.asked}}
	q.packet, err = m.Pack()
	return q, err
}

// recordsMax is how many records of an answer are looked at.
const recordsMax = 500

// judge reads an answer. What does not answer the query is not ours: anybody can send datagrams.
func (q *query) judge(b []byte) (found string, ours bool, err error) {
	var parser dnsmessage.Parser
	h, err := parser.Start(b)
	if err != nil || !h.Response || h.ID != q.id {
		return "", false, nil
	}
	asked, err := parser.AllQuestions()
	if err != nil || len(asked) > 1 || len(asked) == 1 && !sameQuestion(asked[0], q.asked) {
		return "", false, nil
	}
	const good = "DNS response received"
	switch {
	case q.any:
		return good, true, nil
	case h.RCode != dnsmessage.RCodeSuccess:
		return "", true, refusedf("DNS response says %s to the query for %s", rcodes(h.RCode), q.name)
	case len(asked) == 0:
		return "", false, nil
	}
	has, err := addresses(&parser)
	switch {
	case err != nil:
		return "", true, malformed("its records cannot be read")
	case len(q.wanted) > 0 && !slices.ContainsFunc(has.addrs, func(a netip.Addr) bool { return slices.Contains(q.wanted, a) }):
		return "", true, refusedf("DNS response for %s has none of the addresses expected, but %s", q.name, list(has.addrs))
	case len(q.wanted) == 0 && !slices.Contains(has.types, q.asked.Type):
		return "", true, refusedf("DNS response has no record for %s", q.name)
	}
	return good, true, nil
}

func sameQuestion(a, b dnsmessage.Question) bool {
	return a.Type == b.Type && a.Class == b.Class && strings.EqualFold(a.Name.String(), b.Name.String())
}

type answer struct {
	addrs []netip.Addr
	types []dnsmessage.Type
}

// addresses reads the records of the answer section.
func addresses(parser *dnsmessage.Parser) (a answer, err error) {
	for range recordsMax {
		h, err := parser.AnswerHeader()
		if errors.Is(err, dnsmessage.ErrSectionDone) {
			return a, nil
		}
		if err != nil {
			return a, err
		}
		a.types = append(a.types, h.Type)
		switch h.Type {
		case dnsmessage.TypeA:
			r, err := parser.AResource()
			if err != nil {
				return a, err
			}
			a.addrs = append(a.addrs, netip.AddrFrom4(r.A))
		case dnsmessage.TypeAAAA:
			r, err := parser.AAAAResource()
			if err != nil {
				return a, err
			}
			a.addrs = append(a.addrs, netip.AddrFrom16(r.AAAA))
		default:
			if err := parser.SkipAnswer(); err != nil {
				return a, err
			}
		}
	}
	return a, malformedf("more than %d records", recordsMax)
}

// rcodes are the words of RFC 1035 section 4.1.1 and RFC 2136.
func rcodes(c dnsmessage.RCode) string {
	if name, ok := map[dnsmessage.RCode]string{1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}[c]; ok {
		return name
	}
	return c.String()
}

func list(addrs []netip.Addr) string {
	if len(addrs) == 0 {
		return "no address"
	}
	words := make([]string, 0, 4)
	for _, a := range addrs {
		if len(words) == 4 {
			return strings.Join(words, " ") + " ..."
		}
		words = append(words, a.String())
	}
	return strings.Join(words, " ")
}
