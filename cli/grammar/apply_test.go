package grammar

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// labLines are the commands of an appliance with two ports and a VIP before three servers.
var labLines = []string{
	"add ns ip 10.1.0.5 255.255.255.0 -vServer DISABLED",
	"add vlan 2",
	"add ns ip 10.2.0.5 255.255.255.0 -vServer DISABLED",
	"bind vlan 2 -ifnum 1/2",
	"bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0",
	"add route 0.0.0.0 0.0.0.0 10.1.0.1",
	"add server s1 10.2.0.11",
	"add server s2 10.2.0.12 -comment \"second server\"",
	"add service web1 s1 HTTP 80",
	"add service web2 s2 HTTP 80 -maxClient 0 -maxReq 0 -cip DISABLED -usip YES -useproxyport NO -cltTimeout 180 -svrTimeout 360 -CKA NO -TCPB NO -CMP NO",
	"add service web3 10.2.0.13 HTTP 80",
	"add service echo1 10.2.0.11 UDP 7",
	"add service all 10.2.0.14 ANY *",
	"add lb vserver vip HTTP 10.1.0.50 80 -lbMethod ROUNDROBIN -persistenceType NONE -cltTimeout 180",
	"add lb vserver echo UDP 10.1.0.50 7",
	"bind lb vserver vip web1 -weight 3",
	"bind lb vserver vip web2",
	"bind lb vserver vip web3",
	"bind lb vserver echo echo1",
	"add lb monitor m-http HTTP -respCode 200 300-302 -httpRequest \"GET /health\" -interval 500 MSEC -resptimeout 400 MSEC -downTime 1",
	"add lb monitor m-tcp TCP -destPort 8080",
	"bind service web1 -monitorName m-http",
	"bind service web2 -monitorName tcp",
	"bind service all -monitorName m-tcp",
}

// do parses and applies a line to a clone, as the engine does.
func do(c *schema.Config, line string) (*schema.Config, error) {
	op, err := Parse(line)
	if err != nil || op == nil || !op.Changes() {
		return c, err
	}
	n := c.Clone()
	if err := op.Apply(n); err != nil {
		return c, err
	}
	return n, nil
}

