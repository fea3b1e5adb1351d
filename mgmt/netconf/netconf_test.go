package netconf

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

const service = `<service><name>s</name><server>a</server><service-type>TCP</service-type><port>80</port></service>`

func TestEditOperations(t *testing.T) {
	for _, x := range []struct {
		before, edit, defaultOp string
		want                    string // tag of the error, or the servers afterwards
		path                    string
	}{
		{"a", server("b"), "", "a b", ""},
		{"a", `<server><name>a</name><comment>x</comment></server>`, "", "a:x", ""},
		{"a", `<server nc:operation="create"><name>b</name><ip-address>10.0.0.9</ip-address></server>`, "", "a b", ""},
		{"a", `<server nc:operation="create"><name>a</name></server>`, "", "data-exists", "/sluice:sluice/sluice:server[sluice:name='a']"},
		{"a b", `<server nc:operation="delete"><name>a</name></server>`, "", "b", ""},
		{"a", `<server nc:operation="delete"><name>b</name></server>`, "", "data-missing", "[sluice:name='b']"},
		{"a b", `<server nc:operation="remove"><name>a</name></server><server nc:operation="remove"><name>z</name></server>`, "", "b", ""},
		{"a:x b", `<server nc:operation="replace"><name>a</name><ip-address>10.0.0.1</ip-address></server>`, "", "a b", ""},
		{"a:x b", `<server><name>a</name><comment>y</comment></server>`, "none", "a:x b", ""},
		{"a:x b", `<server><name>a</name><comment nc:operation="merge">y</comment></server>`, "none", "a:y b", ""},
		{"a", `<server><name>z</name></server>`, "none", "data-missing", "[sluice:name='z']"},
		{"a", `<server nc:operation="create"><name>z</name><ip-address>10.0.0.9</ip-address></server>`, "none", "a z", ""},
		{"a b", server("c"), "replace", "c", ""},
		{"a:x", `<server><name>a</name><comment nc:operation="delete"/></server>`, "", "a", ""},
		{"a", `<server><name>a</name><comment nc:operation="delete"/></server>`, "", "data-missing", "/sluice:comment"},
		{"a", `<server><name>a</name><comment nc:operation="remove"/></server>`, "", "a", ""},
		{"a:x", `<server><name>a</name><comment nc:operation="create">y</comment></server>`, "", "data-exists", "/sluice:comment"},
		{"a", `<server><name>a</name><comment nc:operation="create">y</comment></server>`, "", "a:y", ""},
		{"a", `<server><name>a</name><name nc:operation="delete">a</name></server>`, "", "bad-element", "name"},
		{"a", `<server nc:operation="burn"><name>a</name></server>`, "", "bad-attribute", "server"},
		{"a", `<server colour="red"><name>a</name></server>`, "", "unknown-attribute", "server"},
		{"a", `<server><name>b</name><ip-address>10.0.0.256</ip-address></server>`, "", "invalid-value", "[sluice:name='b']/sluice:ip-address"},
		{"a", `<server><name>b</name><state>SLEEPY</state></server>`, "", "invalid-value", "/sluice:state"},
		{"a", `<server><name>b</name><x/></server>`, "", "unknown-element", "[sluice:name='b']"},
		{"a", `<server><name>b</name><comment><x/></comment></server>`, "", "unknown-element", "/sluice:comment"},
		{"a", `<server><name>b</name><comment>1</comment><comment>2</comment></server>`, "", "bad-element", "/sluice:comment"},
		{"a", `<server><ip-address>10.0.0.1</ip-address></server>`, "", "missing-element", "/sluice:server"},
		{"a", `<server><name/></server>`, "", "invalid-value", "/sluice:name"},
		{"a", `<zone><name>z</name></zone>`, "", "unknown-element", "/sluice:sluice"},
		{"a", `<service><name>s</name></service>`, "", "data-missing", "[sluice:name='s']"},
		{"a", `<x xmlns="urn:x"/>`, "", "unknown-element", ""},
		{"a", `<lb-parameter><startup-rr-factor>3</startup-rr-factor></lb-parameter>` + server("b"), "", "a b", ""},
		{"a", `<lb-parameter nc:operation="delete"/>`, "", "data-missing", "lb-parameter"},
		{"a", server("b") + `<server nc:operation="delete"><name>z</name></server>`, "", "data-missing", "z"}, // and b is not there
	} {
		for _, target := range []string{"candidate", "running"} {
			b := newBench(t)
			c := b.login("nsroot")
			for _, s := range strings.Fields(x.before) {
				name, comment, _ := strings.Cut(s, ":")
				c.ok(editing(target, server(name, "<comment>"+comment+"</comment>")))
			}
			var more []string
			if x.defaultOp != "" {
				more = append(more, "<default-operation>"+x.defaultOp+"</default-operation>")
			}
			got := c.ask(editing(target, x.edit, more...))
			now, _ := b.fake.Candidate()
			if target == "running" {
				now = b.fake.Running()
			}
			var after []string
			for _, s := range schema.All[schema.Server](now) {
				after = append(after, strings.TrimSuffix(s.Name+":"+s.Comment, ":"))
			}
			if strings.Contains(x.want, "-") {
				if !strings.Contains(got, "<error-tag>"+x.want+"<") || !strings.Contains(strings.ReplaceAll(got, "&#39;", "'"), x.path) || strings.Join(after, " ") != x.before {
					t.Errorf("%s on %s of %s: %s, want %s at %s", x.edit, target, x.before, got, x.want, x.path)
				}
				continue
			}
			if !strings.Contains(got, "<ok/>") || strings.Join(after, " ") != x.want {
				t.Errorf("%s on %s of %s: %s\n%v, want %s", x.edit, target, x.before, got, after, x.want)
			}
		}
	}
}

