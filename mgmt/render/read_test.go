package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

// doc is a startup file with these lines as its rows; the first one is line 4.
func doc(rows ...string) string {
	return "<?xml version=\"1.0\"?>\n<config xmlns=\"" + baseNS + "\">\n<sluice xmlns=\"" + ownNS + "\">\n" +
		strings.Join(rows, "\n") + "\n</sluice>\n</config>\n"
}

const web = `<server><name>%s</name><ip-address>10.2.0.11</ip-address></server>`

func server(name string) string { return fmt.Sprintf(web, name) }

// names are the servers of c.
func names(c *schema.Config) string {
	var out []string
	for _, s := range schema.All[schema.Server](c) {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func TestBrokenFileKeepsTheRest(t *testing.T) {
	for name, x := range map[string]struct {
		file  string
		names string   // servers in force
		want  []string // problems, each the beginning of one
		held  int
	}{
		"bad enum": {doc(server("a"), "<server><name>b</name><ip-address>10.2.0.12</ip-address>\n<state>SLEEPY</state></server>", server("c")), "a c",
			[]string{"line 6: server b: Invalid value [state, SLEEPY]"}, 1},
		"bad address": {doc("<server><name>b</name><ip-address>10.2.0.256</ip-address></server>"), "",
			[]string{"line 4: server b: Invalid IP address [IPAddress, 10.2.0.256]"}, 1},
		"two faults in one row": {doc("<service><name>s</name>\n<server>a</server>\n<service-type>FTP9</service-type>\n<port>70000</port></service>", server("a")), "a",
			[]string{"line 6: service s: Invalid value [serviceType, FTP9]"}, 1},
		"unknown element": {doc("<server><name>b</name><ip-address>10.2.0.12</ip-address><colour>red</colour></server>", server("a")), "a",
			[]string{"line 4: server b: unknown element <colour>"}, 1},
		"unknown container in a row": {doc("<server><name>b</name><ip-address>10.2.0.12</ip-address><x><y/></x></server>", server("a")), "a",
			[]string{"line 4: server b: unknown element <y> in <x>"}, 1},
		"unknown row": {doc(server("a"), "<dns-zone><name>x</name><ttl>5</ttl></dns-zone>", server("b")), "a b",
			[]string{"line 5: dns-zone: unknown element <dns-zone>"}, 1},
		"other module": {strings.Replace(doc(server("a")), "</config>", `<interfaces xmlns="urn:ietf:x"><interface/></interfaces></config>`, 1), "a",
			[]string{"line 6: interfaces: unknown element <interfaces>"}, 1},
		"not in this version": {doc("<lb-vserver><name>v</name><service-type>SSL</service-type></lb-vserver>"), "",
			[]string{"line 4: lb vserver v: Feature not supported in this release [serviceType, SSL]"}, 1},
		"a single row is wrong": {doc(server("a"), "<lb-parameter><startup-rr-factor>x</startup-rr-factor></lb-parameter>"), "a",
			[]string{"line 5: lb parameter: Expected a positive integer argument [startupRRFactor, x]"}, 1},
		"a single row twice": {doc("<lb-parameter><startup-rr-factor>1</startup-rr-factor></lb-parameter>", "<lb-parameter><startup-rr-factor>2</startup-rr-factor></lb-parameter>", server("a")), "a",
			[]string{"line 5: lb parameter: Resource already exists"}, 0},
		"missing key":      {doc("<server><ip-address>10.2.0.12</ip-address></server>", server("a")), "a", []string{"line 4: server: Required argument missing [name]"}, 1},
		"empty key":        {doc("<server><name/><ip-address>10.2.0.12</ip-address></server>"), "", []string{"line 4: server: "}, 1},
		"missing required": {doc("<lb-monitor><name>b</name></lb-monitor>"), "", []string{"line 4: lb monitor b: Required argument missing [type]"}, 1},
		"leaf twice":       {doc("<server><name>b</name><name>c</name><ip-address>10.2.0.12</ip-address></server>"), "", []string{"line 4: server b: <name> is given twice"}, 1},
		"attribute":        {doc(`<server operation="delete"><name>b</name><ip-address>10.2.0.12</ip-address></server>`), "", []string{"line 4: server b: unknown attribute operation"}, 1},
		"text in a row":    {doc("<server>x<name>b</name><ip-address>10.2.0.12</ip-address></server>"), "", []string{"line 4: server b: there is text between"}, 1},
		"text among rows":  {doc(server("a"), "hello", server("b")), "a b", []string{"line 5: there is text where only elements belong"}, 0},
		"duplicate":        {doc(server("a"), server("a"), server("b")), "a b", []string{"line 5: server a: Resource already exists [a]; the first one is in force"}, 0},
		"dangling, and what depends on it": {doc("<service><name>s</name><server>nowhere</server><service-type>TCP</service-type><port>80</port></service>",
			"<service-monitor><service>s</service><monitor>tcp-default</monitor></service-monitor>", server("a")), "a",
			[]string{"line 4: service s: No such resource [serverName, nowhere]", "line 5: service s tcp-default: No such resource [name, s]"}, 2},
		"cut off in a row":       {cut(doc(server("a"), server("b")), "10.2.0.11</ip-address></server>\n</sluice>"), "a", []string{"line 5: server b: the file is cut off"}, 0},
		"cut off between rows":   {cut(doc(server("a"), server("b")), "</sluice>"), "a b", []string{"line 6: the file is cut off here"}, 0},
		"cut off behind a row":   {strings.TrimSuffix(doc(server("a")), "\n</sluice>\n</config>\n"), "a", []string{"line 4: the file is cut off before </sluice>"}, 0},
		"cut off in a tag":       {cut(doc(server("a"), server("b")), "name>b"), "a", []string{"line 5: server: the file is cut off here"}, 0},
		"mismatched end":         {doc(server("a"), "<server><name>b</nme><ip-address>10.2.0.12</ip-address></server>", server("c")), "a c", []string{"line 5: server b: </nme> comes before the end of <name>"}, 0},
		"row not ended":          {doc(server("a"), "<server><name>b</name>", server("c")), "a c", []string{"line 6: server b: another row begins here"}, 0},
		"leaf not ended":         {doc("<server><name>b", server("c")), "c", []string{"line 5: server b: another row begins here"}, 0},
		"stray angle":            {doc(server("a"), "<< ", server("b")), "a b", []string{"line 5: the XML is broken here"}, 0},
		"broken, then a unknown": {doc("<server><name>b</name><&></server>", "<dns-zone/>", server("c")), "c", []string{"line 4: server b: the XML is broken", "line 5: dns-zone: unknown element"}, 1},
		"bad entity":             {doc("<server><name>&evil;</name></server>", server("a")), "a", []string{"line 4: server: the XML is broken here: invalid character entity &evil;"}, 0},
		"not UTF-8":              {doc("<server><name>\xff</name></server>", server("a")), "a", []string{"line 4: server: the XML is broken here: invalid UTF-8"}, 0},
		"end of nothing":         {doc(server("a"), "</server>", server("b")), "a b", []string{"line 5: </server> ends nothing"}, 0},
		"broken head":            {strings.Replace(doc(server("a"), server("b")), "<config xmlns=", "<config xmlns", 1), "a b", []string{"line 2: the XML is broken"}, 0},
		"no head":                {server("a") + "\n<lb-vserver>", "", []string{"line 1: <server> stands where <config> belongs", "line 2: the file is cut off before </lb-vserver>"}, 0},
		"DTD":                    {strings.Replace(doc(server("a")), "?>\n", "?>\n<!DOCTYPE config [<!ENTITY x \"y\"> ]>\n", 1), "a", []string{"line 2: a document type declaration is refused"}, 0},
		"DTD in a row":           {doc("<server><name>b</name><!DOCTYPE x></server>", server("a")), "a", []string{"line 4: server b: a document type declaration is refused"}, 0},
		"deep":                   {doc(server("a"), strings.Repeat("<x>", 100)+strings.Repeat("</x>", 100), server("b")), "a b", []string{"line 5: elements are nested deeper than 64"}, 0},
		"long leaf":              {doc("<server><name>b</name><comment>"+strings.Repeat("x", maxLeaf+1)+"</comment></server>", server("a")), "a", []string{"line 4: server b: <comment> is longer than 65536 bytes"}, 1},
		"empty":                  {"", "", []string{"line 1: the file is empty"}, 0},
		"blank":                  {" \n\t\n", "", []string{"line 1: the file is empty"}, 0},
		"zeros":                  {strings.Repeat("\x00", 4096), "", []string{"line 1: "}, 0},
		"something else":         {"<html><body>404</body></html>", "", []string{"line 1: <html> stands where <config> belongs"}, 0},
		"no XML":                 {"add server web1 10.0.0.1\n", "", []string{"line 1: there is text", "line 1: the file holds no <config>"}, 0},
		"foreign namespace":      {strings.Replace(doc(server("a")), ownNS, "urn:other", 1), "", []string{"line 3: sluice: unknown element <sluice>"}, 1},
		"bad comment sleeps on":  {doc("<!-- old -- old "+server("x")+" -->", server("a")), "a", []string{"line 4: the XML is broken"}, 0},
		"comment after a fault":  {doc("<server><nme></server>", "<!--", server("x"), "-->", server("a")), "a", []string{"line 4: server: </server> comes before"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := ReadXML([]byte(x.file), Options{})
			var got []string
			for _, p := range r.Problems {
				got = append(got, p.String())
			}
			if len(got) < len(x.want) || !slices.EqualFunc(x.want, got[:len(x.want)], func(w, g string) bool { return strings.HasPrefix(g, w) }) || len(got) > len(x.want)+1 {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(x.want, "\n"))
			}
			if got := names(r.Config); got != x.names {
				t.Errorf("servers %q, want %q", got, x.names)
			}
			if len(r.Held) != x.held {
				t.Errorf("%d held, want %d", len(r.Held), x.held)
			}
			if !r.Torn {
				t.Error("the file would not be put aside before it is overwritten")
			}
		})
	}
}

// cut is the text up to the place where the last mark begins.
func cut(s, mark string) string { return s[:strings.LastIndex(s, mark)+4] }

func TestGoodFilesInOtherForms(t *testing.T) {
	for name, file := range map[string]string{
		"prefixes":                     `<nc:config xmlns:nc="` + baseNS + `" xmlns:s="` + ownNS + `"><s:sluice><s:server><s:name>a</s:name><s:ip-address>10.2.0.11</s:ip-address></s:server></s:sluice></nc:config>`,
		"no namespaces":                `<config><sluice>` + server("a") + `</sluice></config>`,
		"no config":                    `<sluice xmlns="` + ownNS + `">` + server("a") + `</sluice>`,
		"key last":                     `<sluice><server><ip-address> 10.2.0.11 </ip-address><name>a</name></server></sluice>`,
		"byte order mark and comments": "\ufeff" + doc("<!-- x -->", "<server><!-- y --><name>a</name><ip-address><![CDATA[10.2.0.11]]></ip-address></server>"),
		"CRLF":                         strings.ReplaceAll(doc(server("a")), "\n", "\r\n"),
	} {
		r := ReadXML([]byte(file), Options{})
		if len(r.Problems) > 0 || r.Torn || names(r.Config) != "a" {
			t.Errorf("%s: %v, servers %q, torn %v", name, r.Problems, names(r.Config), r.Torn)
		}
	}
}

func TestEveryTruncationKeepsWholeRows(t *testing.T) {
	var rows []string
	for _, n := range strings.Split("abcdef", "") {
		rows = append(rows, server(n))
	}
	file := doc(rows...)
	for n := range file {
		r := ReadXML([]byte(file[:n]), Options{})
		if want := strings.Count(file[:n], "</server>"); len(schema.All[schema.Server](r.Config)) != want {
			t.Fatalf("%d bytes hold %d whole rows, %d are in force", n, want, len(schema.All[schema.Server](r.Config)))
		}
		if n < len(file)-1 && len(r.Problems) == 0 {
			t.Fatalf("%d bytes of %d: nothing is reported", n, len(file))
		}
	}
}

func TestCheckHoldsBackSingleRows(t *testing.T) {
	var rows []string
	for i := range 200 {
		rows = append(rows, server(fmt.Sprint("w", i)))
	}
	bad := map[string]bool{"w3": true, "w77": true, "w199": true}
	check := func(c *schema.Config) error {
		for _, s := range schema.All[schema.Server](c) {
			if bad[s.Name] {
				return errors.New("Operation not permitted [" + s.Name + "]")
			}
			if s.Name == "w5" && schema.Get[schema.Server](c, "w6") == nil { // needs one that comes later
				return errors.New("w5 needs w6")
			}
		}
		return nil
	}
	r := ReadXML([]byte(doc(rows...)), Options{Check: check})
	if len(schema.All[schema.Server](r.Config)) != 197 || len(r.Held) != 3 || len(r.Problems) != 3 {
		t.Fatalf("%d in force, %d held\n%v", len(schema.All[schema.Server](r.Config)), len(r.Held), r.Problems)
	}
	if got, want := r.Problems[1].String(), "line 81: server w77: Operation not permitted [w77] (not in force, kept in the file)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if check(r.Config) != nil {
		t.Error("what is in force does not pass the check")
	}
}

