package grammar

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestImportedFiles: of every file each line is applied, stored or rejected as its golden says, and why; those of devices and
// fixtures hold no line that is rejected. What is written of the result gives it again.
func TestImportedFiles(t *testing.T) {
	files, _ := filepath.Glob("testdata/import/*.conf")
	if len(files) < 11 {
		t.Fatalf("only %d files are there", len(files))
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := schema.New()
			im := Import(c, text, Check)
			var b strings.Builder
			for _, v := range im.Lines {
				fmt.Fprintf(&b, "%-8s %3d %s\n", v.Fate, v.Number, v.Text)
				if v.Reason != "" {
					fmt.Fprintf(&b, "             %s\n", v.Reason)
				}
			}
			golden := strings.TrimSuffix(file, ".conf") + ".fates"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, _ := os.ReadFile(golden)
			if b.String() != string(want) {
				t.Errorf("other fates than in %s (-update writes it anew):\n%s", golden, apart(string(want), b.String()))
			}
			if im.Count[Rejected] > 0 {
				t.Errorf("%d lines are rejected", im.Count[Rejected])
			}
			importedAgain(t, c)
		})
	}
}

// apart are the lines in which two texts differ.
func apart(a, b string) string {
	have, want := strings.Split(b, "\n"), strings.Split(a, "\n")
	var out []string
	for _, l := range have {
		if !slices.Contains(want, l) {
			out = append(out, "+"+l)
		}
	}
	for _, l := range want {
		if !slices.Contains(have, l) {
			out = append(out, "-"+l)
		}
	}
	return strings.Join(out, "\n")
}

// importedAgain reads what is written of a configuration, into an empty one and into itself: both are equal to it then.
func importedAgain(t *testing.T, c *schema.Config) {
	t.Helper()
	text := []byte(strings.Join(Lines(c), "\n"))
	for _, into := range []*schema.Config{schema.New(), c.Clone()} {
		im := Import(into, text, Check)
		if im.Count[Rejected] > 0 {
			t.Errorf("what was written is rejected: %+v", im.Lines)
		}
		if !into.Equal(c) {
			t.Errorf("what was written reads as another configuration:\n%s", apart(strings.Join(Lines(c), "\n"), strings.Join(Lines(into), "\n")))
		}
	}
}

// commands61 are the commands that make up 95 % of the lines of files that devices have saved.
var commands61 = strings.Split("bind ssl vserver,bind lb vserver,add server,bind serviceGroup,bind ssl service,add lb vserver,bind gslb vserver,"+
	"set ssl service,set snmp alarm,add gslb service,bind cache policylabel,add cache policy,set ssl vserver,add lb monitor,add serviceGroup,"+
	"add service,bind ssl serviceGroup,add gslb vserver,add dns nsRec,add dns addRec,bind policy patset,set appfw profile,add rewrite action,"+
	"bind cs vserver,add ssl certKey,add appfw XMLContentType,add rewrite policy,add cs policy,add ns ip,add responder action,set lb monitor,"+
	"bind service,bind cmp global,add cache contentGroup,set gslb vserver,bind ssl cipher,add responder policy,add cs action,"+
	"add cache policylabel,bind cache global,add gslb site,add cs vserver,set ns rpcNode,add ssl profile,set ssl serviceGroup,set interface,"+
	"bind authentication vserver,add authentication Policy,enable ns feature,bind appfw profile,add route,add cmp policy,set ns config,"+
	"enable ns mode,add authentication ldapAction,set system user,add dns nameServer,set service,set ns hostName,set ns param,add appfw profile", ",")

// TestCommandsOfDevices: device.conf has each of the 61, so that its golden says what becomes of each.
func TestCommandsOfDevices(t *testing.T) {
	if len(commands61) != 61 {
		t.Fatalf("%d commands", len(commands61))
	}
	text, err := os.ReadFile("testdata/import/device.conf")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands61 {
		if !strings.Contains(string(text), "\n"+c+" ") {
			t.Errorf("%s is not in device.conf", c)
		}
	}
}

