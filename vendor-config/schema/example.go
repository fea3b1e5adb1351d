package schema

import (
	"reflect"
	"strconv"
	"strings"
)

// examples are well-formed texts of each syntax.
var examples = map[string]string{
	"station": "192.0.2.1", "waiting": "0.5", "hex": "ff00",
	"account": "alice", "attribute": "cn", "pattern": "^show .*",
	"publickey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEm+Uhp3Xz1Dq6hVhK1vDr6MZbVQdRYs0Qe8hH0Jr0bA alice",
	"name":      "web1", "codes": "200 300-302", "request": "GET /index.html", "ifnum": "1/1", "host": "www.example.com", "protocol": "TCP",
	"payload": `GET /\r\n`, "addresses": "192.0.2.1 2001:db8::1", "domain": "example.com", "file": "check.sh", "archive": "backup_1", "severities": "ERROR WARNING", "oid": "1.3.6.1.2.1.1.3.0",
	"address": "192.0.2.1", "address6": "2001:db8::1", "prefix": "192.0.2.0/24", "prefix6": "2001:db8::1/64", "mac": "02:00:00:00:00:01", "port": "1/2",
	"numbers": "80 1024-2000", "range": "1024-2000", "compare-address": "!= 192.0.2.1-192.0.2.9", "compare-port": "= 80-90",
}

// Example is a value that the field takes, as an operator may type it: the reference pages and tests use it. For a field that
// names a row it is a name, whether or not there is such a row.
func (f *Field) Example() string {
	switch {
	case len(f.Enum) > 0:
		return f.Enum[0]
	case f.Ref != "" && f.Syntax == "" && f.Type.Kind() == reflect.String:
		return examples["name"]
	case f.Syntax != "":
		return examples[f.Syntax]
	case f.Type == addrType && strings.HasSuffix(strings.ToLower(f.CLI), "mask"):
		return "255.255.255.0"
	case f.Type == addrType:
		return "192.0.2.1"
	case f.Type.Kind() == reflect.String:
		return "text"
	}
	lo, hi := f.Bounds()
	return strconv.FormatUint(min(max(lo, 5), hi), 10)
}