func TestEditOptions(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	c.ok(editing("candidate", service)) // its server is missing, which a candidate may
	c.fails("<validate><source><candidate/></source></validate>", "<error-tag>data-missing</error-tag>", "No such resource [serverName, a]", "[sluice:name=&#39;s&#39;]/sluice:server</error-path>")
	c.fails("<commit/>", "No such resource [serverName, a]", "/sluice:server</error-path>")
	c.fails(editing("running", service), "No such resource [serverName, a]", "/sluice:server</error-path>", "<error-app-tag>instance-required</error-app-tag>")
	loose := "<ssl-service-cert><service-name>s</service-name><certkey-name>gone</certkey-name></ssl-service-cert>" // kept, whatever it names
	c.fails(editing("running", service+loose), "No such resource [serverName, a]", "/sluice:server</error-path>")
	twice := server("a") + "<server><name>z</name><ip-address>" + address("a") + "</ip-address></server>"
	if got := c.ask(editing("running", twice+loose)); !strings.Contains(got, "<rpc-error>") || strings.Contains(got, "instance-required") {
		t.Errorf("two servers of one address beside a row that may name anything: %s", got)
	}
	c.ok("<discard-changes/>")
	c.fails(editing("candidate", service, "<test-option>test-then-set</test-option>"), "No such resource")
	c.ok(editing("candidate", server("a")+service, "<test-option>test-only</test-option>"))
	c.fails(editing("candidate", service, "<test-option>perhaps</test-option>"), "invalid-value", "test-option")
	c.fails(editing("startup", service), "operation-not-supported")
	c.fails(editing("elsewhere", service), "operation-not-supported")
	c.fails("<edit-config><target><running/></target></edit-config>", "missing-element", "in the namespace of NETCONF", "config")
	c.fails("<edit-config><config/></edit-config>", "missing-element", "target")
	if _, modified := b.fake.Candidate(); modified {
		t.Error("the candidate is changed by what only was to be tested")
	}
	c.ok(editing("candidate", server("a")+service, "<error-option>rollback-on-error</error-option>"))
	c.ok("<validate><source><candidate/></source></validate>")
	c.ok("<commit/>")
	c.ok("<commit/>") // of nothing
	if names(b.fake.Running()) != "a" {
		t.Error("the commit has not come about")
	}
	c.fails("<validate><source><config><sluice xmlns='urn:sluice:config'><server/></sluice></config></source></validate>", "missing-element")
	c.ok("<copy-config><source><running/></source><target><startup/></target></copy-config>")
	if !b.fake.startup.Equal(b.fake.running) {
		t.Error("startup is not running")
	}
	c.ok("<copy-config><source><config><sluice xmlns='urn:sluice:config'>" + server("z") + "</sluice></config></source><target><candidate/></target></copy-config>")
	c.ok("<commit/>")
	c.fails("<copy-config><source><config><sluice xmlns='urn:sluice:config'>"+service+"</sluice></config></source><target><startup/></target></copy-config>", "No such resource")
	c.ok("<copy-config><source><startup/></source><target><running/></target></copy-config>")
	c.fails("<copy-config><source><running/></source><target><running/></target></copy-config>", "invalid-value")
	c.fails("<delete-config><target><running/></target></delete-config>", "operation-not-supported")
	c.ok("<delete-config><target><startup/></target></delete-config>")
	if names(b.fake.Running()) != "a" || names(b.fake.startup) != "" {
		t.Errorf("running %s, startup %s", names(b.fake.Running()), names(b.fake.startup))
	}
}

