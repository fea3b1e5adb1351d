package monitor

import (
	"crypto/md5"
	"encoding/binary"
	"net"
	"net/netip"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"sluice/mgmt/compile"
)

// asked answers each datagram with what says makes of it.
func asked(t *testing.T, says func(b []byte) [][]byte) netip.AddrPort {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 11)})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := make([]byte, 4096); ; {
			n, from, err := c.ReadFromUDP(b)
			if err != nil {
				return
			}
			for _, d := range says(b[:n]) {
				c.WriteToUDP(d, from)
			}
		}
	}()
	t.Cleanup(func() { c.Close(); <-done })
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// nameServer answers every query by change.
func nameServer(t *testing.T, change func(m *dnsmessage.Message)) netip.AddrPort {
	return asked(t, func(b []byte) [][]byte {
		var m dnsmessage.Message
		if m.Unpack(b) != nil {
			return nil
		}
		m.Response = true
		change(&m)
		out, _ := m.Pack()
		return [][]byte{out}
	})
}

func record(m *dnsmessage.Message, body dnsmessage.ResourceBody) {
	m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET}, Body: body})
}

func TestDNS(t *testing.T) {
	noLeaks(t)
	is := func(m *dnsmessage.Message) { record(m, &dnsmessage.AResource{A: [4]byte{10, 0, 0, 1}}) }
	ask := func(kind string, addrs ...string) *compile.Ask {
		a := &compile.Ask{Query: "www.example.com", QueryType: kind}
		for _, s := range addrs {
			a.Addresses = append(a.Addresses, netip.MustParseAddr(s))
		}
		return a
	}
	judge(t, []judged{
		{"answers", "DNS", nameServer(t, is), ask("Address"), true, "Success - DNS response received."},
		{"answers right", "DNS", nameServer(t, is), ask("Address", "10.0.0.9", "10.0.0.1"), true, "Success - DNS response received."},
		{"answers wrong", "DNS", nameServer(t, is), ask("Address", "10.0.0.9"), false,
			"Failure - DNS response for www.example.com has none of the addresses expected, but 10.0.0.1."},
		{"answers AAAA", "DNS", nameServer(t, func(m *dnsmessage.Message) {
			record(m, &dnsmessage.AAAAResource{AAAA: netip.MustParseAddr("2001:db8::1").As16()})
		}), ask("AAAA", "2001:db8::1"), true, "Success - DNS response received."},
		{"answers SOA", "DNS", nameServer(t, func(m *dnsmessage.Message) {
			record(m, &dnsmessage.SOAResource{NS: m.Questions[0].Name, MBox: m.Questions[0].Name})
		}),
			ask("Zone"), true, "Success - DNS response received."},
		{"has nothing", "DNS", nameServer(t, func(m *dnsmessage.Message) {}), ask("Address"), false, "Failure - DNS response has no record for www.example.com."},
		{"knows no such name", "DNS", nameServer(t, func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeNameError }), ask("Address"), false,
			"Failure - DNS response says NXDOMAIN to the query for www.example.com."},
		{"refuses", "DNS", nameServer(t, func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeRefused }), ask("Address"), false,
			"Failure - DNS response says REFUSED to the query for www.example.com."},
		{"refuses the root", "DNS", nameServer(t, func(m *dnsmessage.Message) { m.RCode = dnsmessage.RCodeRefused }), &compile.Ask{}, true, "Success - DNS response received."},
		{"another number", "DNS", nameServer(t, func(m *dnsmessage.Message) { is(m); m.ID++ }), ask("Address"), false, "Failure - DNS response timed out."},
		{"another question", "DNS", nameServer(t, func(m *dnsmessage.Message) { is(m); m.Questions[0].Type = dnsmessage.TypeMX }), ask("Address"), false, "Failure - DNS response timed out."},
		{"no DNS", "DNS", datagrams(t, "hello"), ask("Address"), false, "Failure - DNS response timed out."},
		{"a flood", "DNS", asked(t, func(b []byte) [][]byte { return make([][]byte, 100) }), ask("Address"), false,
			"Failure - 64 datagrams received, none of which answers the query."},
	})
}

