package grammar

import (
	"fmt"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// savedFile is a file as a device of the reference product saves it, with what is refused of each line.
var savedFile = []struct{ line, refused string }{
	{"#NS13.1 Build 37.29", ""},
	{"# Last modified by `save config`, Fri Feb  3 14:33:41 2023", ""},
	{"set ns config -IPAddress 192.168.77.1 -netmask 255.255.255.0", ""},
	{"enable ns feature LB", ""},
	{"enable ns mode FR L3 Edge USNIP PMTUD", "Feature not supported in this release [mode, FR]"},
	{"enable ns mode USNIP", ""},
	{"set ns hostName lb1", ""},
	{"add vlan 10 -devno 12", ""},
	{"add vlan 20", ""},
	{"add ns ip 10.10.0.11 255.255.255.0 -vServer DISABLED -devno 13", ""},
	{"add ns ip 10.20.0.11 255.255.255.0 -vServer DISABLED -telnet DISABLED -gui DISABLED", ""},
	{"bind vlan 10 -ifnum 1/1 -IPAddress 10.10.0.11 255.255.255.0", ""},
	{"bind vlan 20 -ifnum 1/2 -IPAddress 10.20.0.11 255.255.255.0", ""},
	{"add ns pbr p ALLOW -srcPort = 80 -destPort = 1024-17151 -nextHop 10.20.0.21 -protocol TCP -priority 10", ""},
	{"add server web_svr1 10.20.0.31", ""},
	{"add service svc1 web_svr1 HTTP 80 -gslb REMOTE -maxClient 0", "Feature not supported in this release [gslb, REMOTE]"},
	{"add service svc1 web_svr1 HTTP 80 -gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES -sp OFF -cltTimeout 180 -svrTimeout 360 -CKA NO -TCPB NO -CMP NO", ""},
	{"add service dns1 10.20.0.32 UDP 53 -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport NO -cltTimeout 120 -svrTimeout 120 -CKA NO -TCPB NO -CMP NO", ""},
	{"add service up 10.20.0.21 ANY * -usip YES -useproxyport YES", ""},
	{"add serviceGroup g HTTP -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360 -CKA NO -TCPB NO -CMP NO", ""},
	{"add lb vserver vs1 HTTP 10.10.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180", ""},
	{"add lb vserver vs2 TCP 10.10.0.51 443 -persistenceType SOURCEIP -timeout 30 -cltTimeout 9000", ""},
	{"add lb vserver vs3 HTTP 10.10.0.52 80 -persistenceType COOKIEINSERT -timeout 0", "Feature not supported in this release [persistenceType, COOKIEINSERT]"},
	{"add lb vserver dns UDP 10.10.0.53 53 -persistenceType NONE -cltTimeout 120 -Listenpriority 101", ""},
	{"add lb vserver vs_upper ANY * * -m MAC -sessionless ENABLED -lbMethod SRCIPDESTIPHASH -persistenceType NONE", ""},
	{"add lb vserver wild ANY * * -Listenpolicy \"REQ.TCP.DESTPORT == 80\" -Listenpriority 7", ""},
	{"add lb vserver pat TCP -IPPattern 198.51.100.0 -IPMask 255.255.255.0 -lbMethod ROUNDROBIN 80", ""},
	{"add lb vserver many TCP 10.10.0.60 80 -range 3", ""},
	{"set lb parameter -sessionsThreshold 150000", "Feature not supported in this release [sessionsThreshold]"},
	{"set lb parameter -startupRRFactor 5 -consolidatedLConn YES", ""},
	{"bind lb vserver vs1 svc1", ""},
	{"bind lb vserver dns dns1", ""},
	{"bind lb vserver vs1 g", ""},
	{"add lb monitor web HTTP -respCode 200 -httpRequest \"HEAD /index.html\" -LRTM DISABLED -interval 10 -resptimeout 5", ""},
	{"add lb monitor ecv HTTP-ECV -send \"GET /\" -recv ok", ""},
	{"bind service svc1 -monitorName web -weight 1", ""},
	{"bind serviceGroup g web_svr1 8080 -CustomServerID \"None\"", ""},
	{"bind serviceGroup g 10.20.0.33 8080 -weight 2", ""},
	{"bind serviceGroup g -monitorName web", ""},
	{"add route 0.0.0.0 0.0.0.0 10.10.0.1", ""},
	{"add dns nameServer 10.20.0.53", ""},
	{"save ns config", ""},
}

// TestSavedFile: a file as a device of the reference product saves it. What this release has is taken over; what it does
// not have is refused by name and stops nothing.
func TestSavedFile(t *testing.T) {
	c := configOf(t)
	for _, row := range savedFile {
		after, err := do(c, row.line)
		switch {
		case row.refused == "" && err != nil:
			t.Errorf("%s: %v", row.line, err)
		case row.refused != "" && (err == nil || !strings.HasPrefix(err.Error(), row.refused)):
			t.Errorf("%s: %v, want %s", row.line, err, row.refused)
		}
		c = after
	}
	want := `set ns hostName lb1
add vlan 10
add vlan 20
set ns config -IPAddress 192.168.77.1 -netmask 255.255.255.0
add ns ip 10.10.0.11 255.255.255.0 -vServer DISABLED
add ns ip 10.20.0.11 255.255.255.0 -vServer DISABLED
add ns ip 10.10.0.50 255.255.255.255 -type VIP
add ns ip 10.10.0.51 255.255.255.255 -type VIP
add ns ip 10.10.0.53 255.255.255.255 -type VIP
add ns ip 10.10.0.60 255.255.255.255 -type VIP
add ns ip 10.10.0.61 255.255.255.255 -type VIP
add ns ip 10.10.0.62 255.255.255.255 -type VIP
bind vlan 10 -ifnum 1/1
bind vlan 20 -ifnum 1/2
bind vlan 10 -IPAddress 10.10.0.11 255.255.255.0
bind vlan 20 -IPAddress 10.20.0.11 255.255.255.0
add server web_svr1 10.20.0.31
add server 10.20.0.32 10.20.0.32
add server 10.20.0.21 10.20.0.21
add server 10.20.0.33 10.20.0.33
add service svc1 web_svr1 HTTP 80 -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360
add service dns1 10.20.0.32 UDP 53 -usip NO -useproxyport NO -cltTimeout 120 -svrTimeout 120
add service up 10.20.0.21 ANY * -usip YES -useproxyport YES -cltTimeout 120 -svrTimeout 120
add serviceGroup g HTTP -usip NO -useproxyport YES -cltTimeout 180 -svrTimeout 360
add lb vserver vs1 HTTP 10.10.0.50 80 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 180
add lb vserver vs2 TCP 10.10.0.51 443 -persistenceType SOURCEIP -timeout 30 -cltTimeout 9000
add lb vserver dns UDP 10.10.0.53 53 -persistenceType NONE -cltTimeout 120
add lb vserver vs_upper ANY * * -persistenceType NONE -lbMethod SRCIPDESTIPHASH -m MAC -sessionless ENABLED -cltTimeout 120
add lb vserver wild ANY * * -persistenceType NONE -Listenpolicy "REQ.TCP.DESTPORT == 80" -Listenpriority 7 -cltTimeout 120
add lb vserver pat TCP -IPPattern 198.51.100.0 -IPMask 255.255.255.0 -persistenceType NONE -lbMethod ROUNDROBIN -cltTimeout 9000 80
add lb vserver many TCP 10.10.0.60 80 -range 3 -persistenceType NONE -cltTimeout 9000
bind lb vserver vs1 svc1
bind lb vserver dns dns1
bind lb vserver vs1 g
set lb parameter -startupRRFactor 5
add lb monitor web HTTP -httpRequest "HEAD /index.html" -interval 10 -resptimeout 5
add lb monitor ecv HTTP-ECV -send "GET /" -recv ok
bind service svc1 -monitorName web
bind serviceGroup g web_svr1 8080
bind serviceGroup g 10.20.0.33 8080 -weight 2
bind serviceGroup g -monitorName web
add route 0.0.0.0 0.0.0.0 10.10.0.1
add dns nameServer 10.20.0.53
# stored, not in force:
add ns pbr p ALLOW -srcPort = 80 -destPort = 1024-17151 -nextHop 10.20.0.21 -protocol TCP -priority 10`
	if got := strings.Join(Lines(c), "\n"); got != want {
		t.Errorf("the file gives\n%s\nwant\n%s", got, want)
	}
	readBack(t, c)
}

// TestToolsFirstCommands: what netmiko and oxidized send first must be understood.
func TestToolsFirstCommands(t *testing.T) {
	for _, line := range []string{"set cli mode -page OFF", "show version", "show hardware", "show partition", "show ns partition", "show ns ns.conf", "show ns feature", "sh feature", "show ns mode", "show ha node", "show ns runningConfig", "save ns config", "save config", "exit"} {
		if _, err := Parse(line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
}

// largeFile is a configuration of n vservers with a service each.
func largeFile(n int) []string {
	lines := []string{"add ns ip 10.0.0.5 255.255.0.0", "add route 0.0.0.0 0.0.0.0 10.0.0.1"}
	for i := range n {
		lines = append(lines,
			fmt.Sprintf("add server s%d 10.1.%d.%d", i, i/250, 1+i%250),
			fmt.Sprintf("add service svc%d s%d HTTP 80", i, i),
			fmt.Sprintf("add lb vserver v%d HTTP 10.2.%d.%d 80", i, i/250, 1+i%250),
			fmt.Sprintf("bind lb vserver v%d svc%d", i, i))
	}
	return lines
}

// BenchmarkLoad reads a file of 40,000 lines.
func BenchmarkLoad(b *testing.B) {
	lines := largeFile(10000)
	for b.Loop() {
		c := schema.New()
		for _, l := range lines {
			op, err := Parse(l)
			if err == nil {
				err = op.Apply(c)
			}
			if err != nil {
				b.Fatal(l, err)
			}
		}
	}
}

// BenchmarkCheck tests a configuration of 10,000 vservers as a whole.
func BenchmarkCheck(b *testing.B) {
	c := loaded(b, largeFile(10000))
	for b.Loop() {
		if err := Check(c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommit applies one command to a clone of a configuration of 10,000 vservers.
func BenchmarkCommit(b *testing.B) {
	c := loaded(b, largeFile(10000))
	for b.Loop() {
		if _, err := do(c, "add lb vserver new HTTP 10.3.0.1 80"); err != nil {
			b.Fatal(err)
		}
	}
}

// loaded applies lines to one configuration without a version for each.
func loaded(t testing.TB, lines []string) *schema.Config {
	t.Helper()
	c := schema.New()
	for _, l := range lines {
		op, err := Parse(l)
		if err == nil {
			err = op.Apply(c)
		}
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	return c
}
