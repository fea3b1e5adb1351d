package render

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

const oneServer = `{"name": "a", "ip-address": "10.2.0.11"}`

// hostile are texts in JSON and YAML that must come to nothing, by what is said about them.
var hostile = map[string]string{
	"line 1: the text holds no member":                      `{}`,
	"line 1: the JSON is cut off":                           `{"sluice:sluice": {"server": [` + oneServer,
	"line 2: the JSON is broken here":                       "{\"sluice:sluice\":\n {\"server\": [" + oneServer + "}}}",
	"line 1: there is text behind the end":                  `{"sluice:sluice": {}} {}`,
	"line 1: unknown member \"other\"":                      `{"other": {"x": [1, {"y": 2}]}}`,
	"line 1: zone: unknown member \"zone\"":                 `{"sluice:sluice": {"zone": [{"name": "x"}]}}`,
	"line 1: server is an array":                            `{"sluice:sluice": {"server": ` + oneServer + `}}`,
	"line 1: a row of server is an object":                  `{"sluice:sluice": {"server": [1]}}`,
	"line 1: server 5: \"name\" is a string, not a number":  `{"sluice:sluice": {"server": [{"name": 5, "ip-address": "10.0.0.1"}]}}`,
	"line 1: server a: \"comment\" is a string or a number": `{"sluice:sluice": {"server": [{"name": "a", "comment": null}]}}`,
	"line 1: server a: \"comment\" is a single value":       `{"sluice:sluice": {"server": [{"name": "a", "comment": ["x"]}]}}`,
	"line 1: the member \"name\" is there twice":            `{"sluice:sluice": {"server": [{"name": "a", "name": "b"}]}}`,
	"line 1: the member \"server\" is there twice":          `{"sluice:sluice": {"server": [], "server": []}}`,
	"line 1: server a: unknown element <colour>":            `{"sluice:sluice": {"server": [{"name": "a", "colour": "red"}]}}`,
	"line 1: server a: Invalid IP address":                  `{"sluice:sluice": {"server": [{"name": "a", "ip-address": "10.0.0.256"}]}}`,
	"line 1: the text is not UTF-8 here":                    "{\"sluice:sluice\": {\"server\": [{\"name\": \"\xff\"}]}}",
	"line 1: values are nested deeper than 64":              `{"sluice:sluice": {"zone": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`,
	"line 1: values are nested deeper":                      `{"sluice:sluice": {"zone": ` + strings.Repeat(`{"a":`, 200000),
	"line 1: the text holds no key":                         "~\n",
	"line 1: unknown key \"other\"":                         "other: {}\n",
	"line 3: an anchor is refused":                          "sluice:sluice:\n  server:\n    - &a {name: a}\n",
	"line 2: an anchor is refused":                          "sluice:sluice:\n  server: &x\n    - {name: a, ip-address: 10.0.0.1}\n  service: *x\n",
	"line 2: an alias is refused":                           "x: &a {}\nsluice:sluice: *a\n",
	"line 1: an anchor is refused":                          "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n",
	"line 4: a tag is refused":                              "sluice:sluice:\n  server:\n    - name: a\n      comment: !!binary eA==\n",
	"line 3: a tag is refused":                              "sluice:sluice:\n  server:\n    - !!python/object:os.system {name: a}\n",
	"line 4: the key \"name\" is there twice":               "sluice:sluice:\n  server:\n    - name: a\n      name: b\n",
	"line 2: server is a list of rows":                      "sluice:sluice:\n  server: x\n",
	"line 3: server a: \"comment\" is a single value":       "sluice:sluice:\n  server:\n    - {name: a, comment: [x], ip-address: 10.0.0.1}\n",
	"line 2: the YAML is broken here: a text holds one":     "sluice:sluice: {}\n---\nsluice:sluice: {}\n",
	"line 2: the YAML is broken here":                       "sluice:sluice:\n\tserver: []\n",
	"line 1: the YAML is broken here: exceeded max depth":   strings.Repeat("[", 200000),
	"line 1: the YAML has too many parts":                   strings.Repeat("[", 2000000),
	"line 1: the YAML has too many parts in":                strings.Repeat("- a\u0085", 1600000),
	"line 1: the text is not UTF-8":                         "sluice:sluice: \xff\n",
	"line 1: the file is empty":                             "# nothing\n",
	"line 4: server a: \"<<\" is a single value":            "sluice:sluice:\n  server:\n    - name: a\n      <<: {ip-address: 10.0.0.1}\n",
}

func TestHostileJSONAndYAML(t *testing.T) {
	for want, text := range hostile {
		began := time.Now()
		d := Read([]byte(text), Options{})
		if !slices.ContainsFunc(d.Problems, func(p Problem) bool { return strings.HasPrefix(p.String(), want) }) {
			t.Errorf("%.60q: %v, want %s", text, d.Problems, want)
		}
		if d.Refusal() == nil || !d.Torn {
			t.Errorf("%.60q is no refusal", text)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%.60q takes %v", text, took)
		}
	}
}