func FuzzDNSAnswer(f *testing.F) {
	q, err := dnsQuery(&compile.Ask{Query: "a.example", QueryType: "Address"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(q.packet[2:])
	f.Fuzz(func(t *testing.T, b []byte) {
		b = append(binary.BigEndian.AppendUint16(nil, q.id), b...)
		found, ours, err := q.judge(b)
		if ours && (found == "") == (err == nil) || !ours && (found != "" || err != nil) {
			t.Errorf("%x: %q %v %v", b, found, ours, err)
		}
	})
}

// radiusServer answers by one who knows the key.
func radiusServer(t *testing.T, key string, code byte, more ...byte) netip.AddrPort {
	return asked(t, func(req []byte) [][]byte { return [][]byte{radiusReply(req, key, code, more)} })
}

func radiusReply(req []byte, key string, code byte, more []byte) []byte {
	b := append([]byte{code, req[1], 0, 0}, req[4:20]...)
	b = append(b, more...)
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	sum := md5.Sum(append(append([]byte{}, b...), key...))
	copy(b[4:], sum[:])
	return b
}

func TestRADIUS(t *testing.T) {
	noLeaks(t)
	ask := &compile.Ask{UserName: "probe", Password: "secret", RadKey: "key", RadNASID: "adc"}
	both := *ask
	both.RespCodes = [][2]uint16{{2, 3}}
	var seen []byte
	rejecting := asked(t, func(req []byte) [][]byte {
		seen = append([]byte{}, req...)
		return [][]byte{radiusReply(req, "key", 3, nil)}
	})
	const forged = "Failure - RADIUS response with a wrong authenticator: radKey is not that of the server, or somebody else answers."
	judge(t, []judged{
		{"accepts", "RADIUS", radiusServer(t, "key", 2, 18, 4, 'h', 'i'), ask, true, "Success - RADIUS response code 2 received."},
		{"rejects", "RADIUS", rejecting, ask, false, "Failure - RADIUS response code 3 received, expected 2."},
		{"rejects and may", "RADIUS", rejecting, &both, true, "Success - RADIUS response code 3 received."},
		{"another key", "RADIUS", radiusServer(t, "other", 2), ask, false, forged},
		{"an attribute cut off", "RADIUS", radiusServer(t, "key", 2, 18, 9, 'h'), ask, false, forged},
		{"a wrong Message-Authenticator", "RADIUS", radiusServer(t, "key", 2, append([]byte{80, 18}, make([]byte, 16)...)...), ask, false, forged},
		{"no RADIUS", "RADIUS", datagrams(t, "hello"), ask, false, forged},
		{"silent", "RADIUS", datagrams(t), ask, false, "Failure - RADIUS response timed out."},
	})
	plain := md5.Sum(append([]byte("key"), seen[4:20]...)) // RFC 2865 section 5.2
	for i, c := range []byte("secret") {
		plain[i] ^= c
	}
	if string(seen[20+18+7+2:20+18+7+2+16]) != string(plain[:]) {
		t.Errorf("the server saw %x", seen)
	}
}

func FuzzRADIUSAnswer(f *testing.F) {
	req := radiusPacket(&compile.Probe{Ask: &compile.Ask{UserName: "u", RadKey: "key"}})
	req[1] = 7
	copy(req[4:], make([]byte, 16)) // the same in each run, for the seeds
	f.Add(radiusReply(req, "key", 2, nil), true)
	f.Add(radiusReply(req, "key", 2, []byte{80, 18, 1, 2}), true)
	f.Fuzz(func(t *testing.T, b []byte, sign bool) {
		if sign && len(b) >= 20 { // past the authenticator, to the attributes
			copy(b[4:20], req[4:20])
			sum := md5.Sum(append(append([]byte{}, b[:min(len(b), int(binary.BigEndian.Uint16(b[2:])))]...), "key"...))
			copy(b[4:20], sum[:])
		}
		if code, ok := radiusAnswer(b, req, "key"); ok && (len(b) < 20 || code != int(b[0]) || b[1] != 7) {
			t.Errorf("%x: %d", b, code)
		}
	})
}

// agent answers every request by the values given, each an element of BER.
func agent(t *testing.T, status uint32, values ...[]byte) netip.AddrPort {
	return asked(t, func(b []byte) [][]byte { return [][]byte{agentSays(b, status, values...)} })
}

func agentSays(b []byte, status uint32, values ...[]byte) []byte {
	body, _, _ := berTake(b, berSequence)
	_, body, _ = berTake(body, berInteger)
	community, body, _ := berTake(body, berOctets)
	pdu, _, _ := berTake(body, snmpGet)
	id, pdu, _ := berTake(pdu, berInteger)
	_, pdu, _ = berTake(pdu, berInteger)
	_, pdu, _ = berTake(pdu, berInteger)
	list, _, _ := berTake(pdu, berSequence)
	var out [][]byte
	for _, v := range values {
		var one []byte
		one, list, _ = berTake(list, berSequence)
		name, _, _ := berTake(one, berOID)
		out = append(out, ber(berSequence, ber(berOID, name), v))
	}
	return ber(berSequence, berNumber(berInteger, 0), ber(berOctets, community),
		ber(snmpResponse, ber(berInteger, id), berNumber(berInteger, status), berNumber(berInteger, min(status, 1)), ber(berSequence, out...)))
}

func TestSNMP(t *testing.T) {
	noLeaks(t)
	ask := &compile.Ask{SNMPOID: "1.3.6.1.4.1.2021.10.1.5.1", Community: "public", Threshold: 80}
	judge(t, []judged{
		{"below", "SNMP", agent(t, 0, berNumber(berInteger, 80)), ask, true, "Success - SNMP value 80 received."},
		{"above", "SNMP", agent(t, 0, berNumber(snmpGauge32, 81)), ask, false, "Failure - SNMP value 81 received, above the threshold of 80."},
		{"as text", "SNMP", agent(t, 0, berText(berOctets, "0.25")), ask, true, "Success - SNMP value 0 received."},
		{"text", "SNMP", agent(t, 0, berText(berOctets, "much")), ask, false, "Failure - SNMP value of 1.3.6.1.4.1.2021.10.1.5.1 is no number."},
		{"has not", "SNMP", agent(t, 0, ber(snmpNoObject)), ask, false, "Failure - SNMP agent has no such object as 1.3.6.1.4.1.2021.10.1.5.1."},
		{"refuses", "SNMP", agent(t, 2, berNumber(berInteger, 1)), ask, false, "Failure - SNMP agent refuses: it has no such object as 1.3.6.1.4.1.2021.10.1.5.1."},
		{"says nothing of it", "SNMP", agent(t, 0), ask, false, "Failure - no valid SNMP response: an element of its BER is cut off."},
		{"silent", "SNMP", datagrams(t), ask, false, "Failure - SNMP response timed out."},
		{"no SNMP", "SNMP", datagrams(t, "hello"), ask, false, "Failure - SNMP response timed out."},
	})
	if got := snmpOID("1.3.6.1.4.1.2021.10"); string(got) != "\x2b\x06\x01\x04\x01\x8f\x65\x0a" { // X.690 section 8.19
		t.Errorf("%x", got)
	}
}

func FuzzSNMPAnswer(f *testing.F) {
	oids := []string{"1.3.6.1.2.1.1.3.0"}
	ask := &compile.Ask{Community: "public"}
	f.Add(agentSays(snmpRequest(ask, 5, oids), 0, berNumber(snmpTimeTicks, 7)))
	f.Fuzz(func(t *testing.T, b []byte) {
		values, ours, err := snmpAnswer(b, 5, oids)
		if ours && err == nil && len(values) != 1 || !ours && values != nil {
			t.Errorf("%x: %v %v %v", b, values, ours, err)
		}
	})
}

func FuzzARPAnswer(f *testing.F) {
	b := arpMessage(net.HardwareAddr{2, 0, 0, 0, 0, 1}, [4]byte{10, 0, 0, 1}, [4]byte{10, 0, 0, 2})
	f.Add(b)
	b[7] = arpReply
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if arpAnswers(b, [4]byte{10, 0, 0, 1}) && (len(b) < arpLen || b[7] != arpReply || b[17] != 1) {
			t.Errorf("%x", b)
		}
	})
}
