package schema

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestObjectsAreComplete(t *testing.T) {
	names := map[string]bool{}
	for _, o := range Objects() {
		if o.Help == "" || strings.HasSuffix(o.Help, ".") {
			t.Errorf("%s: help %q", o.YANG, o.Help)
		}
		if names[o.YANG] {
			t.Errorf("%s is there twice", o.YANG)
		}
		names[o.YANG] = true
		for _, f := range o.Fields {
			if f.Help == "" || strings.HasSuffix(f.Help, ".") {
				t.Errorf("%s %s: help %q", o.YANG, f.CLI, f.Help)
			}
		}
		if o.Rows && !o.Stored && !slices.Contains(fileOrder, o.YANG) {
			t.Errorf("%s has no place in the file", o.YANG)
		}
	}
	for _, n := range fileOrder {
		if !names[n] {
			t.Errorf("%s has a place in the file and does not exist", n)
		}
	}
}

// TestRowsComeAfterWhatTheyReferTo: a file is read from the top.
func TestRowsComeAfterWhatTheyReferTo(t *testing.T) {
	seen := map[*Object]bool{}
	for _, o := range Objects() {
		for _, f := range o.Fields {
			for _, target := range f.Targets() {
				if !o.Stored && target.Stored {
					t.Errorf("%s is built and refers to %s, which is only stored", o.YANG, target.YANG)
				}
				// Rows of one object that refer to each other are sorted by who writes them.
				if f.Ref != "lb monitor" && target != o && !seen[target] {
					t.Errorf("%s refers to %s, which is written later", o.YANG, target.YANG)
				}
			}
		}
		seen[o] = true
	}
}

// rowsOf is an object with rows of the type.
func rowsOf(typ any) *Object {
	return &Object{Words: []string{"x"}, YANG: "x", Verbs: []string{"add"}, Help: "X", Rows: true, Type: reflect.TypeOf(typ)}
}

// tagFaults are objects and what is wrong with their tags.
var tagFaults = []struct {
	object *Object
	want   string
}{
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
	}{}), ""},
	{rowsOf(struct {
		A string `cli:"a" key:"1"`
	}{}), "field A: tags cli and help must be given"},
	{rowsOf(struct {
		A string `key:"1" help:"A"`
	}{}), "field A: tags cli and help must be given"},
	{rowsOf(struct {
		A string `cli:"a" help:"A"`
	}{}), "rows need a key"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" hlep:"A" help:"A"`
	}{}), "field A: unknown tag hlep"},
	{rowsOf(struct {
		A string `cli:"a" key:"2" help:"A"`
	}{}), "keys are not numbered 1, 2, 3"},
	{rowsOf(struct {
		A string `cli:"a" key:"one" help:"A"`
	}{}), "field A: tag key is no number"},
	{rowsOf(struct {
		A int `cli:"a" key:"1" help:"A"`
	}{}), "field A: type int is not string, unsigned integer or netip.Addr"},
	{rowsOf(struct {
		A uint8 `cli:"a" key:"1" min:"9" max:"3" help:"A"`
	}{}), "field A: min is greater than max, or given to a type without numbers"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B string `cli:"b" enum:"X,Y" def:"Z" help:"B"`
	}{}), "field B: default Z: Invalid value [b, Z]: it is one of X Y"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B uint8  `cli:"b" max:"5" def:"6" help:"B"`
	}{}), "field B: default 6: Argument value out of range [b, 0, 5]: 6 was given"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B uint8  `cli:"b" defby:"a X=300" help:"B"`
	}{}), "field B: default 300: Argument value out of range [b, 0, 255]: 300 was given"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B uint8  `cli:"b" defby:"c X=3" help:"B"`
	}{}), "field b speaks of c, which does not exist"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B string `cli:"b" enum:"X" alias:"Y=Z" help:"B"`
	}{}), "field B: alias: Invalid value [b, Z]: it is one of X"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B string `cli:"b" only:"show" help:"B"`
	}{}), "field b is for the verb show, which the object does not take"},
	{rowsOf(struct {
		A string `cli:"ab" key:"1" help:"A"`
		B string `cli:"AB" help:"B"`
	}{}), "field B: argument is there twice"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" syntax:"poem" help:"A"`
	}{}), "field A: unknown syntax poem"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B string `cli:"b" pos:"1" help:"B"`
	}{}), "positional b stands among the keys"},
	{rowsOf(struct {
		A string `cli:"a" key:"1" help:"A"`
		B uint8  `cli:"b" enum:"X" help:"B"`
	}{}), "field B: enum is given to a type other than string"},
	{&Object{Words: []string{"x"}, Type: reflect.TypeFor[struct{}]()}, "words, YANG name, verbs and help must be given"},
}