func TestFiltersAndDefaults(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	c.ok(editing("running", server("a", "<comment>x</comment>")+server("b")+service+
		`<lb-monitor><name>m</name><type>RADIUS</type><user-name>u</user-name><rad-key>geheim</rad-key><password>auch</password></lb-monitor>`))
	get := func(filter, more string) string {
		got := c.ask("<get-config><source><running/></source>" + filter + more + "</get-config>")
		_, got, _ = strings.Cut(got, "<data>")
		got, _, _ = strings.Cut(got, "</data>")
		return got
	}
	sluice := func(s string) string { return `<sluice xmlns="urn:sluice:config">` + s + `</sluice>` }
	for filter, want := range map[string]string{
		"": sluice(`<server><name>a</name><ip-address>10.2.0.97</ip-address><comment>x</comment></server><server><name>b</name><ip-address>10.2.0.98</ip-address></server>` +
			service + `<lb-monitor><name>m</name><type>RADIUS</type><user-name>u</user-name><password>********</password><rad-key>********</rad-key></lb-monitor>`),
		"<filter/>": "",
		`<filter type="subtree"><sluice xmlns="urn:sluice:config"><server/></sluice></filter>`: sluice(`<server><name>a</name><ip-address>10.2.0.97</ip-address><comment>x</comment></server>` +
			`<server><name>b</name><ip-address>10.2.0.98</ip-address></server>`),
		`<filter><sluice xmlns=""><server><name>b</name></server></sluice></filter>`:                               sluice(`<server><name>b</name><ip-address>10.2.0.98</ip-address></server>`),
		`<filter><sluice xmlns="urn:sluice:config"><server><name/></server></sluice></filter>`:                     sluice(`<server><name>a</name></server><server><name>b</name></server>`),
		`<filter><sluice xmlns="urn:sluice:config"><server><name>a</name><comment/></server></sluice></filter>`:    sluice(`<server><name>a</name><comment>x</comment></server>`),
		`<filter><sluice xmlns="urn:sluice:config"><server><comment>x</comment><name/></server></sluice></filter>`: sluice(`<server><name>a</name><comment>x</comment></server>`),
		`<filter><sluice xmlns="urn:sluice:config"><server><name>z</name></server></sluice></filter>`:              "",
		`<filter><sluice xmlns="urn:other"/></filter>`:                                                             "",
		`<filter><sluice xmlns="urn:sluice:config"><server x="y"/><service/></sluice></filter>`:                    sluice(service),
		`<filter><sluice xmlns="urn:sluice:config"><server><name>b</name></server><service><port/></service></sluice></filter>`: sluice(
			`<server><name>b</name><ip-address>10.2.0.98</ip-address></server><service><name>s</name><port>80</port></service>`),
	} {
		if got := get(filter, ""); got != want {
			t.Errorf("%s\n got %s\nwant %s", filter, got, want)
		}
	}
	one := `<filter><sluice xmlns="urn:sluice:config"><server><name>b</name></server><lb-parameter/></sluice></filter>`
	wd := `<with-defaults xmlns="` + withDefNS + `">%s</with-defaults>`
	all := get(one, fmt.Sprintf(wd, "report-all"))
	for _, want := range []string{"<domain-resolve-retry>5</domain-resolve-retry>", "<state>ENABLED</state>", "<lb-parameter><startup-rr-factor>0</startup-rr-factor></lb-parameter>"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s lacks %s", all, want)
		}
	}
	if got := get(one, fmt.Sprintf(wd, "report-all-tagged")); !strings.Contains(got, `wd:default="true">ENABLED</state>`) || !strings.Contains(got, "<name>b</name>") {
		t.Error(got)
	}
	c.fails(`<get-config><source><running/></source>`+fmt.Sprintf(wd, "explicit")+`</get-config>`, "invalid-value", "with-defaults")
	c.fails(`<get-config><source><running/></source><filter type="xpath" select="/"/></get-config>`, "bad-attribute")
	c.fails(`<get-config/>`, "missing-element")
	if got := c.ask(`<get><filter><netconf-state xmlns="` + monitoringNS + `"/></filter></get>`); !strings.Contains(got, "<username>nsroot</username>") ||
		!strings.Contains(got, "<identifier>sluice</identifier>") || strings.Contains(got, "<server>") {
		t.Error(got)
	}
	// What was read is written back: the hidden secrets stay what they are.
	c.ok(`<edit-config><target><running/></target><config>` + get("", fmt.Sprintf(wd, "report-all-tagged")) + `</config></edit-config>`)
	if m := schema.All[schema.LBMonitor](b.fake.Running())[0]; m.RadKey != "geheim" || m.Password != "auch" {
		t.Errorf("%+v", m)
	}
	c.fails(editing("running", `<lb-monitor><name>other</name><type>RADIUS</type><user-name>u</user-name><rad-key>********</rad-key></lb-monitor>`), "invalid-value", "give the secret itself")
	c.fails(editing("running", `<lb-monitor><name>other</name><type>SNMP</type><snmp-community>********</snmp-community></lb-monitor>`), "invalid-value", "give the secret itself")
}

