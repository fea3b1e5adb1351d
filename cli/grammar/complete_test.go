package grammar

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// completions are what Tab offers in the lab's configuration.
var completions = []struct {
	head, prefix string
	want         string // candidates, or the first and ... or ... and the last
}{
	{"", "", "add set unset rm bind unbind ... whoami cls"},
	{"sh", "sh", "show"},
	{"zz", "zz", ""},
	{"add ", "", "system authentication audit vlan vrID ns server service serviceGroup lb route ... netbridge"},
	{"add l", "l", "lb linkset limitSelector limitIdentifier"},
	{"add lb ", "", "vserver metricTable monitor group route wlm"},
	{"show runn", "runn", "runningConfig"},
	{"show where ", "", "<srcIP>"},
	{"show where 10.1.0.9 40000 10.1.0.50 80 ", "", "<protocol>"},
	{"show where 10.1.0.9 40000 10.1.0.50 80 TCP ", "", "<cr>"},
	{"stat worker ", "", "<id> <cr>"},
	{"start ", "", "nstrace trace"},
	{"start trace ", "", "-srcIP -srcPort -destIP -destPort -protocol -count -time <cr>"},
	{"start trace -c", "-c", "-count"},
	{"stop trace ", "", "<cr>"},
	{"sh ip ", "", "10.1.0.5 10.2.0.5 10.1.0.50 -type <cr>"},
	{"stat ", "", "vrID service serviceGroup lb serviceGroupMember ns worker"},
	{"bind ", "", "system audit vrID vlan lb service serviceGroup ... netbridge"},
	{"add lb vserver ", "", "<name>"},
	{"add lb vserver v ", "", "HTTP TCP UDP ANY"},
	{"add lb vserver v h", "h", "HTTP"},
	{"add lb vserver v HTTP 10.0.0.9 ", "", "<port>"},
	{"add lb vserver v HTTP 10.0.0.9 80 ", "", "-range -IPPattern -IPMask -persistenceType -timeout -persistenceBackup -backupPersistenceTimeout -persistMask -trofsPersistence -lbMethod -hashLength -netmask -dataLength -dataOffset -rule -m -tosId -sessionless -l2Conn -Listenpolicy -Listenpriority -cltTimeout -backupVServer -disablePrimaryOnDown -soMethod -soThreshold -soBackupAction -soPersistence -soPersistenceTimeOut -healthThreshold -newServiceRequest -newServiceRequestIncrementInterval -downStateFlush -state -comment <cr>"},
	{"add lb vserver v HTTP 10.0.0.9 80 -l", "-l", "-lbMethod -l2Conn -Listenpolicy -Listenpriority"},
	{"add lb vserver v HTTP 10.0.0.9 80 -lbMethod ", "", "ROUNDROBIN LEASTCONNECTION LEASTPACKETS LEASTBANDWIDTH LEASTRESPONSETIME DESTINATIONIPHASH SOURCEIPHASH SRCIPDESTIPHASH SRCIPSRCPORTHASH LEASTREQUEST CUSTOMLOAD TOKEN CALLIDHASH LRTM"},
	{"add lb vserver v HTTP 10.0.0.9 80 -lbm r", "r", "ROUNDROBIN"},
	{"set lb ", "", "vserver parameter monitor group wlm"},
	{"set lb parameter ", "", "-startupRRFactor"},
	{"set lb parameter -startupRRFactor ", "", "<startupRRFactor>"},
	{"unset lb parameter ", "", "-startupRRFactor"},
	{"show lb p", "p", "parameter persistentSessions"},
	{"clear lb ", "", "persistentSessions"},
	{"add lb vserver v HTTP 10.0.0.9 80 -lbMethod ROUNDROBIN -", "-", "-range -IPPattern -IPMask -persistenceType -timeout -persistenceBackup -backupPersistenceTimeout -persistMask -trofsPersistence -hashLength -netmask -dataLength -dataOffset -rule -m -tosId -sessionless -l2Conn -Listenpolicy -Listenpriority -cltTimeout -backupVServer -disablePrimaryOnDown -soMethod -soThreshold -soBackupAction -soPersistence -soPersistenceTimeOut -healthThreshold -newServiceRequest -newServiceRequestIncrementInterval -downStateFlush -state -comment"},
	{"set lb vserver ", "", "vip echo"},
	{"set lb vserver vip ", "", "-IPAddress -IPPattern -IPMask -persistenceType -timeout -persistenceBackup -backupPersistenceTimeout -persistMask -trofsPersistence -lbMethod -hashLength -netmask -dataLength -dataOffset -rule -m -tosId -sessionless -l2Conn -Listenpolicy -Listenpriority -cltTimeout -backupVServer -disablePrimaryOnDown -soMethod -soThreshold -soBackupAction -soPersistence -soPersistenceTimeOut -healthThreshold -newServiceRequest -newServiceRequestIncrementInterval -downStateFlush -comment -weight"},
	{"set lb vserver vip -weight 5 ", "", "web1 web2 web3 echo1 all"},
	{"unset lb vserver vip ", "", "-IPAddress -IPPattern -IPMask -persistenceType -timeout -persistenceBackup -backupPersistenceTimeout -persistMask -trofsPersistence -lbMethod -hashLength -netmask -dataLength -dataOffset -rule -m -tosId -sessionless -l2Conn -Listenpolicy -Listenpriority -cltTimeout -backupVServer -disablePrimaryOnDown -soMethod -soThreshold -soBackupAction -soPersistence -soPersistenceTimeOut -healthThreshold -newServiceRequest -newServiceRequestIncrementInterval -downStateFlush -comment"},
	{"bind lb vserver vip w", "w", "web1 web2 web3"},
	{"unbind lb vserver echo ", "", "echo1"},
	{"bind lb vserver vip web1 ", "", "-weight <cr>"},
	{"bind service web1 ", "", "-monitorName -monState -weight"},
	{"bind service web1 -monitorName ", "", "m-http m-tcp ping-default tcp-default ping tcp http tcp-ecv http-ecv udp-ecv dns ftp arp"},
	{"unbind service web1 -monitorName ", "", "m-http"},
	{"add service x ", "", `s1 s2 10.2.0.13 10.2.0.14 "with space"`},
	{"add lb vserver v TCP -IPPattern 10.0.0.0 -IPMask 255.0.0.0 ", "", "<port> -range ... -comment <cr>"},
	{"rm vrID ", "", "<id> -all"},
	{"rm vrID -a", "-a", "-all"},
	{"rm vrID -all ", "", "<cr>"},
	{"force vrID 5 ", "", "-backup -release ... <cr>"},
	{"rm server ", "", `s1 s2 10.2.0.13 10.2.0.14 "with space"`},
	{"rm server s1 s", "s", "s1 s2"},
	{"bind vlan 2 ", "", "-ifnum -IPAddress"},
	{"bind vlan 2 -ifnum 1/2 ", "", "<ifnum> -IPAddress <cr>"},
	{"bind vlan 2 -IPAddress ", "", "10.1.0.5 10.2.0.5 10.1.0.50"},
	{"unbind vlan 2 -ifnum ", "", "1/2"},
	{"rm route ", "", "0.0.0.0"},
	{"rm route 0.0.0.0 0.0.0.0 ", "", "10.1.0.1"},
	{"add lb monitor m HTTP -interval 5 ", "", "SEC MSEC MIN ... <cr>"},
	{"add lb monitor m HTTP -interval 5 m", "m", "MSEC MIN"},
	{"add service x s1 HTTP 80 -CKA ", "", "NO"},
	{"enable ns feature ", "", "LB"},
	{"set cli mode ", "", "-page -color -timeout"},
	{"set cli mode -page ", "", "ON OFF"},
	{"clear ns config ", "", "basic extended full -force"},
	{"clear ns config -force ", "", "basic extended full"},
	{"save ns config ", "", "<cr>"},
	{"exit ", "", "<cr>"},
	{"help add lb", "lb", "lb"},
	{`add server "open`, "", ""},
	{"frob x", "x", ""},
	{"add server s 10.0.0.1 -bogus ", "", ""},
	{"add server s 10.0.0.1 -comment ", "", "<comment>"},
}

