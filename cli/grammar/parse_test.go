package grammar

import (
	"fmt"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// describeOp writes an operation for comparison.
func describeOp(op *Op) string {
	name := "-"
	if op.Object != nil {
		name = op.Object.YANG
	}
	s := fmt.Sprintf("%s %s %q", op.Verb, name, op.Key)
	for _, a := range op.Args {
		s += fmt.Sprintf(" %s=%s", a.Field.CLI, a.Value)
	}
	for _, also := range op.Also {
		s += "; " + describeOp(also)
	}
	return s
}

// parsed are commands and what they mean.
var parsed = [][2]string{
	{"ADD LB VSERVER v http 10.0.0.1 80", `add lb-vserver ["v"] serviceType=HTTP IPAddress=10.0.0.1 port=80`},
	{"ad lb vs v ht 10.0.0.1 * -LBM round -clt 30", `add lb-vserver ["v"] serviceType=HTTP IPAddress=10.0.0.1 port=0 lbMethod=ROUNDROBIN cltTimeout=30`},
	{"sh lb vs", `show lb-vserver []`},
	{"sh vserver V", `show lb-vserver ["V"]`},
	{"show run", `show ns-running-config []`},
	{"sh ns run", `show ns-running-config []`},
	{"show ns ns.conf", `show ns-conf []`},
	{"show ns.conf", `show ns-conf []`},
	{"show version", `show version []`},
	{"sh where 10.1.0.9 40000 10.1.0.50 80 tcp", `show where [] srcIP=10.1.0.9 srcPort=40000 destIP=10.1.0.50 destPort=80 protocol=tcp`},
	{"start trace -destIP 10.1.0.50 -destPort 80 -count 3", `start trace [] destIP=10.1.0.50 destPort=80 count=3`},
	{"stop trace", `stop trace []`},
	{"stat worker 1", `stat worker [] id=1`},
	{"show ns version", `show version []`},
	{"show hardware", `show hardware []`},
	{"sh ip", `show ns-ip []`},
	{"sh ip -type vip", `show ns-ip [] type=VIP`},
	{"sh arp 10.0.0.1", `show arp [] IPAddress=10.0.0.1`},
	{"sh interface 1/1", `show interface [] id=1/1`},
	{"show network vlan 2", `show vlan ["2"]`},
	{"sh service -all", `show service []`},
	{"stat ns", `stat ns []`},
	{"stat lb vserver v -detail -fullValues", `stat lb-vserver ["v"]`},
	{"save config", `save ns-config []`},
	{"save c", `save ns-config []`},
	{"clear ns config -force basic", `clear ns-config [] force= level=basic`},
	{"clear config basic", `clear ns-config [] level=basic`},
	{"enable feature lb", `enable ns-feature [] feature=LB`},
	{"set cli mode -page off -timeout 30", `set cli-mode [] page=OFF timeout=30`},
	{`set cli prompt "%u> "`, `set cli-prompt [] promptString=%u> `},
	{"rm server a b c", `rm server ["a"]; rm server ["b"]; rm server ["c"]`},
	{"rm vserver lb_vip[1-3]", `rm lb-vserver ["lb_vip1"]; rm lb-vserver ["lb_vip2"]; rm lb-vserver ["lb_vip3"]`},
	{"rm server a[1-2] x", `rm server ["a1"]; rm server ["a2"]; rm server ["x"]`},
	{"add ns ip 10.102.29.[60-61] 255.255.255.0 -type VIP", `add ns-ip ["10.102.29.60"] netmask=255.255.255.0 type=VIP; add ns-ip ["10.102.29.61"] netmask=255.255.255.0 type=VIP`},
	{"add ns ip 10.0.0.5 255.255.255.0 -type MIP", `add ns-ip ["10.0.0.5"] netmask=255.255.255.0 type=SNIP`},
	{"bind lb vserver v s -weight 007", `bind lb-vserver-service ["v" "s"] weight=7`},
	{"set lb vserver v -weight 5 s", `set lb-vserver-service ["v" "s"] weight=5`},
	{"set lb vserver v -comment x -weight 5 s", `set lb-vserver ["v"] comment=x; set lb-vserver-service ["v" "s"] weight=5`},
	{"bind service s -monitorName m -weight 1", `bind service-monitor ["s" "m"] weight=1`},
	{"bind vlan 2 -ifnum 1/1 1/2 -IPAddress 10.0.0.5 255.255.255.0", `bind vlan-interface ["2" "1/1"]; bind vlan-interface ["2" "1/2"]; bind vlan-ip ["2" "10.0.0.5"] netmask=255.255.255.0`},
	{"bind vlan 2 -IPAddress 10.0.0.5", `bind vlan-ip ["2" "10.0.0.5"]`},
	{"unbind vlan 2 -IPAddress 10.0.0.5 255.255.255.0", `unbind vlan-ip ["2" "10.0.0.5"] netmask=255.255.255.0`},
	{"add lb monitor m HTTP -respCode 200 301-302 -interval 500 MSEC -resptimeout 1 sec", `add lb-monitor ["m"] type=HTTP respCode=200 301-302 interval=500 intervalUnit=MSEC resptimeout=1 resptimeoutUnit=SEC`},
	{"unset lb vserver v -lbMethod -cltTimeout", `unset lb-vserver ["v"] lbMethod= cltTimeout=`},
	{"set lb monitor m HTTP -retries 5", `set lb-monitor ["m"] type=HTTP retries=5`},
	{"rm route 0.0.0.0 0.0.0.0 10.0.0.1", `rm route ["0.0.0.0" "0.0.0.0" "10.0.0.1"]`},
	{"show route 0.0.0.0", `show route ["0.0.0.0"]`},
	{"add server s 10.0.0.1 -devno 1234 -comment 'a # b' # rest", `add server ["s"] IPAddress=10.0.0.1 comment=a # b`},
	{"add server q/s/ 10.0.0.1", `add server ["s"] IPAddress=10.0.0.1`},
	{"add service s 10.0.0.1 HTTP 80 -cip DISABLED -CKA no -maxClient 0", `add service ["s"] serverName=10.0.0.1 serviceType=HTTP port=80 maxClient=0`},
	{"set service s -CKA NO", `set service ["s"]`},
	{"exit", `exit - []`},
	{"QUIT", `quit - []`},
	{"help add lb", `help - ["add" "lb"]`},
	{"his", `history - []`},
	{"whoami", `whoami - []`},
}

func TestParse(t *testing.T) {
	for _, row := range parsed {

		op, err := Parse(row[0])
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
			continue
		}
		if got := describeOp(op); got != row[1] {
			t.Errorf("%s:\ngot  %s\nwant %s", row[0], got, row[1])
		}
		if op.Line != row[0] {
			t.Errorf("%s: line is kept as %q", row[0], op.Line)
		}
	}
	for _, empty := range []string{"", "  \t", "# comment"} {
		if op, err := Parse(empty); op != nil || err != nil {
			t.Errorf("%q: %v, %v", empty, op, err)
		}
	}
}