// TestHiddenSecretsComeBack: whoever writes back what he has read, as a whole, with rows replaced or with one leaf changed, changes
// no secret: none of stored objects and of kept lines either.
func TestHiddenSecretsComeBack(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	rows := `<lb-monitor><name>m</name><type>RADIUS</type><user-name>u</user-name><rad-key>geheim</rad-key><password>geheim2</password></lb-monitor>` +
		`<lb-monitor><name>n</name><type>SNMP</type><snmpoid>1.3</snmpoid><snmp-community>geheim3</snmp-community></lb-monitor>` +
		`<ns-rpc-node><ip-address>10.0.0.9</ip-address><password>geheim4</password></ns-rpc-node>` +
		`<snmp-community><community-name>geheim5</community-name><permissions>GET</permissions></snmp-community>` +
		`<snmp-community><community-name>geheim6</community-name><permissions>ALL</permissions></snmp-community>` +
		`<ns-line><number>1</number><text>set foo x -password geheim7</text></ns-line>`
	c.ok(editing("running", rows))
	want := b.fake.Running()
	got := c.ask("<get-config><source><running/></source></get-config>")
	if strings.Contains(got, "geheim") || strings.Count(got, "********") != 7 {
		t.Fatalf("secrets are not hidden:\n%s", got)
	}
	_, got, _ = strings.Cut(got, "<data>")
	got, _, _ = strings.Cut(got, "</data>")
	for _, operation := range []string{"merge", "replace"} {
		c.ok(`<edit-config><target><running/></target><default-operation>` + operation + `</default-operation><config>` + got + `</config></edit-config>`)
		if !b.fake.Running().Equal(want) {
			t.Errorf("%s of what was read has changed something", operation)
		}
	}
	for _, o := range []string{"lb-monitor", "snmp-community", "ns-line", "ns-rpc-node"} {
		c.ok(`<edit-config><target><running/></target><config>` + strings.ReplaceAll(got, "<"+o+">", `<`+o+` xmlns:nc="urn:ietf:params:xml:ns:netconf:base:1.0" nc:operation="replace">`) + `</config></edit-config>`)
		if !b.fake.Running().Equal(want) {
			t.Errorf("replacing each %s by what was read has changed something", o)
		}
	}
	c.ok(`<copy-config><target><candidate/></target><source><config>` + got + `</config></source></copy-config>`)
	if d, _ := b.fake.Candidate(); !d.Equal(want) {
		t.Error("copying what was read has changed something")
	}
	c.ok("<discard-changes/>")
	mask := func(community string) string { return schema.Of[schema.SNMPCommunity]().Keys()[0].Mask(community) }
	c.ok(editing("running", `<snmp-community nc:operation="delete"><community-name>`+mask("geheim5")+`</community-name></snmp-community>`))
	if b.fake.Running().Len(schema.Of[schema.SNMPCommunity]()) != 1 || schema.Get[schema.SNMPCommunity](b.fake.Running(), "geheim6") == nil {
		t.Error("not the community that was shown is deleted")
	}
	c.fails(editing("running", `<ns-line><number>2</number><text>set foo x -password ********</text></ns-line>`), "invalid-value", "give the secret itself")
	c.fails(editing("running", `<ns-line><number>1</number><text>set bar x -password ********</text></ns-line>`), "invalid-value", "give the secret itself")
	c.fails(editing("running", `<snmp-community><community-name>`+mask("geheim5")+`</community-name><permissions>GET</permissions></snmp-community>`), "invalid-value", "give the secret itself")
}