// TestImportedLines are lines in their order and what becomes of each.
func TestImportedLines(t *testing.T) {
	for name, lines := range map[string][][3]string{
		"what is there already is applied": {
			{"add server s1 10.2.0.11", "applied", ""},
			{"add server s1 10.2.0.11", "applied", ""},
			{"add server s1 10.2.0.12", "rejected", "Resource already exists [server, s1]"},
			{"add service w s1 HTTP 80", "applied", ""},
			{"add service w s1 HTTP 80 -usip NO", "applied", ""},
			{"add service w s1 HTTP 80 -usip YES", "rejected", "Resource already exists [service, w]"},
		},
		"wrong lines": {
			{"add server s1 10.2.0.256", "rejected", "Invalid IP address [IPAddress, 10.2.0.256]"},
			{"add server", "rejected", "Required argument missing [name, IPAddress]"},
			{"add service w nobody HTTP 80", "rejected", "No such resource [serverName, nobody]"},
			{"bind lb vserver v w", "rejected", "No such resource [vserver, v]"},
			{"hello world", "rejected", "it begins with no command"},
			{"add server \"s1", "rejected", "Invalid syntax [\"s1]"},
			{"add server s2 10.2.0.12 10.2.0.13", "rejected", "No such argument [10.2.0.13]"},
		},
		"no lines of a file": {
			{"show ns ip", "rejected", "Operation not permitted [show ns ip]"},
			{"clear ns config -force full", "rejected", "Operation not permitted [clear ns config -force full]"},
			{"exit", "rejected", "Operation not permitted [exit]"},
			{"import ns.conf other.conf", "rejected", "Operation not permitted [import ns.conf other.conf]"},
			{"set cli prompt x", "rejected", "Operation not permitted [set cli prompt x]"},
			{"save ns config", "applied", ""},
		},
		"no line is obeyed in part": {
			{"add server s[1-3] 10.2.0.[11-13]", "applied", ""},
			{"add server s[3-5] 10.2.0.[14-16]", "rejected", "Resource already exists [server, s3]"},
			{"add service w[2-4] s[3-5] HTTP 80", "rejected", "No such resource [serverName, s4]"},
			{"set server s1 -IPAddress 10.2.0.99 -unheard of", "stored", "No such argument [-unheard]"},
		},
		"what needs what is only stored is stored": {
			{"add server s1 10.2.0.11", "applied", ""},
			{"add service w s1 HTTP 80 -CKA YES", "stored", "Feature not supported in this release [CKA, YES]"},
			{"add lb vserver v HTTP 10.1.0.50 80", "applied", ""},
			{"bind lb vserver v w", "stored", "it needs w, which is stored only"},
			{"set service w -cltTimeout 7", "stored", "it needs w, which is stored only"},
			{"add lb vserver g HTTP 10.1.0.51 80 -backupVServer v -redirectURL http://x", "stored", "Feature not supported in this release [redirectURL]"},
			{"add lb vserver h HTTP 10.1.0.52 80 -backupVServer g", "stored", "it needs g, which is stored only"},
			{"bind lb vserver h w", "stored", "it needs h, which is stored only"},
			{"add foo bar thing", "stored", "No such command [foo]"},
			{"add service y thing HTTP 80", "stored", "it needs thing, which is stored only"},
		},
		"what needs what was rejected is rejected": {
			{"add server s1 10.1.0.300", "rejected", "Invalid IP address"},
			{"add service w s1 HTTP 80", "rejected", "No such resource [serverName, s1]"},
			{"add lb vserver v SSL 10.1.0.50 443", "stored", "Feature not supported in this release [serviceType, SSL]"},
			{"bind lb vserver v w", "stored", "it needs v, which is stored only"},
			{"add lb vserver h HTTP 10.1.0.51 80", "applied", ""},
			{"bind lb vserver h w", "rejected", "No such resource [serviceName, w]"},
		},
		"an address that is only stored is not taken": {
			{"add ns ip 10.1.0.5 255.255.255.0 -ospfArea 7", "stored", "Feature not supported in this release [ospfArea]"},
			{"add route 0.0.0.0 0.0.0.0 10.1.0.1", "stored", "it needs an ns ip on the subnet of 10.1.0.1, which is stored only"},
			{"add route 0.0.0.0 0.0.0.0 10.2.0.1", "rejected", "The gateway is not directly reachable [10.2.0.1]"},
			{"add ns ip 10.1.0.[50-52] 255.255.255.255 -type VIP -ospfArea 7", "stored", "Feature not supported in this release [ospfArea]"},
			{"add lb vserver v HTTP 10.1.0.51 80", "stored", "it needs 10.1.0.51, which is stored only"},
			{"add lb vserver w HTTP 10.1.0.48 80 -range 4", "stored", "it needs 10.1.0.50, which is stored only"},
			{"add lb vserver x HTTP 10.1.0.53 80", "applied", ""},
			{"set lb vserver x -IPAddress 10.1.0.50", "stored", "it needs 10.1.0.50, which is stored only"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var text []string
			for _, l := range lines {
				text = append(text, l[0])
			}
			c := schema.New()
			im := Import(c, []byte(strings.Join(text, "\r\n")), Check)
			for i, l := range lines {
				v := im.Lines[i]
				if v.Text != l[0] || v.Number != i+1 || v.Fate.String() != l[1] || !strings.HasPrefix(v.Reason, l[2]) || l[2] == "" && v.Reason != "" {
					t.Errorf("%s: %s: %s\nwant %s: %s", v.Text, v.Fate, v.Reason, l[1], l[2])
				}
			}
			if err := Check(c); err != nil {
				t.Error(err)
			}
			if c.Len(schema.Of[schema.NSLine]()) != im.Count[Stored] {
				t.Errorf("%d lines are kept of %d", c.Len(schema.Of[schema.NSLine]()), im.Count[Stored])
			}
			importedAgain(t, c)
		})
	}
}