func TestComplete(t *testing.T) {
	c := configOf(t, append(labLines, `add server "with space" 10.9.0.1`)...)
	for _, row := range completions {

		list, prefix := Complete(row.head, c)
		var got []string
		for _, x := range list {
			got = append(got, x.Text)
			if x.Help == "" && x.Text != Enter {
				t.Errorf("%q: %s has no help", row.head, x.Text)
			}
		}
		first, last, cut := strings.Cut(row.want, " ... ") // what is between does not matter
		text := strings.Join(got, " ")
		if text != row.want && !(cut && strings.HasPrefix(text, first) && strings.HasSuffix(text, last)) || prefix != row.prefix {
			t.Errorf("%q: %q prefix %q, want %q prefix %q", row.head, text, prefix, row.want, row.prefix)
		}
	}
}

// TestCompletionIsUnderstood: what completion offers is what the parser takes.
func TestCompletionIsUnderstood(t *testing.T) {
	c := configOf(t, labLines...)
	seen := 0
	var walk func(head string, depth int)
	walk = func(head string, depth int) {
		list, _ := Complete(head, c)
		for _, x := range list {
			switch {
			case x.Text == Enter:
				if _, err := Parse(head); err != nil {
					t.Errorf("<cr> is offered behind %q: %v", head, err)
				}
				seen++
			case strings.HasPrefix(x.Text, "<"):
			case depth > 0:
				if again, _ := Complete(head+x.Text, c); !slices.ContainsFunc(again, func(y Candidate) bool { return y.Text == x.Text }) {
					t.Errorf("%q is offered behind %q and is gone when typed", x.Text, head)
				}
				walk(head+x.Text+" ", depth-1)
			}
		}
	}
	walk("", 5)
	if seen < 50 {
		t.Errorf("only %d whole commands were reached", seen)
	}
}

