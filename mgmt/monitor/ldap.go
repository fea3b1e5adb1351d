package monitor

import (
	"bufio"
	"strings"

	"sluice/mgmt/compile"
)

// Protocol operations of LDAP (RFC 4511 section 4).
const (
	ldapBind      = 0x60
	ldapBound     = 0x61
	ldapUnbind    = 0x42
	ldapSearch    = 0x63
	ldapEntry     = 0x64
	ldapDone      = 0x65
	ldapReference = 0x73
	ldapSimple    = 0x80 // authentication by password
)

// talkLDAP is a monitor of type LDAP: the server must let bindDN in (anybody without it) and find an entry below baseDN
// that the filter holds for and that has the attribute, if one is named. Without baseDN the server's own entry is read.
func talkLDAP(s *session, p *compile.Probe) (string, error) {
	filter, err := ldapFilter(p.Ask.Filter)
	if err != nil {
		return "", wrongAsk(err.Error())
	}
	bind := ber(ldapBind, berNumber(berInteger, 3), berText(berOctets, p.Ask.BindDN), berText(ldapSimple, p.Ask.Password))
	if _, err = s.Write(ldapMessage(1, bind)); err == nil {
		err = ldapBindAnswer(s.in, p.Ask.BindDN)
	}
	if err == nil {
		_, err = s.Write(ldapMessage(2, ldapQuestion(p.Ask, filter)))
	}
	if err == nil {
		err = ldapFound(s.in, p.Ask)
	}
	s.Write(ldapMessage(3, []byte{ldapUnbind, 0}))
	return "LDAP search found an entry", err
}

func ldapMessage(id uint32, operation []byte) []byte {
	return ber(berSequence, berNumber(berInteger, id), operation)
}

func ldapQuestion(a *compile.Ask, filter []byte) []byte {
	scope := uint32(2) // the whole subtree
	if a.BaseDN == "" {
		scope = 0 // the entry itself: the server's own (section 5.1 of RFC 4512)
	}
	attributes := ber(berSequence)
	if a.Attribute != "" {
		attributes = ber(berSequence, berText(berOctets, a.Attribute))
	}
	return ber(ldapSearch, berText(berOctets, a.BaseDN), berNumber(berEnumerated, scope), berNumber(berEnumerated, 0),
		berNumber(berInteger, entriesMax), berNumber(berInteger, 0), ber(0x01, []byte{0}), filter, attributes)
}

// entriesMax is how many entries the server is asked for and are looked at: the first may lack the attribute.
const entriesMax = 10

// ldapRead reads a message and gives its operation.
func ldapRead(b *bufio.Reader, id int64) (element, error) {
	m, err := readBER(b)
	if err != nil {
		return element{}, err
	}
	if m.tag != berSequence {
		return element{}, malformed("it is no message of LDAP")
	}
	n, rest, err := berInt(m.body, berInteger)
	if err != nil {
		return element{}, err
	}
	op, _, err := berNext(rest)
	if err == nil && n == 0 { // unsolicited (section 4.4): the server ends the session
		err = refusedf("LDAP server ends the session: %s", ldapResult(op.body))
	}
	if err == nil && n != id {
		err = malformed("it answers another request")
	}
	return op, err
}

func ldapBindAnswer(b *bufio.Reader, dn string) error {
	op, err := ldapRead(b, 1)
	if err != nil {
		return err
	}
	if op.tag != ldapBound {
		return malformed("it does not answer the bind")
	}
	code, _, err := berInt(op.body, berEnumerated)
	if err != nil {
		return err
	}
	if code != 0 {
		if dn == "" {
			dn = "nobody in particular"
		}
		return refusedf("LDAP bind of %s refused: %s", dn, ldapResult(op.body))
	}
	return nil
}

// ldapFound reads entries until one has the attribute that is asked for.
func ldapFound(b *bufio.Reader, a *compile.Ask) error {
	for n, messages := 0, 0; messages < 10*entriesMax; messages++ {
		op, err := ldapRead(b, 2)
		if err != nil {
			return err
		}
		switch op.tag {
		case ldapEntry:
			n++
			if has, err := ldapHas(op.body, a.Attribute); has || err != nil {
				return err
			}
		case ldapReference:
		case ldapDone:
			code, _, err := berInt(op.body, berEnumerated)
			switch {
			case err != nil:
				return err
			case code != 0 && code != 4: // 4: there are more than were asked for
				return refusedf("LDAP search refused: %s", ldapResult(op.body))
			case n > 0:
				return refusedf("LDAP search found no entry with the attribute %s", a.Attribute)
			}
			return refusedf("LDAP search found no entry")
		default:
			return malformed("it does not answer the search")
		}
	}
	return malformed("its entries have no end")
}

// ldapHas tells whether an entry has a value of the attribute; every entry has those of "".
func ldapHas(entry []byte, attribute string) (bool, error) {
	_, rest, err := berTake(entry, berOctets) // its name
	if err != nil {
		return false, err
	}
	all, _, err := berTake(rest, berSequence)
	for err == nil && len(all) > 0 {
		var one, name, values []byte
		if one, all, err = berTake(all, berSequence); err != nil {
			return false, err
		}
		if name, one, err = berTake(one, berOctets); err != nil {
			return false, err
		}
		if values, _, err = berTake(one, berSet); err != nil {
			return false, err
		}
		kind, _, _ := strings.Cut(string(name), ";") // without options (RFC 4512 section 2.5)
		if attribute != "" && strings.EqualFold(kind, attribute) && len(values) > 0 {
			return true, nil
		}
	}
	return err == nil && attribute == "", err
}

// ldapCodes are results that operators meet (RFC 4511 appendix A).
var ldapCodes = map[int64]string{1: "operations error", 2: "protocol error", 3: "time limit exceeded", 7: "the authentication method is not supported",
	8: "stronger authentication is required", 10: "referral", 32: "no such object", 34: "invalid DN", 48: "inappropriate authentication",
	49: "invalid credentials", 50: "insufficient access rights", 51: "busy", 52: "unavailable", 53: "unwilling to perform"}

// ldapResult is a result in words.
func ldapResult(body []byte) string {
	code, rest, err := berInt(body, berEnumerated)
	if err != nil {
		return "its result cannot be read"
	}
	words := ldapCodes[code]
	if words == "" {
		words = "result"
	}
	_, rest, err = berTake(rest, berOctets)
	if err == nil {
		if text, _, err := berTake(rest, berOctets); err == nil && len(text) > 0 {
			return words + " (" + printable(string(text[:min(len(text), 80)])) + ")"
		}
	}
	return words
}
