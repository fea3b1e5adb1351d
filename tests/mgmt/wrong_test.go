package mgmt

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// wrong are commands that an operator gets wrong, on the topology basic, and the word that the answer must name. The
// whole sentences are tested beside the grammar; here it is what OpenSSH brings to the operator's screen.
var wrong = []struct{ line, word string }{
	// words and their order
	{"frobnicate", "frobnicate"},
	{"show", "show"},
	{"show ns foo", "foo"},
	{"stat nosuch", "nosuch"},
	{"add lb vsrv v HTTP 10.1.0.77 80", "vsrv"},
	{"exit now", "now"},
	{"show lb vserver web > /tmp/x", ">"},
	{"show lb vserver web | awk x", "awk"},
	{"show ns runningConfig | grep", "pattern"},
	{"rename lb vserver web echo", "echo"},
	// quotes and brackets
	{`add server "x 10.2.0.77`, `"x`},
	{"add server a(b 10.2.0.77", "a(b"},
	{"add server q{abc 10.2.0.77", "q{abc"},
	{"add server s[1-300] 10.3.0.1", "s[1-300]"},
	// arguments
	{"add server x", "IPAddress"},
	{"add server x 10.2.0.77 -bogus 1", "-bogus"},
	{"add server x 10.2.0.77 -state", "state"},
	{"add server - 10.2.0.77", "-]"},
	{"add lb vserver v HTTP 10.1.0.77 80 81", "[81]"},
	{"add lb vserver v HTTP 10.1.0.77", "port"},
	{"set service web-s1", "-argument"},
	{"set service web-s1 -port 81", "-port"},
	{"set lb vserver web -weight 5", "serviceName"},
	{"unset service web-s1 -cltTimeout 5", "[5]"},
	{"clear ns config", "level"},
	{"save ns config extra", "extra"},
	// values
	{`add server "" 10.2.0.77`, "name"},
	{"add server ünï 10.2.0.77", "ünï"},
	{"add server x 300.1.1.1", "300.1.1.1"},
	{"add server x 10.2.0.77/24", "10.2.0.77/24"},
	{"add service w 10.2.0.99 HTTP 70000", "70000"},
	{"add service w 10.2.0.99 HTTP 0x50", "0x50"},
	{"add service w 10.2.0.99 GOPHER 70", "GOPHER"},
	{"add service w 10.2.0.99 HTTP 80 -usip perhaps", "perhaps"},
	{"set service web-s1 -cltTimeout 99999999999999999999", "cltTimeout"},
	{"set lb vserver web -lbMethod SOMETHING", "SOMETHING"},
	{"set lb vserver web -weight 101 web-s1", "101"},
	{"set lb vserver web -weight 0 web-s1", "weight"},
	{"set lb parameter -startupRRFactor many", "many"},
	{"set lb parameter -startupRRFactor 4294967296", "4294967296"},
	{"add lb monitor m HTTP -respCode abc", "abc"},
	{"add lb monitor m HTTP -interval 1 -resptimeout 2", "resptimeout"},
	{"add lb monitor m TCP -respCode 300", "respCode"},
	{"add route 10.9.0.0 255.0.255.0 10.1.0.1", "255.0.255.0"},
	{"add vlan 4096", "4096"},
	{"stat worker one", "one"},
	{"start trace -count 0", "count"},
	{"start trace -count many", "many"},
	{"start trace -time 3601", "3601"},
	{"start trace -destIP vip", "vip"},
	{"start trace -protocol GOPHER", "GOPHER"},
	{"start trace 10.1.0.50", "10.1.0.50"},
	{"start web", "web"},
	{"stop trace 1", "[1]"},
	{"start nstrace -filesize 0", "filesize"},
	{"start nstrace -size 1515", "1515"},
	{"start nstrace -count many", "many"},
	{"start nstrace -filter CLIENT", "filter"},
	{"start nstrace -fileName ../ns.conf", "../ns.conf"},
	{"start nstrace -fileName .bash", ".bash"},
	{"start nstrace -protocol 1 -destPort 80", "protocol"},
	{"stop nstrace", "no capture is running"},
	{"show where", "srcIP"},
	{"show where 10.1.0.9 40000 10.1.0.50 80", "protocol"},
	{"show where 10.1.0.300 40000 10.1.0.50 80 TCP", "10.1.0.300"},
	{"show where 10.1.0.9 70000 10.1.0.50 80 TCP", "70000"},
	{"show where 10.1.0.9 40000 10.1.0.50 http TCP", "http"},
	{"show where 10.1.0.9 40000 10.1.0.50 80 SCTP", "SCTP"},
	{"show where 10.1.0.9 40000 10.1.0.50 80 TCP now", "[now]"},
	{"show where 10.1.0.9 40000 10.1.0.50 80 1", "ICMP"},
	{"show where 10.1.0.9 0 10.1.0.50 80 UDP", "srcPort"},
	{"show where 2001:db8::1 1 10.1.0.50 80 TCP", "2001:db8::1"},
	{"stat worker 64", "64"},
	{"set cli mode -page MAYBE", "MAYBE"},
	// objects that are missing, there already, in use or of another kind
	{"rm service nosuch", "nosuch"},
	{"show lb vserver nosuch", "nosuch"},
	{"stat lb vserver nosuch", "nosuch"},
	{"stat worker 63", "63"},
	{"bind service web-s1 -monitorName nosuch", "nosuch"},
	{"unbind lb vserver web echo-s1", "echo-s1"},
	{"bind vlan 2 -ifnum 9/9", "9/9"},
	{"rm server S1", "S1"},
	{"add service web-s1 s1 HTTP 81", "web-s1"},
	{"add service w s1 HTTP 80", "s1:80"},
	{"bind lb vserver web web-s1", "web-s1"},
	{"bind lb vserver web echo-s1", "echo-s1"},
	{"rm server s[1-3]", "s1"},
	{"rm lb monitor web-check", "web-check"},
	{"rm lb monitor tcp-default", "tcp-default"},
	{"rm ns ip 10.1.0.50", "10.1.0.50"},
	{"rm ns ip 10.2.0.5", "10.2.0.5"},
	{"add lb vserver v HTTP 10.1.0.50 80", "10.1.0.50:80"},
	{"set lb vserver web -IPAddress 10.2.0.11", "10.2.0.11"},
	{"add route 10.9.0.0 255.255.0.0 99.9.9.9", "99.9.9.9"},
	{"disable ns ip 10.1.0.5", "10.1.0.5"},
	{"clear ns config basic", "-force"}, // nobody is there to be asked
	// what this release does not have
	{"stat cs vserver", "cs"},
	{"set lb vserver web -persistenceType COOKIEINSERT", "persistenceType"},
	{"shell", "shell"},
}