// What is valid by YAML's rules and means something else than it says is taken as it is written.
func TestYAMLIsTakenAsWritten(t *testing.T) {
	d := ReadYAML([]byte("sluice:sluice:\n  server:\n  - name: 010\n    ip-address: 10.0.0.1\n    comment: yes\n  - name: 1.10\n    ip-address: 10.0.0.2\n"+
		"    comment: ~\n    graceful: \"NO\"\n  - {name: 0x1F, ip-address: 10.0.0.3, comment: 2001-01-01, grace-ful: YES}\n"), Options{})
	if len(d.Problems) != 1 || d.Problems[0].String() != "line 9: server 1.10: unknown element <graceful>" {
		t.Errorf("%v", d.Problems)
	}
	var got []string
	for _, s := range schema.All[schema.Server](d.Config) {
		got = append(got, s.Name+" "+s.Comment+" "+s.GraceFul)
	}
	if want := "010 yes NO, 0x1F 2001-01-01 YES"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

func TestMergeKeepsWhatIsNotGiven(t *testing.T) {
	base := ReadJSON([]byte(`{"sluice:sluice": {"server": [{"name": "a", "ip-address": "10.0.0.1", "comment": "old"}, {"name": "b", "ip-address": "10.0.0.2"}],
		"service": [{"name": "s", "server": "a", "service-type": "TCP", "port": 80, "clt-timeout": 7}]}}`), Options{})
	if err := base.Refusal(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"JSON": `{"sluice:sluice": {"server": [{"name": "a", "comment": "new"}, {"name": "c", "ip-address": "10.0.0.3"}], "service": [{"name": "s", "usip": "YES"}]}}`,
		"YAML": "sluice:\n server:\n - name: a\n   comment: new\n - name: c\n   ip-address: 10.0.0.3\n service:\n - {name: s, usip: YES}\n",
		"XML": `<sluice><server><name>a</name><comment>new</comment></server><server><name>c</name><ip-address>10.0.0.3</ip-address></server>
			<service><name>s</name><usip>YES</usip></service></sluice>`,
	} {
		d := Read([]byte(text), Options{Base: base.Config})
		if err := d.Refusal(); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		a, s := schema.Get[schema.Server](d.Config, "a"), schema.Get[schema.Service](d.Config, "s")
		if names(d.Config) != "a b c" || a.Comment != "new" || a.IPAddress.String() != "10.0.0.1" || s.USIP != "YES" || s.CltTimeout != 7 || s.ServiceType != "TCP" {
			t.Errorf("%s: %s %+v %+v", name, names(d.Config), a, s)
		}
		if names(base.Config) != "a b" || schema.Get[schema.Server](base.Config, "a").Comment != "old" {
			t.Errorf("%s: the base is changed", name)
		}
	}
	for text, want := range map[string]string{
		`{"sluice:sluice": {"service": [{"name": "s", "server": "x"}]}}`: "line 1: service s: No such resource [serverName, x]",
		`{"sluice:sluice": {"service": [{"name": "t"}]}}`:                "line 1: service t: Required argument missing [serverName, serviceType, port]",
		`{"sluice:sluice": {"service": []}}`:                             "<nil>",
	} {
		d := Read([]byte(text), Options{Base: base.Config})
		if got := fmt.Sprint(d.Refusal()); got != want {
			t.Errorf("%v, want %s", got, want)
		}
		if !d.Config.Equal(base.Config) {
			t.Errorf("%s: the base is changed", text)
		}
	}
}

// A text cannot make the reader hold much more than it says.
func TestRowsAreCounted(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"sluice:sluice": {"server": [`)
	for i := range 110 {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"name":"%d"}`, i)
	}
	b.WriteString("]}}")
	d := ReadJSON([]byte(b.String()), Options{most: 100})
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Reason, "more than 100 rows") || d.Config.Len(schema.Of[schema.Server]()) != 100 {
		t.Errorf("%v", d.Problems)
	}
	runtime.GC() // what follows has the room again
	if d := Read(make([]byte, MaxText+1), Options{}); d.Refusal() == nil {
		t.Error("a text that is too long is read")
	}
}

func TestSecretsAreHidden(t *testing.T) {
	c := schema.New()
	m := schema.Of[schema.LBMonitor]().Fresh().(*schema.LBMonitor)
	m.Name, m.Type, m.Password, m.RadKey, m.RespCode = "m", "RADIUS", "geheim", "key<>", "2"
	schema.Put(c, m)
	schema.Put(c, &schema.SNMPCommunity{CommunityName: "geheim1", Permissions: "GET"})
	schema.Put(c, &schema.SNMPCommunity{CommunityName: "geheim2", Permissions: "ALL"})
	schema.Put(c, &schema.NSLine{Number: 3, Text: "set x y -password geheim"})
	for _, form := range forms {
		text, err := form.write(Discreet(c))
		if err != nil || strings.Contains(string(text), "geheim") || strings.Count(string(text), schema.Hidden) != 5 {
			t.Errorf("%s: %v\n%s", form.name, err, text)
		}
		if d := form.read(text, Options{}); d.Refusal() == nil || !strings.Contains(d.Refusal().Error(), "give the secret itself") {
			t.Errorf("%s: a hidden secret is taken for one: %v", form.name, d.Problems)
		}
		for _, opt := range []Options{{Base: c}, {Secrets: c}} {
			if d := form.read(text, opt); d.Refusal() != nil || !d.Config.Equal(c) {
				t.Errorf("%s: what was shown of a configuration is not what it was: %v", form.name, d.Problems)
			}
		}
	}
	if schema.All[schema.LBMonitor](c)[0].Password != "geheim" {
		t.Error("the secret itself is gone")
	}
}
