package grammar

import "testing"

// TestScalingGroups: what is bound to a group that scales is a domain name and no one member in particular.
func TestScalingGroups(t *testing.T) {
	base := configOf(t, "add server www www.example.com", "add server s1 10.2.0.11", "add serviceGroup g TCP -autoScale DNS -maxReq 5", "bind serviceGroup g www 80 -weight 4")
	readBack(t, base)
	for line, want := range map[string]string{
		"bind serviceGroup g s1 80":                "Arguments exclude each other [serviceGroup g -autoScale DNS, server s1]: its members are the addresses of domain names: bind a server that was added by its name",
		"bind serviceGroup g 10.2.0.12 80":         "Arguments exclude each other [serviceGroup g -autoScale DNS, server 10.2.0.12]: its members are the addresses of domain names: bind a server that was added by its name",
		"bind serviceGroup g www 81 -hashId 7":     "Arguments exclude each other [serviceGroup g -autoScale DNS, -hashId]: the addresses of a name are several members, each by itself",
		"set serviceGroup g www 80 -hashId 7":      "Arguments exclude each other [serviceGroup g -autoScale DNS, -hashId]: the addresses of a name are several members, each by itself",
		"add serviceGroup h TCP -autoScale SQUARE": "Invalid value [autoScale, SQUARE]: it is one of DISABLED DNS",
	} {
		if after, err := do(base, line); err == nil || err.Error() != want || after != base {
			t.Errorf("%s:\ngot  %v\nwant %s", line, err, want)
		}
	}
}