func TestSchemas(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	for _, x := range []string{"<identifier>sluice</identifier>", "<identifier>sluice-held</identifier><version>2026-11-30</version><format>yang</format>"} {
		if got := c.ask(`<get-schema xmlns="` + monitoringNS + `">` + x + `</get-schema>`); !strings.Contains(got, "yang-version 1.1;") {
			t.Error(got)
		}
	}
	for _, x := range []string{"<identifier>other</identifier>", "<identifier>sluice</identifier><version>1999-01-01</version>", "<identifier>sluice</identifier><format>xsd</format>", ""} {
		c.fails(`<get-schema xmlns="`+monitoringNS+`">`+x+`</get-schema>`, "invalid-value")
	}
}

func TestLocks(t *testing.T) {
	b := newBench(t)
	c, d := b.login("nsroot"), b.login("oper")
	lock := func(what, name string) string { return "<" + what + "><target><" + name + "/></target></" + what + ">" }
	c.ok(lock("lock", "running"))
	d.fails(lock("lock", "running"), "lock-denied", "<session-id>1</session-id>", "locked by nsroot")
	c.fails(lock("lock", "running"), "lock-denied")
	d.fails(editing("running", server("a")), "in-use", "locked by nsroot in session 1")
	d.fails("<commit/>", "in-use")
	d.ok(editing("candidate", server("a")))
	d.fails(lock("unlock", "running"), "operation-failed")
	c.fails(lock("lock", "candidate"), "lock-denied", "<session-id>0</session-id>")
	c.ok(editing("running", server("b")))
	c.ok(lock("unlock", "running"))
	d.ok("<discard-changes/>")
	d.ok(lock("lock", "candidate"))
	d.ok(editing("candidate", server("c")))
	c.fails(editing("candidate", server("d")), "in-use")
	c.fails("<discard-changes/>", "in-use")
	c.fails("<commit/>", "in-use")
	if _, locked := b.server.Holder("candidate"); !locked {
		t.Error("nobody holds the candidate")
	}
	d.conn.Close() // takes its lock and its changes along
	eventually(t, func() bool { _, locked := b.server.Holder("candidate"); return !locked })
	eventually(t, func() bool { _, modified := b.fake.Candidate(); return !modified })
	c.ok(lock("lock", "candidate"))
	c.ok(lock("lock", "startup"))
	c.ok(editing("candidate", server("e")))
	c.ok(lock("unlock", "candidate"))
	if _, modified := b.fake.Candidate(); modified {
		t.Error("unlock keeps the changes")
	}
	c.fails(lock("lock", "elsewhere"), "operation-not-supported")
}

func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come about")
		}
	}
}

