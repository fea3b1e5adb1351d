package store

import (
	"os"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// typed is the configuration that the lines make.
func typed(t *testing.T, lines ...string) *schema.Config {
	t.Helper()
	c := schema.New()
	for _, l := range lines {
		op, err := grammar.Parse(l)
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		if err := op.Apply(c); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	return c
}

var site = []string{"add vlan 2", "add ns ip 10.1.0.5 255.255.255.0", "add ns ip 10.2.0.5 255.255.255.0", "bind vlan 2 -ifnum 1/2", "bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0",
	"add server web1 10.2.0.11", "add service s1 web1 HTTP 80 -usip YES -comment \"first of three\"", "add service s2 10.2.0.12 TCP 80",
	"add lb vserver v1 HTTP 10.1.0.50 80 -lbMethod ROUNDROBIN", "add lb vserver v2 TCP 10.1.0.50 81", "bind lb vserver v1 s1 -weight 3", "set lb parameter -startupRRFactor 3", "bind lb vserver v2 s2",
	"add lb monitor m1 HTTP -respCode 200 301-302 -interval 900 MSEC -resptimeout 400 MSEC", "bind service s1 -monitorName m1", "bind service s2 -monitorName tcp",
	"add route 0.0.0.0 0.0.0.0 10.1.0.1"}

func TestWhatOperatorsTypeComesBack(t *testing.T) {
	s := open(t)
	s.Check = grammar.Check
	c := typed(t, site...)
	if err := s.Save(c, Meta{By: "nsroot"}); err != nil {
		t.Fatal(err)
	}
	got, problems := load(t, s)
	if problems != "" || !got.Equal(c) {
		t.Fatalf("%s\n got %s\nwant %s", problems, strings.Join(grammar.Lines(got), "\n"), strings.Join(grammar.Lines(c), "\n"))
	}
}

// A rule that only the whole configuration can break: the row at fault is held back, and with it what needs it.
func TestRowsAgainstTheRulesAreHeldBack(t *testing.T) {
	s := open(t)
	s.Check = grammar.Check
	if err := s.Save(typed(t, site...), Meta{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	bad := strings.Replace(string(text), "<gateway>10.1.0.1</gateway>", "<gateway>172.16.0.1</gateway>", 1)
	bad = strings.Replace(bad, "<port>81</port>", "<port>80</port>", 1) // the address and port of v1
	write(t, s, bad)
	c, problems := load(t, s)
	for _, want := range []string{"lb vserver v2: ", "lb vserver v2 s2: ", "route 0.0.0.0 0.0.0.0 172.16.0.1: The gateway is not directly reachable"} {
		if !strings.Contains(problems, want) {
			t.Errorf("no word of %s\n%s", want, problems)
		}
	}
	if strings.Count(problems, "\n") != 2 || schema.Get[schema.LBVserver](c, "v1") == nil || schema.Get[schema.LBVserverService](c, "v1", "s1") == nil {
		t.Errorf("more is held back than is bad:\n%s", problems)
	}
	if err := grammar.Check(c); err != nil {
		t.Error(err)
	}
}
