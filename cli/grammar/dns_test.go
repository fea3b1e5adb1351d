package grammar

import (
	"fmt"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// TestNameServers: what is taken, what is refused and why, and who is asked.
func TestNameServers(t *testing.T) {
	c := schema.New()
	for _, row := range []struct{ line, want string }{
		{"add dns nameServer 192.0.2.53", ""},
		{"add dns nameserver 192.0.2.54 -state DISABLED", ""},
		{"add dns nameServer 127.0.0.1 -type UDP_TCP", ""},
		{"add dns nameServer 192.0.2.53", "already exists"},
		{"add dns nameServer 224.0.0.1", "not an IPv4 address of a host"},
		{"add dns nameServer 2001:db8::1", "2001:db8::1"},
		{"add dns nameServer dns-vserver", "dns-vserver"},
		{"add dns nameServer 192.0.2.55 -type TCP", "not supported"},
		{"add dns nameServer 192.0.2.55 -local", "not supported"},
		{"add dns nameServer", "missing"},
		{"rm dns nameServer 192.0.2.99", "192.0.2.99"},
		{"disable dns nameServer 127.0.0.1", ""},
		{"enable dns nameServer 192.0.2.54", ""},
	} {
		op, err := Parse(row.line)
		if err == nil {
			err = op.Apply(c)
		}
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(row.want)) {
			t.Errorf("%s: %v, want %q", row.line, err, row.want)
		}
	}
	if got := fmt.Sprint(schema.NameServers(c)); got != "[192.0.2.53 192.0.2.54]" {
		t.Errorf("asked are %s", got)
	}
	var last error
	for i := 0; i < 20 && last == nil; i++ {
		op, err := Parse(fmt.Sprintf("add dns nameServer 198.51.100.%d", i+1))
		if err != nil {
			t.Fatal(err)
		}
		last = op.Apply(c)
	}
	if last == nil || !strings.Contains(last.Error(), "there may be 16") || c.Len(schema.Of[schema.DNSNameServer]()) != 16 {
		t.Errorf("%v with %d", last, c.Len(schema.Of[schema.DNSNameServer]()))
	}
}