// TestExamplesAreTaken: what is shown as an example is right.
func TestExamplesAreTaken(t *testing.T) {
	for name := range syntaxes {
		if examples[name] == "" {
			t.Errorf("syntax %s has no example", name)
		}
	}
	for _, o := range Objects() {
		for _, f := range o.Fields {
			if err := f.Set(reflect.New(o.Type).Elem(), f.Example()); err != nil {
				t.Errorf("%s %s %q: %v", o.YANG, f.CLI, f.Example(), err)
			}
		}
	}
}

func TestWrongTagsAreFound(t *testing.T) {
	for _, row := range tagFaults {

		if got := describe(row.object); got != row.want {
			t.Errorf("%v: %q, want %q", row.object.Type, got, row.want)
		}
	}
}

func TestSplitTag(t *testing.T) {
	for tag, want := range map[string]string{
		`cli:"a" help:"A"`:         "",
		`cli:"a" help:"A" cli:"b"`: "tag cli is there twice",
		`cli:"a" help:A`:           "malformed tags at help:A",
		`cli:"a" help`:             "malformed tags at help",
		`cli:"a" hlep:"A"`:         "unknown tag hlep",
	} {
		if _, got := splitTag(tag); got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
}

func TestRegisterPanicsOnWrongTags(t *testing.T) {
	defer func() {
		if s, ok := recover().(string); !ok || s != "schema: object bad-one: rows need a key" {
			t.Errorf("panic %q", s)
		}
		if Find("bad-one") != nil {
			t.Error("the object was registered")
		}
	}()
	register[struct{}]("bad one", "bad-one", "add", "Bad", true)
}

// TestTextSetRoundTrip: what a field holds is written so that it is read the same.
func TestTextSetRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, o := range Objects() {
		for _, f := range o.Fields {
			for range 50 {
				a, b := reflect.New(o.Type).Elem(), reflect.New(o.Type).Elem()
				switch {
				case len(f.Enum) > 0:
					a.Field(f.Index).SetString(f.Enum[r.IntN(len(f.Enum))])
				case f.Type == addrType:
					a.Field(f.Index).Set(reflect.ValueOf(netip.AddrFrom4([4]byte{byte(r.Uint32()), byte(r.Uint32()), 3, 4})))
				case canonicals[f.Syntax] != nil:
					a.Field(f.Index).SetString(f.Example())
				case f.Syntax != "":
					a.Field(f.Index).SetString(map[string]string{"name": "a b:1", "codes": "200 300-302", "request": "GET /x", "ifnum": "10/2", "protocol": "47", "account": "ab.c@d", "archive": "b_1", "attribute": "cn",
						"publickey": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEm+Uhp3Xz1Dq6hVhK1vDr6MZbVQdRYs0Qe8hH0Jr0bA a b"}[f.Syntax])
				case f.Type.Kind() == reflect.String:
					a.Field(f.Index).SetString("täxt \"q\" 'p' \\")
				default:
					lo, hi := f.Bounds()
					a.Field(f.Index).SetUint(lo + r.Uint64N(hi-lo+1))
				}
				if err := f.Set(b, f.Text(a)); err != nil || !reflect.DeepEqual(a.Interface(), b.Interface()) {
					t.Fatalf("%s %s: %q is read as %q, %v", o.YANG, f.CLI, f.Text(a), f.Text(b), err)
				}
			}
		}
	}
}

func TestSet(t *testing.T) {
	vserver, monitor, ip := Of[LBVserver](), Of[LBMonitor](), Of[NSIP]()
	for _, row := range []struct {
		object     *Object
		field, set string
		text, err  string
	}{
		{vserver, "lbMethod", "roundrobin", "ROUNDROBIN", ""},
		{vserver, "lbMethod", "URLHASH", "", "Feature not supported in this release [lbMethod, URLHASH]"},
		{vserver, "lbMethod", "", "", "Invalid value [lbMethod, ]: it is one of ROUNDROBIN LEASTCONNECTION LEASTPACKETS LEASTBANDWIDTH LEASTRESPONSETIME DESTINATIONIPHASH SOURCEIPHASH SRCIPDESTIPHASH SRCIPSRCPORTHASH LEASTREQUEST CUSTOMLOAD TOKEN CALLIDHASH LRTM"},
		{vserver, "port", "*", "0", ""},
		{vserver, "port", "", "", "Expected a positive integer argument [port, ]"},
		{vserver, "port", "-1", "", "Expected a positive integer argument [port, -1]"},
		{vserver, "port", "99999999999999999999999", "", "Argument value out of range [port, 0, 65535]: 99999999999999999999999 was given"},
		{vserver, "IPAddress", "10.0.0.1", "10.0.0.1", ""},
		{vserver, "IPAddress", "010.0.0.1", "", "Invalid IP address [IPAddress, 010.0.0.1]"},
		{vserver, "IPAddress", "::ffff:10.0.0.1", "", "Invalid IP address [IPAddress, ::ffff:10.0.0.1]"},
		{vserver, "IPAddress", "*", "*", ""},
		{vserver, "IPAddress", "::", "", "Invalid IP address [IPAddress, ::]"},
		{ip, "IPAddress", "*", "", "Feature not supported in this release [IPAddress, *]"},
		{vserver, "name", "é", "", "Invalid value [name, é]: a name begins with a letter, digit or _ and goes on with letters, digits and _ # . space : @ = -"},
		{vserver, "name", "", "", "Invalid value [name, ]: a name has at least one character"},
		{vserver, "comment", "a\xffb", "", "Invalid value [comment, a\ufffdb]: the text is not UTF-8"},
		{vserver, "comment", "a\nb", "", "Invalid value [comment, a b]: the text has a control character"},
		{vserver, "comment", strings.Repeat("x", 256), "", "String length exceeds maximum [comment, 255]"},
		{ip, "type", "mip", "SNIP", ""},
		{monitor, "respCode", "200 300-302", "200 300-302", ""},
		{monitor, "respCode", "302-300", "", "Invalid value [respCode, 302-300]: response codes are numbers or ranges from 1 to 999, e.g. 200 300-302"},
		{monitor, "respCode", "+20", "", "Invalid value [respCode, +20]: response codes are numbers or ranges from 1 to 999, e.g. 200 300-302"},
		{monitor, "httpRequest", "GET /a b", "", `Invalid value [httpRequest, GET /a b]: a request is a method and a path, e.g. "HEAD /"`},
		{monitor, "httpRequest", "get /", "", "Invalid value [httpRequest, get /]: the method is in capital letters, e.g. GET"},
	} {
		v := reflect.New(row.object.Type).Elem()
		f := row.object.Field(row.field)
		err := f.Set(v, row.set)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != row.err || err == nil && f.Text(v) != row.text {
			t.Errorf("%s %s=%q: %q, %q; want %q, %q", row.object.YANG, row.field, row.set, f.Text(v), got, row.text, row.err)
		}
		if err != nil && !reflect.DeepEqual(v.Interface(), reflect.Zero(row.object.Type).Interface()) {
			t.Errorf("%s %s=%q: refused, and yet stored", row.object.YANG, row.field, row.set)
		}
	}
}

func TestConfigVersionsAreApart(t *testing.T) {
	a := New()
	Put(a, &Server{Name: "s1"})
	Put(a, &Server{Name: "s2"})
	b := a.Clone()
	Put(b, &Server{Name: "s1", Comment: "new"})
	b.Delete(Of[Server](), "s2")
	Put(b, &Server{Name: "s3"})
	if got := Get[Server](a, "s1").Comment; got != "" || a.Len(Of[Server]()) != 2 || Get[Server](a, "s3") != nil {
		t.Error("a change of the clone shows in the original")
	}
	var names []string
	for row := range b.Each(Of[Server]()) {
		names = append(names, row.(*Server).Name)
	}
	if !slices.Equal(names, []string{"s1", "s3"}) || len(b.Rows(Of[Server]())) != 2 {
		t.Errorf("rows %v, want s1 s3 in order of creation", names)
	}
	if a.Equal(b) || !a.Equal(a.Clone()) {
		t.Error("Equal is wrong")
	}
	if b.Delete(Of[Server](), "s2") || b.Delete(Of[Route](), "x") {
		t.Error("Delete tells of rows that are not there")
	}
	c := New()
	Put(c, &Server{Name: "s2"})
	Put(c, &Server{Name: "s1"})
	if a.Equal(c) {
		t.Error("another order is not equal")
	}
}

// TestVersionsAgainstNaiveOnes: a tree of versions that share their tables, each of which must go on holding what a plain copy of
// it holds, whatever is done to those that it came from and that came from it.
func TestVersionsAgainstNaiveOnes(t *testing.T) {
	o := Of[Server]()
	type version struct {
		c    *Config
		want []Server
	}
	r := rand.New(rand.NewPCG(7, 1))
	all := []version{{c: New()}}
	for step := range 6000 {
		v := &all[r.IntN(len(all))]
		name := string(rune('a' + r.IntN(26)))
		at := slices.IndexFunc(v.want, func(s Server) bool { return s.Name == name })
		switch k := r.IntN(10); {
		case k == 0:
			n := version{v.c.Clone(), slices.Clone(v.want)}
			if !n.c.Same(v.c, o) {
				t.Fatal("a clone does not share its tables")
			}
			if len(all) < 20 {
				all = append(all, n)
			} else {
				all[r.IntN(len(all))] = n
			}
		case k == 1:
			d := &all[r.IntN(len(all))]
			d.c.Replace(v.c)
			d.want = slices.Clone(v.want)
		case k < 5:
			if got := v.c.Delete(o, name); got != (at >= 0) {
				t.Fatalf("step %d: Delete of %s says %t", step, name, got)
			}
			if at >= 0 {
				v.want = slices.Delete(v.want, at, at+1)
			}
		default:
			row := Server{Name: name, Comment: string(rune('A' + r.IntN(26)))}
			if Put(v.c, &row); at >= 0 {
				v.want[at] = row
			} else {
				v.want = append(v.want, row)
			}
		}
		for i := range all {
			v := &all[i]
			var got []Server
			for _, s := range All[Server](v.c) {
				got = append(got, *s)
				if Get[Server](v.c, s.Name) != s {
					t.Fatalf("step %d, version %d: Get does not find %s", step, i, s.Name)
				}
			}
			if !slices.Equal(got, v.want) || v.c.Len(o) != len(v.want) || len(v.c.Rows(o)) != len(v.want) {
				t.Fatalf("step %d, version %d holds %v, want %v", step, i, got, v.want)
			}
		}
	}
}

func TestMonitorsThatAreAlwaysThere(t *testing.T) {
	c := New()
	for _, n := range []string{"ping-default", "tcp-default", "ping", "tcp", "http"} {
		if m := MonitorNamed(c, n); m == nil || m.Interval != 5 || m.Retries != 3 || m.State != "ENABLED" {
			t.Errorf("%s: %+v", n, m)
		}
	}
	if MonitorNamed(c, "none") != nil {
		t.Error("a monitor out of nothing")
	}
	for typ, want := range map[string]string{"HTTP": "tcp-default", "TCP": "tcp-default", "UDP": "ping-default", "ANY": "ping-default"} {
		if got := DefaultMonitor(typ); got != want {
			t.Errorf("%s has %s, want %s", typ, got, want)
		}
	}
}

func TestDefaultsThatDepend(t *testing.T) {
	o := Of[Service]()
	for typ, want := range map[string][2]string{"HTTP": {"180", "360"}, "TCP": {"9000", "9000"}, "UDP": {"120", "120"}, "ANY": {"120", "120"}} {
		v := reflect.ValueOf(&Service{ServiceType: typ, CltTimeout: 7}).Elem()
		o.Field("cltTimeout").Reset(o, v)
		o.Field("svrTimeout").Reset(o, v)
		if got := [2]string{o.Field("cltTimeout").Text(v), o.Field("svrTimeout").Text(v)}; got != want {
			t.Errorf("%s: %v, want %v", typ, got, want)
		}
	}
}

func TestKebab(t *testing.T) {
	for in, want := range map[string]string{"LBMethod": "lb-method", "IPAddress": "ip-address", "Name": "name", "HTTPRequest": "http-request", "USIP": "usip", "RespTimeoutUnit": "resp-timeout-unit"} {
		if got := kebab(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestRefusalIsOneLine(t *testing.T) {
	err := Refuse(BadValue, "name", "a\r\nb\x1b[31m").Because("no\nway")
	if got, want := err.Error(), "Invalid value [name, a  b [31m]: no way"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestClaimant: the kept answers agree with looking at every row, whatever was put and removed.
func TestClaimant(t *testing.T) {
	o, claim := Of[Server](), func(row any) string { return row.(*Server).Comment }
	r := rand.New(rand.NewPCG(4, 4))
	c := New()
	if c.Claimant(o, claim, "x") != nil {
		t.Error("found in an empty configuration")
	}
	for i := range 3000 {
		name := string(rune('a' + r.IntN(12)))
		switch r.IntN(4) {
		case 0:
			c.Delete(o, name)
		case 1:
			if i%40 == 0 {
				c = c.Clone()
			}
		default:
			what := string(rune('A' + r.IntN(20)))
			if other := c.Claimant(o, claim, what); other == nil { // rows are put only if nobody claims the same
				Put(c, &Server{Name: name, Comment: what})
			}
		}
		for what := 'A'; what < 'A'+20; what++ {
			var want any
			for row := range c.Each(o) {
				if claim(row) == string(what) {
					want = row
				}
			}
			if got := c.Claimant(o, claim, string(what)); got != want {
				t.Fatalf("step %d: %c is claimed by %v, want %v", i, what, got, want)
			}
		}
	}
}
