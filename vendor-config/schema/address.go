package schema

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// The written forms of network objects that are kept as text: addresses of both families, prefixes, link addresses, ports, and
// comparisons with them.

// canonicals bring text of a syntax into its one written form; text that is not of the syntax stays as it is and is refused.
var canonicals = map[string]func(string) string{
	"payload":         escapeControls,
	"severities":      strings.ToUpper,
	"address":         oneAddress,
	"address6":        oneAddress,
	"prefix":          onePrefix,
	"prefix6":         onePrefix,
	"mac":             oneMAC,
	"compare-address": oneComparison,
	"compare-port":    oneComparison,
}

func oneAddress(s string) string {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String()
	}
	return s
}

func onePrefix(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.String()
	}
	return oneAddress(s)
}

func oneMAC(s string) string {
	if len(s) == 12 && !strings.ContainsAny(s, ":-.") {
		s = s[:2] + ":" + s[2:4] + ":" + s[4:6] + ":" + s[6:8] + ":" + s[8:10] + ":" + s[10:]
	}
	if m, err := net.ParseMAC(s); err == nil && len(m) == 6 {
		return m.String()
	}
	return s
}

// addressFault: an IPv4 or IPv6 address, or * for every one.
func addressFault(s string) string {
	if s == "" || s == "*" {
		return ""
	}
	if a, err := netip.ParseAddr(s); err != nil || a.Zone() != "" || a.Is4In6() {
		return "it is an IPv4 or IPv6 address"
	}
	return ""
}

// address6Fault: an IPv6 address.
func address6Fault(s string) string {
	if s == "" {
		return ""
	}
	if a, err := netip.ParseAddr(s); err != nil || !a.Is6() || a.Is4In6() || a.Zone() != "" {
		return "it is an IPv6 address, e.g. 2001:db8::1"
	}
	return ""
}

// prefix6Fault: an IPv6 address, with or without the length of its prefix.
func prefix6Fault(s string) string {
	p, err := netip.ParsePrefix(s)
	if err == nil && p.Addr().Is6() && !p.Addr().Is4In6() || address6Fault(s) == "" {
		return ""
	}
	return "it is an IPv6 address with the length of its prefix, e.g. 2001:db8::1/64"
}

// prefixFault: an address of either family, with or without the length of its prefix.
func prefixFault(s string) string {
	p, err := netip.ParsePrefix(s)
	if err == nil && !p.Addr().Is4In6() || s != "*" && addressFault(s) == "" {
		return ""
	}
	return "it is an address, or a network such as 192.0.2.0/24"
}

func macFault(s string) string {
	if m, err := net.ParseMAC(s); s != "" && (err != nil || len(m) != 6) {
		return "a MAC address is six pairs of hexadecimal digits, e.g. 02:00:00:00:00:01"
	}
	return ""
}

// portFault: the names of ports and channels, in a cluster with the node's number before them.
func portFault(s string) string {
	parts := strings.Split(s, "/")
	ok := len(parts) > 1 && len(parts) < 4 && parts[0] != "" && len(parts[0]) <= 7
	for i, p := range parts {
		if i == 0 && strings.Trim(strings.ToUpper(p), "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
			ok = false
		}
		if _, err := strconv.ParseUint(p, 10, 10); i > 0 && err != nil {
			ok = false
		}
	}
	if !ok && s != "" {
		return "a port is named like 1/1, a channel like LA/1"
	}
	return ""
}

// numbersFault: numbers of ports or VLANs and ranges of them, separated by spaces.
func numbersFault(s string) string {
	for _, r := range strings.Fields(s) {
		if !isRange(r, number16, cmp.Compare[uint64]) {
			return "they are numbers or ranges up to 65535, e.g. 80 1024-2000"
		}
	}
	return ""
}

// rangeFault: one number or range.
func rangeFault(s string) string {
	if s != "" && (strings.Contains(s, " ") || numbersFault(s) != "") {
		return "it is a number or a range up to 65535, e.g. 1024-2000"
	}
	return ""
}

// isRange: a, or a-b where b is not before a.
func isRange[T any](s string, read func(string) (T, error), compare func(a, b T) int) bool {
	low, high, several := strings.Cut(s, "-")
	a, err := read(low)
	if err != nil || !several {
		return err == nil
	}
	b, err := read(high)
	return err == nil && compare(a, b) <= 0
}

func number16(s string) (uint64, error) { return strconv.ParseUint(s, 10, 16) }

// host is an address that names no port of this machine.
func host(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err == nil && a.Zone() != "" {
		err = errors.New("it has a zone")
	}
	return a, err
}

// Operator tells whether the word is one that may stand before a value to compare with.
func (f *Field) Operator(word string) bool {
	_, is := operators[strings.ToUpper(word)]
	return is && strings.HasPrefix(f.Syntax, "compare-")
}

// operators are the comparisons in their written form.
var operators = map[string]string{"=": "=", "EQ": "=", "!=": "!=", "NEQ": "!="}

// oneComparison writes the operator in its one form; the value without one is compared for equality.
func oneComparison(s string) string {
	words := strings.Fields(s)
	if len(words) == 2 && operators[strings.ToUpper(words[0])] != "" {
		return operators[strings.ToUpper(words[0])] + " " + words[1]
	}
	if len(words) == 1 {
		return "= " + words[0]
	}
	return s
}

// comparisonFault is the syntax of a comparison with a value, or with a range of values.
func comparisonFault[T any](read func(string) (T, error), compare func(a, b T) int, what string) func(string) string {
	return func(s string) string {
		words := strings.Fields(s)
		if s == "" || len(words) == 2 && operators[words[0]] == words[0] && isRange(words[1], read, compare) {
			return ""
		}
		return what
	}
}

var compareAddressFault = comparisonFault(host, netip.Addr.Compare, "it is an address or a range, after = or !=, e.g. != 10.0.0.1-10.0.0.9")

var comparePortFault = comparisonFault(number16, cmp.Compare[uint64], "it is a port or a range, after = or !=, e.g. = 80-90")