// TestHostileFiles: what is too long or no text is rejected, and the rest is read.
func TestHostileFiles(t *testing.T) {
	c := schema.New()
	im := Import(c, []byte("\ufeff# comment\n\nadd server s1 10.2.0.11\n"+
		"add foo "+strings.Repeat("x", maxImportLine)+"\nadd foo a\x00b\nadd foo \xff\nadd foo\ta\nadd foo \"a\tb\"\n"+
		"add server s2 10.2.0.12 -comment "+strings.Repeat("y", 300)+"\nadd foo b"), nil)
	if im.Count != [4]int{0, 1, 2, 5} {
		t.Errorf("counts %v: %.200v", im.Count, im.Lines)
	}
	for _, l := range schema.All[schema.NSLine](c) {
		if l.Text != "add foo a" && l.Text != "add foo b" {
			t.Errorf("%q is kept", l.Text)
		}
	}
	importedAgain(t, c)
}

// TestLinesThatTheCheckRefuses: those are found, and all others are taken over.
func TestLinesThatTheCheckRefuses(t *testing.T) {
	check := func(c *schema.Config) error {
		for _, s := range schema.All[schema.Server](c) {
			if strings.HasPrefix(s.Name, "bad") {
				return errors.New(s.Name + " is not to be had")
			}
		}
		return nil
	}
	var text strings.Builder
	for i := range 100 {
		name := "good"
		if i%33 == 7 {
			name = "bad"
		}
		fmt.Fprintf(&text, "add server %s%d 10.2.0.%d\nadd foo %d\n", name, i, i+1, i)
	}
	c := schema.New()
	im := Import(c, []byte(text.String()), check)
	if im.Count != [4]int{0, 97, 100, 3} {
		t.Errorf("counts %v", im.Count)
	}
	for _, v := range im.Lines {
		if bad := strings.Contains(v.Text, "bad"); bad != (v.Fate == Rejected) || bad && !strings.Contains(v.Reason, "is not to be had") {
			t.Errorf("%s: %s: %s", v.Text, v.Fate, v.Reason)
		}
	}
	if check(c) != nil || c.Len(schema.Of[schema.Server]()) != 97 || c.Len(schema.Of[schema.NSLine]()) != 100 {
		t.Errorf("%d servers, %d lines", c.Len(schema.Of[schema.Server]()), c.Len(schema.Of[schema.NSLine]()))
	}
	always := func(*schema.Config) error { return errors.New("no") }
	d := schema.New()
	if im := Import(d, []byte(text.String()), always); im.Count[Rejected] != 100 || len(schema.All[schema.Server](d)) != 0 {
		t.Errorf("counts %v of what is refused whole", im.Count)
	}
}

