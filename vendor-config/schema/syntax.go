package schema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// syntaxes are the forms of text that a string field may ask for with the tag syntax. Each returns what is wrong, or "".
var syntaxes = map[string]func(string) string{
	"name":    nameFault,
	"codes":   codesFault,
	"request": requestFault,
	"ifnum":   ifnumFault,
	"host":    hostFault,
	"station": stationFault,
	"waiting": waitingFault,
	"hex":     hexFault,

	"protocol":   protocolFault,
	"payload":    payloadFault,
	"addresses":  addressesFault,
	"domain":     domainFault,
	"file":       fileFault,
	"severities": severitiesFault,
	"oid":        oidFault,

	"address":         addressFault,
	"address6":        address6Fault,
	"prefix":          prefixFault,
	"prefix6":         prefix6Fault,
	"mac":             macFault,
	"port":            portFault,
	"numbers":         numbersFault,
	"range":           rangeFault,
	"compare-address": compareAddressFault,
	"compare-port":    comparePortFault,

	"account":   accountFault,
	"pattern":   patternFault,
	"archive":   archiveFault,
	"publickey": publicKeyFault,
	"attribute": attributeFault,
}

// nameFault: names begin with an ASCII letter, digit or underscore; then letters, digits and _ # . space : @ = -
func nameFault(s string) string {
	if s == "" {
		return "a name has at least one character"
	}
	for i := range len(s) {
		c := s[i]
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
		if !plain && (i == 0 || !strings.ContainsRune("#. :@=-", rune(c))) {
			return "a name begins with a letter, digit or _ and goes on with letters, digits and _ # . space : @ = -"
		}
	}
	return ""
}

// hostFault: labels of letters, digits, hyphens and underscores (RFC 1035 2.3.1, RFC 2181 11), of which the last is no number,
// or an address that was mistyped would be one.
func hostFault(s string) string {
	if s == "" {
		return "" // none
	}
	labels := strings.Split(strings.TrimSuffix(s, "."), ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || strings.Trim(strings.ToLower(l), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || l[0] == '-' || l[len(l)-1] == '-' {
			return "the domain name of a host is labels of letters, digits, - and _ with dots between them, e.g. www.example.com"
		}
	}
	if strings.Trim(labels[len(labels)-1], "0123456789") == "" {
		return "the last label of a domain name is no number"
	}
	return ""
}

// codesFault: response codes 1-999 and ranges of them, separated by one space. Those of HTTP begin at 100, and those of
// RADIUS end at 255: the monitor knows which it has.
func codesFault(s string) string {
	for _, part := range strings.Split(s, " ") {
		low, high, isRange := strings.Cut(part, "-")
		a, errA := strconv.ParseUint(low, 10, 16)
		b, errB := a, error(nil)
		if isRange {
			b, errB = strconv.ParseUint(high, 10, 16)
		}
		if errA != nil || errB != nil || a < 1 || b > 999 || a > b {
			return "response codes are numbers or ranges from 1 to 999, e.g. 200 300-302"
		}
	}
	return ""
}

// requestFault: a method and a path, e.g. "HEAD /".
func requestFault(s string) string {
	method, path, ok := strings.Cut(s, " ")
	if !ok || method == "" || !strings.HasPrefix(path, "/") || strings.Contains(path, " ") {
		return `a request is a method and a path, e.g. "HEAD /"`
	}
	for _, c := range method {
		if c < 'A' || c > 'Z' {
			return "the method is in capital letters, e.g. GET"
		}
	}
	return ""
}

// protocolFault: TCP, UDP, ICMP or a number.
func protocolFault(s string) string {
	if _, ok := ProtocolNumber(s); !ok {
		return "a protocol is TCP, UDP, ICMP or a number from 1 to 255"
	}
	return ""
}

// ProtocolNumber is the IP protocol that an operator means.
func ProtocolNumber(s string) (number uint8, ok bool) {
	switch {
	case strings.EqualFold(s, "TCP"):
		return 6, true
	case strings.EqualFold(s, "UDP"):
		return 17, true
	case strings.EqualFold(s, "ICMP"):
		return 1, true
	}
	n, err := strconv.ParseUint(s, 10, 8)
	return uint8(n), err == nil && n > 0
}

// ifnumFault: ports are named C/U.
func ifnumFault(s string) string {
	c, u, ok := strings.Cut(s, "/")
	digits := func(s string) bool { return s != "" && len(s) <= 3 && strings.Trim(s, "0123456789") == "" }
	if !ok || !digits(c) || !digits(u) {
		return "a port is named like 1/1"
	}
	return ""
}

// textFault: no string of the configuration holds control characters, or it could break out of a line or a request.
func textFault(s string) string {
	if !utf8.ValidString(s) {
		return "the text is not UTF-8"
	}
	for _, c := range s {
		if c < ' ' || c == 0x7f {
			return "the text has a control character"
		}
	}
	return ""
}
