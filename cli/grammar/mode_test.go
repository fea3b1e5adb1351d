package grammar

import (
	"slices"
	"testing"
)

// modeLines are vservers of every mode.
var modeLines = []string{
	"add ns ip 10.2.0.5 255.255.255.0",
	"add service near 10.2.0.11 TCP 80 -usip YES", "add service any 10.2.0.12 TCP * -usip YES", "add service ours 10.2.0.13 TCP 80",
	"add service other 10.2.0.14 TCP 8080 -usip YES",
	"add lb vserver mac TCP 10.1.0.50 80 -m MAC", "add lb vserver tos TCP 10.1.0.50 81 -m TOS -tosId 37", "add lb vserver tunnel TCP 10.1.0.51 80 -m IPTUNNEL -lbMethod ROUNDROBIN",
	"add lb vserver each TCP 10.1.0.52 80 -m MAC -sessionless ENABLED -lbMethod SRCIPDESTIPHASH",
	"bind lb vserver mac near", "bind lb vserver tos any", "bind lb vserver tunnel ours", "bind lb vserver each near",
	"add serviceGroup farm TCP -usip YES", "bind serviceGroup farm 10.2.0.21 80", "bind lb vserver mac farm", "add serviceGroup ours-too TCP", "bind serviceGroup ours-too 10.2.0.22 8080",
	"add lb vserver far HTTP 0.0.0.0 0 -m MAC",
}