func TestSecretsOfKeptLines(t *testing.T) {
	for _, row := range [][2]string{
		{"set ns rpcNode 10.0.0.1 -password 8a7b -encrypted -srcIP *", "set ns rpcNode 10.0.0.1 -password ******** -encrypted -srcIP *"},
		{"set system user nsroot 1f2e -encrypted -timeout 9", "set system user nsroot ******** -encrypted -timeout 9"},
		{"add system user joe geheim -externalAuth ENABLED", "add system user joe ******** -externalAuth ENABLED"},
		{"add ssl certKey c -cert a.pem -key a.key -passplain x", "add ssl certKey c -cert a.pem -key a.key -passplain ********"},
		{"add authentication radiusAction r -radKey 77 -encrypted", "add authentication radiusAction r -radKey ******** -encrypted"},
		{"add foo -ldapBindDnPassword \"a b\" -x 1", "add foo -ldapBindDnPassword ******** -x 1"},
		{"add cs policy p -rule TRUE", "add cs policy p -rule TRUE"},
		{`add lb monitor m USER -scriptArgs "user=a;password=s3;x=1" -foo`, `add lb monitor m USER -scriptArgs "user=a;password=********;x=1" -foo`},
		{`add lb monitor m HTTP -customHeaders "Authorization: Basic abc" -foo`, `add lb monitor m HTTP -customHeaders "Authorization: ********" -foo`},
		{"set API_TOKEN=abc", "set API_TOKEN=********"},
		{"export DB_PASSWORD=abc def", "export DB_PASSWORD=********"},
		{"add lb monitor m USER -secureArgs abc", "add lb monitor m USER -secureArgs ********"},
	} {
		if got := DiscreetKept(row[0]); got != row[1] {
			t.Errorf("%s\ngot  %s\nwant %s", row[0], got, row[1])
		}
	}
}

// FuzzImport: whatever a file holds, the result is a sound configuration, and what is written of it gives it again.
func FuzzImport(f *testing.F) {
	files, _ := filepath.Glob("testdata/import/*.conf")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("add server a 10.0.0.1\nadd foo b\nadd service s b HTTP 80\nrm server a\nrm ns line 1\nadd ns line 5 \"add bar c\"\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c := schema.New()
		im := Import(c, text, nil)
		if err := Check(c); err != nil {
			t.Fatalf("%v\n%s", err, strings.Join(Lines(c), "\n"))
		}
		if n := im.Count[Applied] + im.Count[Stored] + im.Count[Rejected]; n != len(im.Lines) {
			t.Fatalf("%d of %d lines have a fate", n, len(im.Lines))
		}
		for _, v := range im.Lines {
			if strings.ContainsAny(v.Reason, "\n\r") || (v.Reason == "") != (v.Fate == Applied) {
				t.Fatalf("%q: %s: %q", v.Text, v.Fate, v.Reason)
			}
		}
	})
}

// TestImportLetsGoOfTheFile: what is made of a large file does not keep its text in memory, though names stand in it.
func TestImportLetsGoOfTheFile(t *testing.T) {
	const size = 8 << 20
	used := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := used()
	c := schema.New()
	for n := range 3 { // of which some line is the first of its form
		text := fmt.Sprintf("add server s%d 10.0.0.%d -comment \"from a file\"\nadd service web%d s%d TCP 80\n#%s\n", n, n+1, n, n, strings.Repeat("x", size))
		if im := Import(c, []byte(text), nil); im.Count[Applied] != 2 {
			t.Fatal(im.Lines)
		}
	}
	if now := used(); now > before+size/2 {
		t.Errorf("%d MiB of memory are kept for %d rows", (now-before)>>20, c.Len(schema.Of[schema.Server]())+c.Len(schema.Of[schema.Service]()))
	}
}