// TestAbbreviations: every verb, object word, keyword and enumerated value may be cut as far as it stays unique.
func TestAbbreviations(t *testing.T) {
	values := map[string]string{"name": "x", "serviceGroupName": "x", "monitorName": "x", "IPAddress": "10.0.0.1", "netmask": "255.255.255.0", "port": "80",
		"serverName": "10.0.0.1", "id": "5", "network": "10.0.0.0", "gateway": "10.0.0.1", "metricTable": "x",
		"number": "7", "text": "x",
		"userName": "x", "password": "x", "groupName": "x", "policyName": "x", "cmdSpec": "x", "reqAction": "x"}
	for _, o := range schema.Objects() {
		if !o.Has("add") {
			continue
		}
		f := formOf("add", []*schema.Object{o})
		line := "add " + o.Name()
		for _, p := range f.pos {
			v := Quote(p.Example())
			if given := values[p.CLI]; given != "" && len(p.Enum) == 0 && o.Has("add") && !o.Stored {
				v = given
			}
			line += " " + v
		}
		for _, k := range o.Keys() {
			if k.Dashed("add") {
				line += " -" + k.CLI + " " + k.Example()
			}
		}
		full, err := Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, k := range f.keywords() {
			for n := 1; n <= len(k.field.CLI); n++ {
				typed := "-" + k.field.CLI[:n]
				found, several := match(typed, f.names())
				if several == nil && found != "-"+k.field.CLI {
					continue // it is the whole name of another
				}
				if k.field.Key > 0 {
					continue // it is given already
				}
				value := Quote(k.field.Example())
				if k.field.Flag {
					value = ""
				} else if len(k.field.Enum) > 0 {
					value = strings.ToLower(k.field.Enum[len(k.field.Enum)-1])
				} else if k.field.Many {
					value = k.field.Example()
				}
				op, err := Parse(line + " " + typed + " " + value)
				if several != nil {
					if err == nil || !strings.Contains(err.Error(), "Ambiguous argument ["+typed+"]") {
						t.Errorf("%s %s: %v, want ambiguous", line, typed, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s %s %s: %v", line, typed, value, err)
					continue
				}
				if a := op.Args[len(full.Args)]; !strings.HasPrefix(strings.ToLower(a.Field.CLI), strings.ToLower(k.field.CLI[:n])) {
					t.Errorf("%s %s gave %s", line, typed, a.Field.CLI)
				}
			}
		}
	}
}

func TestChangesTellsReadersFromWriters(t *testing.T) {
	for line, want := range map[string]bool{
		"add server s 10.0.0.1": true, "set server s -comment x": true, "rm server s": true, "enable server s": true, "bind vlan 2 -ifnum 1/1": true,
		"clear ns config -force full": true, "enable ns feature LB": true, "show server": false, "stat ns": false, "save ns config": false,
		"set cli mode -page ON": false, "show run": false, "exit": false, "help": false, "clear cli prompt": false,
	} {
		op, err := Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if op.Changes() != want {
			t.Errorf("%s: Changes is %v", line, !want)
		}
		if !want && op.Apply(schema.New()) == nil {
			t.Errorf("%s: Apply accepts what changes nothing", line)
		}
	}
}

func TestDiscreet(t *testing.T) {
	for line, want := range map[string]string{
		"add lb monitor m FTP -userName u -password secret -interval 5": "add lb monitor m FTP -userName u -password ******** -interval 5",
		`add lb monitor m RADIUS -RADKEY "my \" secret" -pas 'x y'`:     "add lb monitor m RADIUS -RADKEY ******** -pas ********",
		"add lb monitor m FTP -password 'not closed":                    "add lb monitor m FTP -password ********",
		"add lb monitor m FTP -password":                                "add lb monitor m FTP -password",
		"add lb monitor m TCP -interval 5 # -password":                  "add lb monitor m TCP -interval 5 # -password",
	} {
		if got := Discreet(line); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
	op, err := Parse("add lb monitor m FTP -userName u -password secret")
	if err != nil || strings.Contains(op.Line, "secret") {
		t.Errorf("%v, %v", op, err)
	}
	c := configOf(t, "add lb monitor m FTP -userName u -password secret")
	if got := strings.Join(Shown(c), "|"); got != "add lb monitor m FTP -userName u -password ********" {
		t.Error(got)
	}
	if got := strings.Join(Lines(c), "|"); got != "add lb monitor m FTP -userName u -password secret" {
		t.Error(got)
	}
}