func TestConfirmedCommit(t *testing.T) {
	b := newBench(t)
	c, d := b.login("nsroot"), b.login("oper")
	is := func(want string) {
		t.Helper()
		eventually(t, func() bool { return names(b.fake.Running()) == want })
	}
	c.ok(editing("candidate", server("a")))
	c.ok("<commit><confirmed/></commit>")
	d.fails("<commit/>", "in-use", "session 1")
	d.fails("<lock><target><running/></target></lock>", "lock-denied", "<session-id>1</session-id>")
	c.ok("<commit/>")
	is("a")
	c.ok(editing("candidate", server("b")))
	c.ok("<commit><confirmed/><confirm-timeout>1</confirm-timeout></commit>")
	is("a") // nobody has confirmed
	c.ok(editing("candidate", server("b")))
	c.ok("<commit><confirmed/><persist>p&amp;q</persist></commit>")
	c.fails("<commit/>", "in-use")
	d.fails("<commit><persist-id>other</persist-id></commit>", "invalid-value")
	d.ok("<commit><persist-id>p&amp;q</persist-id></commit>")
	is("a b")
	d.fails("<commit><persist-id>p&amp;q</persist-id></commit>", "invalid-value")
	c.ok(editing("candidate", server("c")))
	c.ok("<commit><confirmed/><persist>x</persist></commit>")
	c.conn.Close()
	time.Sleep(20 * time.Millisecond) // it would be too late, not too early
	is("a b c")
	d.fails("<cancel-commit/>", "in-use")
	d.ok("<cancel-commit><persist-id>x</persist-id></cancel-commit>")
	is("a b")
	d.fails("<cancel-commit/>", "operation-failed")
	d.ok(editing("candidate", server("c")))
	d.ok("<commit><confirmed/></commit>")
	is("a b c")
	d.ok("<commit><confirmed/><confirm-timeout>1000</confirm-timeout></commit>") // begins its time anew
	d.ok("<close-session/>")
	is("a b") // only that session could have confirmed
	e := b.login("nsroot")
	for _, x := range []string{"<confirm-timeout>0</confirm-timeout>", "<confirm-timeout>x</confirm-timeout>", "<persist/>", "<confirm-timeout>99999999999</confirm-timeout>"} {
		e.fails("<commit><confirmed/>"+x+"</commit>", "invalid-value")
	}
	e.fails("<commit><persist>x</persist></commit>", "bad-element")
}

func TestKillSession(t *testing.T) {
	b := newBench(t)
	c, d := b.login("nsroot"), b.login("oper")
	d.ok("<lock><target><running/></target></lock>")
	for _, x := range []string{"<session-id>1</session-id>", "<session-id>77</session-id>", "<session-id>x</session-id>", "<session-id>4294967298</session-id>"} {
		c.fails("<kill-session>"+x+"</kill-session>", "invalid-value")
	}
	c.fails("<kill-session/>", "missing-element")
	c.ok("<kill-session><session-id>2</session-id></kill-session>")
	if _, err := d.conn.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("%v", err)
	}
	eventually(t, func() bool { _, locked := b.server.Holder("running"); return !locked })
}

// Everything asks whether who works may.
func TestPolicies(t *testing.T) {
	b := newBench(t)
	b.fake.may = func(user, command string) error {
		if user == "reader" && !strings.HasPrefix(command, "show ") || user == "half" && command != "show vlan" {
			return schema.Refuse(schema.NotPermitted, strings.Fields(command)[0])
		}
		return nil
	}
	root, c := b.login("nsroot"), b.login("reader")
	root.ok(editing("candidate", server("a")))
	state := `<get><filter><netconf-state xmlns="` + monitoringNS + `"/></filter></get>`
	for who, want := range map[*client]int{root: 2, c: 2, b.login("half"): 1} {
		if got := strings.Count(who.ask(state), "<username>"); got < want || want == 1 && got > 1 {
			t.Errorf("session %d hears of %d sessions", who.id, got)
		}
	}
	for user, shown := range map[string]bool{"reader": true, "half": false} {
		b.fake.mu.Lock()
		hidden := schema.New()
		schema.Put(hidden, &schema.Server{Name: "q", State: "ENABLED"})
		b.fake.running = hidden
		b.fake.mu.Unlock()
		if got := b.login(user).ask("<get/>"); strings.Contains(got, "<server>") != shown {
			t.Errorf("%s: %s", user, got)
		}
	}
	b.fake.running = schema.New()
	for _, x := range []string{editing("running", server("x")), editing("candidate", server("x")), "<commit/>", "<commit><confirmed/></commit>", "<discard-changes/>",
		"<copy-config><source><running/></source><target><startup/></target></copy-config>", "<copy-config><source><startup/></source><target><running/></target></copy-config>",
		"<delete-config><target><startup/></target></delete-config>", "<lock><target><running/></target></lock>", "<kill-session><session-id>1</session-id></kill-session>",
		"<validate><source><candidate/></source></validate>", editing("running", server("x"), "<test-option>test-only</test-option>")} {
		if strings.Contains(x, "<source><startup/>") {
			root.ok("<copy-config><source><candidate/></source><target><startup/></target></copy-config>")
		}
		c.fails(x, "access-denied")
	}
	root.ok("<commit><confirmed/></commit>")
	c.fails("<cancel-commit/>", "in-use")
	root.ok("<commit/>")
	if names(b.fake.Running()) != "a" || names(b.fake.startup) != "a" {
		t.Errorf("%q %q", names(b.fake.Running()), names(b.fake.startup))
	}
}