// TestModes: what the options that say how packets are sent ask of each other, both named.
func TestModes(t *testing.T) {
	base := configOf(t, modeLines...)
	if err := Check(base); err != nil {
		t.Fatal(err)
	}
	if lines := Lines(base); !slices.Contains(lines, "add lb vserver tos TCP 10.1.0.50 81 -persistenceType NONE -m TOS -tosId 37 -cltTimeout 9000") ||
		!slices.Contains(lines, "add lb vserver each TCP 10.1.0.52 80 -persistenceType NONE -lbMethod SRCIPDESTIPHASH -m MAC -sessionless ENABLED -cltTimeout 9000") {
		t.Errorf("written as %q", lines)
	}
	for _, row := range []struct{ line, want string }{
		{"add lb vserver v TCP 10.1.0.60 80 -m TOS", "Required argument missing [tosId]: with -m TOS the server knows the VIP by it: give -tosId 1 to 63"},
		{"add lb vserver v TCP 10.1.0.60 80 -m TOS -tosId 64", "Argument value out of range [tosId, 1, 63]: 64 was given"},
		{"add lb vserver v TCP 10.1.0.60 80 -m MAC -tosId 9", "Argument pre-requisite missing [tosId, 9]: it is for -m TOS, and lb vserver v is -m MAC: unset it as well"},
		{"unset lb vserver tos -m", "Argument pre-requisite missing [tosId, 37]: it is for -m TOS, and lb vserver tos is -m IP: unset it as well"},
		{"set lb vserver tunnel -lbMethod LEASTRESPONSETIME", "Arguments exclude each other [-m IPTUNNEL, -lbMethod LEASTRESPONSETIME]: the server's answers do not come by here, so that nobody can time them"},
		{"add lb vserver v TCP 10.1.0.60 80 -sessionless ENABLED -lbMethod SOURCEIPHASH", "Arguments exclude each other [-sessionless ENABLED, -m IP]: without sessions no answer can be given the VIP back; use -m MAC, TOS or IPTUNNEL"},
		{"add lb vserver v TCP 10.1.0.60 80 -sessionless ENABLED -m MAC", "Arguments exclude each other [-sessionless ENABLED, -lbMethod LEASTCONNECTION]: packets of one connection would go to different services; use a hash method, e.g. SRCIPDESTIPHASH"},
		{"set lb vserver each -lbMethod ROUNDROBIN", "Arguments exclude each other [-sessionless ENABLED, -lbMethod ROUNDROBIN]: packets of one connection would go to different services; use a hash method, e.g. SRCIPDESTIPHASH"},
		{"add lb vserver v HTTP 10.1.0.60 80 -sessionless ENABLED -m MAC -lbMethod SOURCEIPHASH", "Arguments exclude each other [-sessionless ENABLED, HTTP]: requests belong to a connection; use a vserver of type TCP or ANY"},
		{"set lb vserver each -l2Conn ON", "Arguments exclude each other [-sessionless ENABLED, -l2Conn ON]: without sessions there are no connections to tell apart"},
		{"bind lb vserver mac ours", "Arguments exclude each other [lb vserver mac -m MAC, service ours -usip NO]: the server gets packets with the client's address: set service ours -usip YES"},
		{"bind lb vserver tos ours", "Arguments exclude each other [lb vserver tos -m TOS, service ours -usip NO]: the server gets packets with the client's address: set service ours -usip YES"},
		{"set lb vserver tunnel -m MAC", "Arguments exclude each other [lb vserver tunnel -m MAC, service ours -usip NO]: the server gets packets with the client's address: set service ours -usip YES"},
		{"set service near -usip NO", "Arguments exclude each other [lb vserver mac -m MAC, service near -usip NO]: the server gets packets with the client's address: set service near -usip YES"},
		{"bind lb vserver tunnel other", "Arguments exclude each other [lb vserver tunnel -m IPTUNNEL, port 80, service other, port 8080]: packets keep the port of the vserver: give the server port 80 or *"},
		{"bind serviceGroup farm 10.2.0.23 8080", "Arguments exclude each other [lb vserver mac -m MAC, port 80, serviceGroup farm, port 8080]: packets keep the port of the vserver: give the server port 80 or *"},
		{"set serviceGroup farm -usip NO", "Arguments exclude each other [lb vserver mac -m MAC, serviceGroup farm -usip NO]: the server gets packets with the client's address: set serviceGroup farm -usip YES"},
		{"bind lb vserver tos ours-too", "Arguments exclude each other [lb vserver tos -m TOS, serviceGroup ours-too -usip NO]: the server gets packets with the client's address: set serviceGroup ours-too -usip YES"},
		{"bind lb vserver tunnel ours-too", "Arguments exclude each other [lb vserver tunnel -m IPTUNNEL, port 80, serviceGroup ours-too, port 8080]: packets keep the port of the vserver: give the server port 80 or *"},
	} {
		if _, err := do(base, row.line); err == nil || err.Error() != row.want {
			t.Errorf("%s:\ngot  %v\nwant %s", row.line, err, row.want)
		}
	}
	if _, err := do(base, "set lb vserver tunnel -m IP"); err != nil {
		t.Error(err)
	}
	if _, err := do(base, "bind lb vserver far ours"); err == nil || err.Error() != "Invalid argument [ours]: the service is TCP and the vserver HTTP" {
		t.Error(err)
	}
	hidden := configOf(t, append(modeLines[:len(modeLines):len(modeLines)], "add lb vserver back TCP 0.0.0.0 0 -m MAC", "bind lb vserver back ours")...)
	if _, err := do(hidden, "set lb vserver back -IPAddress 10.1.0.60"); err == nil ||
		err.Error() != "Arguments exclude each other [lb vserver back -m MAC, service ours -usip NO]: the server gets packets with the client's address: set service ours -usip YES" {
		t.Errorf("an address of its own for a vserver whose service does not bear its mode: %v", err)
	}
	if _, err := do(hidden, "set lb vserver back -IPAddress 0.0.0.0"); err != nil {
		t.Error(err)
	}
	two := configOf(t, append(modeLines[:len(modeLines):len(modeLines)], "unset lb vserver tos -m -tosId", "add service web 10.2.0.15 HTTP 80", "bind lb vserver far web")...)
	if err := Check(two); err != nil {
		t.Error(err)
	}
}