// Hostile files are read in bounded time: each of these makes every attempt after a fault run to the end.
func TestHostileFilesAreReadInBoundedTime(t *testing.T) {
	const n = 1 << 20
	for name, unit := range map[string]string{
		"unclosed unknown": "<foo><server><name>", "unclosed leaf": "<server><x>", "angles": "<<", "comments": "<!-- -- ",
		"unknown and broken": "<x><&></x>", "nested": "<a>", "ends": "</a>", "rows": "<server><name>a</name></server>",
	} {
		start := time.Now()
		r := ReadXML([]byte(strings.Repeat(unit, n/len(unit))), Options{Check: func(*schema.Config) error { return nil }})
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v for 1 MiB", name, took)
		}
		if len(r.Problems) == 0 || len(r.Problems) > maxProblems+1 {
			t.Errorf("%s: %d problems", name, len(r.Problems))
		}
	}
}

// TestBuiltinRolesAreReferredTo: the built-in command policies are no rows, so files that bind them hold together without any.
func TestBuiltinRolesAreReferredTo(t *testing.T) {
	user := "<system-user><name>u</name></system-user><system-group><name>g</name></system-group>"
	for _, p := range schema.BuiltinCmdPolicies {
		d := Read([]byte(doc(user,
			"<system-user-policy><user>u</user><policy>"+p.Name+"</policy><priority>1</priority></system-user-policy>",
			"<system-group-policy><group>g</group><policy>"+p.Name+"</policy><priority>1</priority></system-group-policy>")), Options{})
		if err := d.Refusal(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		if n := len(schema.All[schema.SystemUserPolicy](d.Config)) + len(schema.All[schema.SystemGroupPolicy](d.Config)); n != 2 {
			t.Errorf("%s: %d of 2 bindings are read", p.Name, n)
		}
	}
	d := Read([]byte(doc(user, "<system-user-policy><user>u</user><policy>nobody</policy><priority>1</priority></system-user-policy>")), Options{})
	if d.Refusal() == nil {
		t.Error("a policy that there is not is taken")
	}
}