// TestWrongCommands: each is answered by one line on standard error that names the word at fault and by exit code 1,
// and changes nothing.
func TestWrongCommands(t *testing.T) {
	before := running(t)
	for _, row := range wrong {
		out, errs, code := typed(t, row.line)
		if code != 1 || out != "" {
			t.Errorf("%s: exit code %d, standard output %q", row.line, code, out)
		}
		line, rest, _ := strings.Cut(errs, "\n")
		if !strings.HasPrefix(line, "ERROR: ") || !strings.Contains(line, row.word) || rest != "" {
			t.Errorf("%s: %q, want one line that names %s", row.line, errs, row.word)
		}
		if after := running(t); after != before {
			t.Fatalf("%s: the configuration has changed:\n%s\nbefore:\n%s", row.line, after, before)
		}
	}
}

// typed runs one line over OpenSSH and tells all that came back.
func typed(t *testing.T, line string) (out, errs string, code int) {
	t.Helper()
	a := lab.Basic()
	cmd := a.OpenSSH([]string{"timeout", "60", "ssh", "-n"}, line)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return o.String(), e.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return o.String(), e.String(), 0
}

// TestShortWords: what administrators type by habit means the whole words.
func TestShortWords(t *testing.T) {
	for short, whole := range map[string]string{
		"sh lb vs web | grep State":   "show lb vserver web | grep State",
		"show run | grep add":         "show ns runningConfig | grep add",
		"sh runningconfig | grep add": "show ns runningConfig | grep add",
		"sh ns ip":                    "show ns ip",
		"sh ver":                      "show version",
		"SHOW SERVER s1":              "show server s1",
		"save c":                      "save ns config",
	} {
		a, _, code := typed(t, short)
		if b, _, _ := typed(t, whole); code != 0 || a != b || a == "" {
			t.Errorf("%s: exit code %d\n%s\n%s:\n%s", short, code, a, whole, b)
		}
	}
}
