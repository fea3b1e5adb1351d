package schema

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A payload is text that a monitor sends or looks for. Its bytes that are no printable text are written as \r \n \t \xHH
// and a backslash as \\, so that the configuration stays text; a backslash before anything else stands for itself.

// escapeControls brings a payload that holds control characters, as the shell makes them of "\r\n", into its written form.
func escapeControls(s string) string {
	if !utf8.ValidString(s) {
		return s // and is refused
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// Payload are the bytes that the written form of a payload stands for.
func Payload(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		if at := strings.IndexByte(`rnt\`, s[i+1]); at >= 0 {
			out = append(out, "\r\n\t\\"[at])
			i++
			continue
		}
		if n, err := strconv.ParseUint(hexAt(s, i+2), 16, 8); s[i+1] == 'x' && err == nil {
			out = append(out, byte(n))
			i += 3
			continue
		}
		out = append(out, s[i])
	}
	return out
}

// hexAt are two hexadecimal digits of s, or "".
func hexAt(s string, i int) string {
	if i+2 > len(s) || strings.Trim(s[i:i+2], "0123456789abcdefABCDEF") != "" {
		return ""
	}
	return s[i : i+2]
}

// payloadFault: everything can be sent.
func payloadFault(string) string { return "" }

// addressesFault: IP addresses separated by one space.
func addressesFault(s string) string {
	for _, a := range strings.Fields(s) {
		if ip, err := netip.ParseAddr(a); err != nil || ip.Zone() != "" {
			return "it is a list of IP addresses separated by spaces"
		}
	}
	return ""
}

// domainFault: a name of the DNS (RFC 1035 section 2.3.4).
func domainFault(s string) string {
	const fault = "a domain name has labels of 1-63 characters between dots, 253 in all; . is the root"
	if s == "" || s == "." {
		return ""
	}
	s = strings.TrimSuffix(s, ".")
	if s == "" || len(s) > 253 {
		return fault
	}
	for _, label := range strings.Split(s, ".") {
		if label == "" || len(label) > 63 || strings.ContainsAny(label, " \\\"") {
			return fault
		}
	}
	return ""
}

// fileFault: the name of a file in a folder that is given elsewhere, never a path out of it.
func fileFault(s string) string {
	if s == "" {
		return ""
	}
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" || s[0] == '.' || s[0] == '-' {
		return "it is the name of a file, of letters, digits, . _ and -, without a folder"
	}
	return ""
}

// oidFault: an object identifier of SNMP, e.g. 1.3.6.1.2.1.1.3.0 (a leading dot is allowed).
func oidFault(s string) string {
	if s == "" {
		return ""
	}
	parts := strings.Split(strings.TrimPrefix(s, "."), ".")
	const fault = "an OID is numbers between dots, e.g. 1.3.6.1.2.1.1.3.0"
	if len(parts) < 2 || len(parts) > 128 {
		return fault
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil || i == 0 && n > 2 || i == 1 && n > 39 {
			return fault
		}
	}
	return ""
}
