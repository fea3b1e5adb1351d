package grammar

import (
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

func TestSetNSConfig(t *testing.T) {
	base := []string{"add vlan 2", "add ns ip 10.1.0.5 255.255.255.0", "add ns ip 10.9.0.1 255.255.255.0 -type NSIP", "add server s 10.2.0.9",
		"add route 0.0.0.0 0.0.0.0 10.9.0.254"}
	rows := []struct{ before, line, refused string }{
		{"", "set ns config -IPAddress 10.9.0.2 -netmask 255.255.255.0", ""},
		{"", "set config -IPAddress 10.9.0.1 -netmask 255.255.0.0", ""},
		{"", "set ns config -IPAddress 10.9.0.2", "Argument pre-requisite missing [netmask]"},
		{"", "set ns config -netmask 255.255.255.0", "Argument pre-requisite missing [IPAddress]"},
		{"", "set ns config", "Required argument missing"},
		{"", "set ns config -IPAddress 10.9.0.2 -netmask 255.0.255.0", "Invalid value [netmask, 255.0.255.0]"},
		{"", "set ns config -IPAddress 10.9.0.0 -netmask 255.255.255.0", "Invalid IP address [IPAddress, 10.9.0.0]"},
		{"", "set ns config -IPAddress 224.0.0.1 -netmask 255.255.255.0", "Invalid IP address [IPAddress, 224.0.0.1]"},
		{"", "set ns config -IPAddress ::1 -netmask 255.255.255.0", "Invalid IP address"},
		{"", "set ns config -IPAddress 10.1.0.5 -netmask 255.255.255.0", "Resource already exists [IPAddress, 10.1.0.5]: it is a SNIP"},
		{"", "set ns config -IPAddress 10.2.0.9 -netmask 255.255.255.0", "Resource already exists [10.2.0.9]: it is the address of server s"},
		{"", "set ns config -IPAddress 10.9.0.254 -netmask 255.255.255.0", "Resource already exists [10.9.0.254]: it is the gateway of route"},
		{"", "set ns config -IPAddress 10.8.0.2 -netmask 255.255.255.0", "Resource is in use [10.8.0.2]: the gateway of route"},
		{"bind vlan 2 -IPAddress 10.9.0.1", "set ns config -IPAddress 10.9.0.2 -netmask 255.255.255.0", "Resource is in use [10.9.0.1]: it is bound to vlan 2"},
		{"", "set ns config -nsvlan 5", "Feature not supported in this release [nsvlan]"},
		{"", "unset ns config -IPAddress", "Feature not supported in this release [unset ns config]"},
	}
	for _, row := range rows {
		lines := base
		if row.before != "" {
			lines = append(slices.Clone(base), row.before)
		}
		c := configOf(t, lines...)
		after, err := do(c, row.line)
		switch {
		case row.refused == "" && err != nil, row.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), row.refused)):
			t.Errorf("%s: %v, want %s", row.line, err, row.refused)
		case err == nil:
			if n := after.Len(schema.Of[schema.NSIP]()); n != 2 {
				t.Errorf("%s: %d addresses", row.line, n)
			}
			if err := Check(after); err != nil {
				t.Errorf("%s: %v", row.line, err)
			}
			readBack(t, after)
		}
	}
	first := configOf(t, "set ns config -IPAddress 10.9.0.2 -netmask 255.255.255.0")
	if ip := schema.Get[schema.NSIP](first, "10.9.0.2"); ip == nil || ip.Type != "NSIP" {
		t.Errorf("the first NSIP: %+v", ip)
	}
	special := configOf(t, "add ns ip 10.9.0.1 255.255.255.0 -type NSIP -arp DISABLED")
	if got := Lines(special)[0]; got != "add ns ip 10.9.0.1 255.255.255.0 -type NSIP -arp DISABLED" {
		t.Errorf("an NSIP with more than an address: %s", got)
	}
	readBack(t, special)
}

func TestHostName(t *testing.T) {
	c := configOf(t, "set ns hostName lb1.example.com", "set hostName lb2")
	if got := Lines(c); !slices.Equal(got, []string{"set ns hostName lb2"}) {
		t.Errorf("%q", got)
	}
	for line, want := range map[string]string{
		"set ns hostName":                             "Required argument missing [hostName]",
		"set ns hostName a b":                         "No such argument [b]",
		`set ns hostName "a b"`:                       "Invalid value [hostName",
		"set ns hostName -x":                          "No such argument [-x]",
		"set ns hostName lb1 -ownerNode 3":            "Feature not supported in this release [ownerNode, 3]",
		"set ns hostName " + strings.Repeat("a", 300): "String length exceeds maximum",
	} {
		if _, err := do(c, line); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}