func configOf(t testing.TB, lines ...string) *schema.Config {
	t.Helper()
	c := schema.New()
	for _, l := range lines {
		var err error
		if c, err = do(c, l); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	return c
}

// readBack writes c and reads it again. What is on its way out of service is read as being out of it.
func readBack(t testing.TB, c *schema.Config) {
	t.Helper()
	lines := Lines(c)
	c = c.Clone()
	for _, o := range schema.Leavers() {
		for _, row := range c.Rows(o) {
			if schema.LeavingOf(row).Since != 0 {
				out := reflect.New(o.Type)
				out.Elem().Set(reflect.ValueOf(row).Elem())
				schema.Stay(out.Interface(), "DISABLED")
				c.Put(o, out.Interface())
			}
		}
	}
	d := schema.New()
	for _, l := range lines {
		op, err := Parse(l)
		if err == nil && op != nil { // not the comment before what is only stored
			err = op.Apply(d)
		}
		if err != nil {
			t.Fatalf("%s is refused: %v", l, err)
		}
	}
	if !c.Equal(d) {
		t.Fatalf("read back differs:\n%s\nbut\n%s", strings.Join(lines, "\n"), strings.Join(Lines(d), "\n"))
	}
}

func TestLabConfiguration(t *testing.T) {
	c := configOf(t, labLines...)
	if err := Check(c); err != nil {
		t.Error(err)
	}
	want := []string{
		"add vlan 2",
		"add ns ip 10.1.0.5 255.255.255.0 -vServer DISABLED",
		"add ns ip 10.2.0.5 255.255.255.0 -vServer DISABLED",
		"add ns ip 10.1.0.50 255.255.255.255 -type VIP",
		"bind vlan 2 -ifnum 1/2",
		"bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0",
		"add server s1 10.2.0.11",
		`add server s2 10.2.0.12 -comment "second server"`,
		"add server 10.2.0.13 10.2.0.13",
		"add server 10.2.0.14 10.2.0.14",
		"add service web1 s1 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360",
		"add service web2 s2 HTTP 80 -usip YES -useproxyport NO -cltTimeout 180 -svrTimeout 360",
		"add service web3 10.2.0.13 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360",
		"add service echo1 s1 UDP 7 -usip NO -useproxyport YES -cltTimeout 120 -svrTimeout 120",
		"add service all 10.2.0.14 ANY * -usip NO -useproxyport YES -cltTimeout 120 -svrTimeout 120",
		"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180",
		"add lb vserver echo UDP 10.1.0.50 7 -persistenceType NONE -cltTimeout 120",
		"bind lb vserver vip web1 -weight 3",
		"bind lb vserver vip web2",
		"bind lb vserver vip web3",
		"bind lb vserver echo echo1",
		`add lb monitor m-http HTTP -respCode 200 300-302 -httpRequest "GET /health" -interval 500 MSEC -resptimeout 400 MSEC -downTime 1`,
		"add lb monitor m-tcp TCP -destPort 8080",
		"bind service web1 -monitorName m-http",
		"bind service web2 -monitorName tcp",
		"bind service all -monitorName m-tcp",
		"add route 0.0.0.0 0.0.0.0 10.1.0.1",
	}
	if got := Lines(c); !slices.Equal(got, want) {
		t.Errorf("written as\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	readBack(t, c)
}

// changes are what commands do to the lab's configuration, as lines that go and come.
var changes = []struct {
	line       string
	gone, come []string
}{
	{"set lb vserver vip -lbMethod LEASTCONNECTION -comment x", []string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -cltTimeout 180 -comment x"}},
	{"set lb vserver vip -persistenceType srcip -timeout 30 -persistMask 255.255.255.0 -persistenceBackup SOURCEIP -backupPersistenceTimeout 10",
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType SRCIPDESTIP -timeout 30 -persistenceBackup SOURCEIP -backupPersistenceTimeout 10 -persistMask 255.255.255.0 -lbMethod ROUNDROBIN -cltTimeout 180"}},
	{"unset lb vserver vip -persistenceType -timeout", nil, nil},
	{"set lb vserver echo -lbMethod TOKEN -dataOffset 2 -dataLength 4", []string{"add lb vserver echo UDP 10.1.0.50 7 -persistenceType NONE -cltTimeout 120"},
		[]string{"add lb vserver echo UDP 10.1.0.50 7 -persistenceType NONE -lbMethod TOKEN -dataLength 4 -dataOffset 2 -cltTimeout 120"}},
	{"set service web1 -hashId 7", []string{"add service web1 s1 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360"},
		[]string{"add service web1 s1 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360 -hashId 7"}},
	{"unset lb vserver vip -lbMethod", []string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -cltTimeout 180"}},
	{"set lb vserver vip -lbMethod SOURCEIPHASH -netmask 255.255.255.0", []string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod SOURCEIPHASH -netmask 255.255.255.0 -cltTimeout 180"}},
	{"set lb vs vip -lbm srcipsrcporthash -hashLength 80 -v6netmasklen 128 -netmask 255.255.255.255", []string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod SRCIPSRCPORTHASH -cltTimeout 180"}},
	{"unset lb vserver vip -lbMethod -netmask", []string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -cltTimeout 180"}},
	{"set lb vserver vip -cltTimeout 0", []string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 0"}},
	{"set lb vserver vip -weight 5 web2", []string{"bind lb vserver vip web2"}, []string{"bind lb vserver vip web2 -weight 5"}},
	{"set lb vserver vip -IPAddress 10.1.0.60", []string{"add lb vserver vip HTTP 10.1.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180"},
		[]string{"add lb vserver vip HTTP 10.1.0.60 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180", "add ns ip 10.1.0.60 255.255.255.255 -type VIP"}},
	{"rm lb vserver echo", []string{"add lb vserver echo UDP 10.1.0.50 7 -persistenceType NONE -cltTimeout 120", "bind lb vserver echo echo1"}, nil},
	{"rm service web1", []string{"add service web1 s1 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360", "bind lb vserver vip web1 -weight 3", "bind service web1 -monitorName m-http"}, nil},
	{"rm service web1 web2 web3", []string{"add service web1 s1 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360", "bind lb vserver vip web1 -weight 3", "bind service web1 -monitorName m-http",
		"add service web2 s2 HTTP 80 -usip YES -useproxyport NO -cltTimeout 180 -svrTimeout 360", "bind lb vserver vip web2", "bind service web2 -monitorName tcp",
		"add service web3 10.2.0.13 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360", "bind lb vserver vip web3"}, nil},
	{"unbind lb vserver vip web2", []string{"bind lb vserver vip web2"}, nil},
	{"unbind service web1 -monitorName m-http", []string{"bind service web1 -monitorName m-http"}, nil},
	{"disable service web3", []string{"add service web3 10.2.0.13 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360"},
		[]string{"add service web3 10.2.0.13 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360 -state DISABLED"}},
	{"dis lb vs echo", []string{"add lb vserver echo UDP 10.1.0.50 7 -persistenceType NONE -cltTimeout 120"}, []string{"add lb vserver echo UDP 10.1.0.50 7 -persistenceType NONE -cltTimeout 120 -state DISABLED"}},
	{"disable ns ip 10.1.0.50", []string{"add ns ip 10.1.0.50 255.255.255.255 -type VIP"}, []string{"add ns ip 10.1.0.50 255.255.255.255 -type VIP -state DISABLED"}},
	{"disable server s1", []string{"add server s1 10.2.0.11"}, []string{"add server s1 10.2.0.11 -state DISABLED"}},
	{"enable server s1", nil, nil},
	{"set ns ip 10.2.0.5 -netmask 255.255.0.0", []string{"add ns ip 10.2.0.5 255.255.255.0 -vServer DISABLED", "bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0"},
		[]string{"add ns ip 10.2.0.5 255.255.0.0 -vServer DISABLED", "bind vlan 2 -IPAddress 10.2.0.5 255.255.0.0"}},
	{"set lb monitor m-http -interval 2", []string{`add lb monitor m-http HTTP -respCode 200 300-302 -httpRequest "GET /health" -interval 500 MSEC -resptimeout 400 MSEC -downTime 1`},
		[]string{`add lb monitor m-http HTTP -respCode 200 300-302 -httpRequest "GET /health" -interval 2 -resptimeout 400 MSEC -downTime 1`}},
	{"unset lb monitor m-http HTTP -interval -respCode", []string{`add lb monitor m-http HTTP -respCode 200 300-302 -httpRequest "GET /health" -interval 500 MSEC -resptimeout 400 MSEC -downTime 1`},
		[]string{`add lb monitor m-http HTTP -httpRequest "GET /health" -resptimeout 400 MSEC -downTime 1`}},
	{"set lb parameter -startupRRFactor 7", nil, []string{"set lb parameter -startupRRFactor 7"}},
	{"set lb parameter -startupRRFactor 0", nil, nil},
	{"unset lb parameter -startupRRFactor", nil, nil},
	{"bind vlan 2 -ifnum 1/3 1/4", nil, []string{"bind vlan 2 -ifnum 1/3", "bind vlan 2 -ifnum 1/4"}},
	{"rm vlan 2", []string{"add vlan 2", "bind vlan 2 -ifnum 1/2", "bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0"}, nil},
	{"add ns ip 10.3.0.[7-9] 255.255.255.0 -type MIP", nil, []string{"add ns ip 10.3.0.7 255.255.255.0", "add ns ip 10.3.0.8 255.255.255.0", "add ns ip 10.3.0.9 255.255.255.0"}},
	{"add server t[1-2] 10.9.0.[5-6]", nil, []string{"add server t1 10.9.0.5", "add server t2 10.9.0.6"}},
	{"add service x 10.2.0.12 tcp 443", nil, []string{"add service x s2 TCP 443 -usip NO -useproxyport YES -cltTimeout 9000 -svrTimeout 9000"}},
	{"add lb vserver n HTTP", nil, []string{"add lb vserver n HTTP -persistenceType NONE -cltTimeout 180"}},
	{"add lb vserver n HTTP 0.0.0.0 0", nil, []string{"add lb vserver n HTTP -persistenceType NONE -cltTimeout 180"}},
	{"add lb vserver any ANY 10.1.0.51 *", nil, []string{"add ns ip 10.1.0.51 255.255.255.255 -type VIP", "add lb vserver any ANY 10.1.0.51 * -persistenceType NONE -cltTimeout 120"}},
	{"enable ns feature LB", nil, nil},
	{"add server d 10.9.9.9 -devno 12345", nil, []string{"add server d 10.9.9.9"}},
	{"add vlan 3 -mtu 0 -dynamicRouting DISABLED", nil, []string{"add vlan 3"}},
	{"rm route 0.0.0.0 0.0.0.0 10.1.0.1", []string{"add route 0.0.0.0 0.0.0.0 10.1.0.1"}, nil},
	{"set route 0.0.0.0 0.0.0.0 10.1.0.1 -distance 20", []string{"add route 0.0.0.0 0.0.0.0 10.1.0.1"}, []string{"add route 0.0.0.0 0.0.0.0 10.1.0.1 -distance 20"}},
}

// TestChanges: what commands do to the lab's configuration, as lines that go and come.
func TestChanges(t *testing.T) {
	for _, row := range changes {

		before := configOf(t, labLines...)
		after, err := do(before, row.line)
		if err != nil {
			t.Errorf("%s: %v", row.line, err)
			continue
		}
		gone, come := difference(Lines(before), Lines(after))
		if !slices.Equal(sorted(gone), sorted(row.gone)) || !slices.Equal(sorted(come), sorted(row.come)) {
			t.Errorf("%s:\ngone %q\nwant %q\ncome %q\nwant %q", row.line, gone, row.gone, come, row.come)
		}
		if err := Check(after); err != nil {
			t.Errorf("%s: afterwards: %v", row.line, err)
		}
		readBack(t, after)
	}
}

func difference(before, after []string) (gone, come []string) {
	for _, l := range before {
		if !slices.Contains(after, l) {
			gone = append(gone, l)
		}
	}
	for _, l := range after {
		if !slices.Contains(before, l) {
			come = append(come, l)
		}
	}
	return gone, come
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return s
}

func TestBindMovesPort(t *testing.T) {
	c := configOf(t, "add vlan 2", "add vlan 3", "bind vlan 2 -ifnum 1/1", "bind vlan 3 -ifnum 1/1")
	if got, want := Lines(c)[2:], []string{"bind vlan 3 -ifnum 1/1"}; !slices.Equal(got, want) {
		t.Errorf("bindings %q, want %q: an untagged port moves", got, want)
	}
}

func TestImplicitVIPStays(t *testing.T) {
	c := configOf(t, "add lb vserver v TCP 10.0.0.9 80", "rm lb vserver v")
	if got := Lines(c); !slices.Equal(got, []string{"add ns ip 10.0.0.9 255.255.255.255 -type VIP"}) {
		t.Errorf("left %q", got)
	}
	configOf(t, "add lb vserver v TCP 10.0.0.9 80", "rm lb vserver v", "rm ns ip 10.0.0.9")
}

func TestClear(t *testing.T) {
	lines := append([]string{"add ns ip 192.168.77.1 255.255.255.0 -type NSIP"}, labLines...)
	lines = append(lines, "add route 10.50.0.0 255.255.0.0 10.1.0.2", "bind vlan 2 -IPAddress 10.1.0.50", "set ns hostName lb1")
	for level, want := range map[string][]string{
		"basic": {"set ns hostName lb1", "add vlan 2", "set ns config -IPAddress 192.168.77.1 -netmask 255.255.255.0", "add ns ip 10.1.0.5 255.255.255.0 -vServer DISABLED", "add ns ip 10.2.0.5 255.255.255.0 -vServer DISABLED",
			"bind vlan 2 -ifnum 1/2", "bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0", "add route 0.0.0.0 0.0.0.0 10.1.0.1", "add route 10.50.0.0 255.255.0.0 10.1.0.2"},
		"full": {"set ns config -IPAddress 192.168.77.1 -netmask 255.255.255.0"},
	} {
		c, err := do(configOf(t, lines...), "clear ns config -force "+level)
		if err != nil {
			t.Fatal(err)
		}
		if got := Lines(c); !slices.Equal(got, want) {
			t.Errorf("clear %s leaves\n%s\nwant\n%s", level, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if err := Check(c); err != nil {
			t.Errorf("clear %s: %v", level, err)
		}
	}
}
