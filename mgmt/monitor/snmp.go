package monitor

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"

	"sluice/mgmt/compile"
)

// PDUs and values of SNMP (RFC 1157, RFC 3416, RFC 2578).
const (
	snmpGet        = 0xa0
	snmpResponse   = 0xa2
	snmpCounter32  = 0x41
	snmpGauge32    = 0x42
	snmpTimeTicks  = 0x43
	snmpCounter64  = 0x46
	snmpNoObject   = 0x80
	snmpNoInstance = 0x81
	snmpEndOfView  = 0x82
)

// CheckSNMP is a monitor of type SNMP: the agent must answer with a number for the OID, not above snmpThreshold if there is
// one.
func CheckSNMP(ctx context.Context, p *compile.Probe) Outcome {
	values, o := snmpAsk(ctx, p, []string{p.Ask.SNMPOID})
	if values == nil {
		return o
	}
	if v := values[0]; p.Ask.Threshold > 0 && v > int64(p.Ask.Threshold) {
		return failuref("SNMP value %d received, above the threshold of %d", v, p.Ask.Threshold)
	}
	return success("SNMP value %d received", values[0])
}

// snmpAsk asks an agent for the values of OIDs. Without values the outcome says why.
func snmpAsk(ctx context.Context, p *compile.Probe, oids []string) ([]int64, Outcome) {
	id := rand.Uint32() >> 1
	c, err := sendUDP(ctx, p, snmpRequest(p.Ask, id, oids))
	if err != nil {
		return nil, failure(p, "UDP", err)
	}
	defer c.Close()
	b := make([]byte, 64<<10)
	for range datagramsMax {
		n, err := c.Read(b)
		if err != nil {
			return nil, answerFailure(p, "SNMP", err)
		}
		values, ours, err := snmpAnswer(b[:n], id, oids)
		if !ours {
			continue
		}
		if err != nil {
			return nil, answerFailure(p, "SNMP", err)
		}
		return values, Outcome{}
	}
	return nil, failuref("%d datagrams received, none of which answers the request", datagramsMax)
}

func snmpRequest(a *compile.Ask, id uint32, oids []string) []byte {
	var list [][]byte
	for _, o := range oids {
		list = append(list, ber(berSequence, ber(berOID, snmpOID(o)), ber(berNull)))
	}
	version := uint32(0)
	if a.SNMPVersion == "V2" {
		version = 1
	}
	pdu := ber(snmpGet, berNumber(berInteger, id), berNumber(berInteger, 0), berNumber(berInteger, 0), ber(berSequence, list...))
	return ber(berSequence, berNumber(berInteger, version), berText(berOctets, a.Community), pdu)
}

// snmpOID writes 1.3.6.1.2.1.1.3.0; what is no OID gives an empty one.
func snmpOID(text string) []byte {
	var numbers []uint64
	for _, part := range strings.Split(strings.TrimPrefix(text, "."), ".") {
		n, err := strconv.ParseUint(part, 10, 32)
		if err != nil {
			return nil
		}
		numbers = append(numbers, n)
	}
	if len(numbers) < 2 {
		return nil
	}
	out := []byte{byte(numbers[0]*40 + numbers[1])}
	for _, n := range numbers[2:] {
		var digits []byte
		for more := byte(0); ; more = 0x80 {
			digits = append([]byte{byte(n&0x7f) | more}, digits...)
			if n >>= 7; n == 0 {
				break
			}
		}
		out = append(out, digits...)
	}
	return out
}

// snmpAnswer reads the values for the OIDs out of a response. One to another request, or no SNMP at all, is not ours.
func snmpAnswer(b []byte, id uint32, oids []string) (values []int64, ours bool, err error) {
	body, _, err := berTake(b, berSequence)
	if err == nil {
		_, body, err = berInt(body, berInteger) // version
	}
	if err == nil {
		_, body, err = berTake(body, berOctets) // community
	}
	if err == nil {
		body, _, err = berTake(body, snmpResponse)
	}
	var got, status, at int64
	if err == nil {
		got, body, err = berInt(body, berInteger)
	}
	if err != nil || got != int64(id) {
		return nil, false, err
	}
	if status, body, err = berInt(body, berInteger); err != nil {
		return nil, true, err
	}
	if at, body, err = berInt(body, berInteger); err != nil {
		return nil, true, err
	}
	if status != 0 {
		return nil, true, snmpRefused(status, at, oids)
	}
	if body, _, err = berTake(body, berSequence); err != nil {
		return nil, true, err
	}
	for _, o := range oids {
		var one, name []byte
		if one, body, err = berTake(body, berSequence); err != nil {
			return nil, true, err
		}
		if name, one, err = berTake(one, berOID); err != nil {
			return nil, true, err
		}
		if string(name) != string(snmpOID(o)) {
			return nil, true, malformedf("it is about another OID than %s", o)
		}
		v, err := snmpValue(one, o)
		if err != nil {
			return nil, true, err
		}
		values = append(values, v)
	}
	return values, true, nil
}

// snmpRefused is an error status (RFC 1157 section 4.1.1) in words.
func snmpRefused(status, at int64, oids []string) error {
	words := map[int64]string{1: "the response is too big", 2: "it has no such object", 5: "it has an error of its own"}[status]
	if words == "" {
		words = "error status " + strconv.FormatInt(status, 10)
	}
	if at >= 1 && at <= int64(len(oids)) {
		words += " as " + oids[at-1]
	}
	return refusedf("SNMP agent refuses: %s", words)
}

// snmpValue is the number that a value is. Some agents give numbers as text, e.g. a load of 0.25: its whole part counts.
func snmpValue(b []byte, oid string) (int64, error) {
	e, _, err := berNext(b)
	if err != nil {
		return 0, err
	}
	switch e.tag {
	case berInteger, snmpCounter32, snmpGauge32, snmpTimeTicks, snmpCounter64:
		return berValue(e.body)
	case berOctets:
		whole, _, _ := strings.Cut(strings.TrimSpace(string(e.body)), ".")
		if n, err := strconv.ParseInt(whole, 10, 64); err == nil {
			return n, nil
		}
	case snmpNoObject, snmpNoInstance, snmpEndOfView:
		return 0, refusedf("SNMP agent has no such object as %s", oid)
	}
	return 0, refusedf("SNMP value of %s is no number", oid)
}