func TestHelpOfFields(t *testing.T) {
	list, _ := Complete("add lb monitor m HTTP -re", schema.New())
	var retries string
	for _, x := range list {
		if x.Text == "-retries" {
			retries = x.Help
		}
	}
	if want := "Failed probes in a row after which the service is DOWN (1-127) [default 3]"; retries != want {
		t.Errorf("help of -retries %q, want %q", retries, want)
	}
	list, _ = Complete("set cli mode -timeout ", schema.New())
	if want := "(0-100000000 seconds)"; len(list) != 1 || !strings.HasSuffix(list[0].Help, want) {
		t.Errorf("candidates of -timeout %v, want a placeholder with %s", list, want)
	}
}

func TestHelpText(t *testing.T) {
	for _, row := range []struct{ head, want string }{
		{"add server", "add server <name> (<IPAddress> | <domain>) [-domainResolveRetry <domainResolveRetry>] [-state ( ENABLED | DISABLED )] [-comment <comment>]\n"},
		{"rm service", "rm service <name> ...\n"},
		{"show route", "show route [<network>] [<netmask>] [<gateway>]\n"},
		{"bind vlan", "bind vlan <id> [-ifnum <ifnum> ...] [-IPAddress <IPAddress> [<netmask>]]\n"},
		{"bind service", "bind service <name> -monitorName <monitorName> [-monState ( ENABLED | DISABLED )] [-weight <weight>]\n"},
		{"set lb vserver", "set lb vserver <name> [-IPAddress <IPAddress>] [-IPPattern <IPPattern>] [-IPMask <IPMask>] [-persistenceType ( NONE | SOURCEIP | DESTIP | SRCIPDESTIP )] [-timeout <timeout>] [-persistenceBackup ( SOURCEIP | NONE )] [-backupPersistenceTimeout <backupPersistenceTimeout>] [-persistMask <persistMask>] [-trofsPersistence ( ENABLED | DISABLED )] [-lbMethod <lbMethod>] [-hashLength <hashLength>] [-netmask <netmask>] [-dataLength <dataLength>] [-dataOffset <dataOffset>] [-rule <rule>] [-m ( IP | MAC | IPTUNNEL | TOS )] [-tosId <tosId>] [-sessionless ( ENABLED | DISABLED )] [-l2Conn ( ON | OFF )] [-Listenpolicy <Listenpolicy>] [-Listenpriority <Listenpriority>] [-cltTimeout <cltTimeout>] [-backupVServer <backupVServer>] [-disablePrimaryOnDown ( ENABLED | DISABLED )] [-soMethod <soMethod>] [-soThreshold <soThreshold>] [-soBackupAction ( DROP | ACCEPT )] [-soPersistence ( ENABLED | DISABLED )] [-soPersistenceTimeOut <soPersistenceTimeOut>] [-healthThreshold <healthThreshold>] [-newServiceRequest <newServiceRequest> [<newServiceRequestUnit>]] [-newServiceRequestIncrementInterval <newServiceRequestIncrementInterval>] [-downStateFlush ( ENABLED | DISABLED )] [-comment <comment>] [-weight <weight> <serviceName>]\n"},
		{"clear ns config", "clear ns config <level> [-force]\n"},
		{"whoami", "whoami\n    Name of the user\n"},
	} {
		text, err := Help(row.head)
		if err != nil || !strings.HasPrefix(text, row.want) {
			t.Errorf("%s: %q, %v; want it to begin with %q", row.head, text, err, row.want)
		}
	}
	if text, err := Help("add lb"); text != "" || err != nil {
		t.Errorf("half a command gives %q, %v", text, err)
	}
	if _, err := Help("frob"); err == nil {
		t.Error("frob has help")
	}
}

// BenchmarkComplete10k completes a name among 10,000.
func BenchmarkComplete10k(b *testing.B) {
	c := schema.New()
	for i := range 10000 {
		s := schema.Of[schema.Service]().Fresh().(*schema.Service)
		s.Name = fmt.Sprintf("service-%05d", i)
		schema.Put(c, s)
	}
	for b.Loop() {
		if list, _ := Complete("show service service-0999", c); len(list) != 10 {
			b.Fatalf("%d candidates, want 10", len(list))
		}
	}
}
