package compile

import (
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// configure applies commands, one a line, to a new configuration.
func configure(t *testing.T, text string) *schema.Config {
	t.Helper()
	c := configureUnchecked(t, text)
	if err := grammar.Check(c); err != nil {
		t.Fatal(err)
	}
	return c
}

func configureUnchecked(t *testing.T, text string) *schema.Config {
	t.Helper()
	c := schema.New()
	for i, line := range strings.Split(text, "\n") {
		op, err := grammar.Parse(line)
		if err == nil && op != nil {
			err = op.Apply(c)
		}
		if err != nil {
			t.Fatalf("line %d: %s: %v", i+1, line, err)
		}
	}
	return c
}

// site is a state of two ports in which nothing has been observed.
func site(c *schema.Config) *State {
	return &State{Ports: []Port{{Name: "1/1", Device: "da", Twin: "tw0"}, {Name: "1/2", Device: "db", Twin: "tw1"}}, IDs: AssignIDs(c, nil, IDs{}),
		Elsewhere: []netip.Prefix{netip.MustParsePrefix("192.168.77.1/24"), netip.MustParsePrefix("10.0.0.9/8")}}
}

// TestGolden compiles every configuration of testdata with every monitor satisfied and compares the outcome as text.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.conf")
	if err != nil || len(files) == 0 {
		t.Fatalf("no configurations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".conf"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c := configure(t, string(text))
			s := site(c)
			for _, p := range Probes(c, s) {
				s.Record(p.Service, p.Monitor, MonitorResult{Known: true, Up: true})
			}
			got := outcome(t, c, s)
			golden := strings.TrimSuffix(file, ".conf") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs; got:\n%s", golden, got)
			}
		})
	}
}

// outcome writes everything that is compiled from c and s.
func outcome(t *testing.T, c *schema.Config, s *State) string {
	t.Helper()
	tables, err := Tables(c, s)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	f := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
	kinds := map[api.AddressKind]string{api.OwnVIP: "VIP", api.OwnSNIP: "SNIP", api.OwnNSIP: "NSIP", api.OwnElsewhere: "else"}
	for _, a := range tables.Config.Addresses {
		f("address %-15s %-4s arp %-5t icmp %t\n", a.IP, kinds[a.Kind], a.ARP, a.ICMP)
	}
	if len(tables.Config.PortVLANs) > 0 {
		f("untagged VLANs %v\n", tables.Config.PortVLANs)
	}
	for _, n := range tables.Config.SNIPs {
		f("snip %d %s ports %d-%d\n", n.ID, n.IP, n.PortLo, n.PortHi)
	}
	for _, v := range tables.Config.Vservers {
		f("vserver %d %s proto %d %s:%d method %d client timeout %d:", v.ID, v.Name, v.Proto, v.IP, v.Port, v.Method, v.ClientTimeout)
		if v.Range > 1 || v.IPMask.IsValid() {
			f(" range %d mask %v priority %d listen %q;", v.Range, v.IPMask, v.ListenPriority, v.Listen)
		}
		if v.Mode != api.ModeIP || v.Sessionless {
			f(" mode %d dscp %d sessionless %t;", v.Mode, v.DSCP, v.Sessionless)
		}
		for _, b := range v.Bindings {
			f(" service %d weight %d;", b.Service, b.Weight)
		}
		f("\n")
	}
	for _, v := range tables.Config.Services {
		f("service %d %s proto %d %s:%d usip %t proxyport %t snips %v server timeout %d\n",
			v.ID, v.Name, v.Proto, v.IP, v.Port, v.UseSourceIP, v.UseProxyPort, v.SNIPs, v.ServerTimeout)
	}
	f("up %v\n", tables.Health.Up)
	for _, r := range tables.FIB.Routes {
		f("fib %s port %d gateway %s\n", r.Prefix, r.Port, r.Gateway)
	}
	plan := Host(c, s)
	for _, w := range plan.Twins {
		f("twin %s addresses %v\n", w.Port.Twin, w.Addresses)
	}
	for _, r := range plan.Routes {
		f("kernel route %s via %s dev %s\n", r.Prefix, r.Gateway, r.Twin)
	}
	for _, r := range Routes(c, s) {
		f("route entry %s gateway %s owner %s port %s in use %t\n", r.Prefix, r.Gateway, r.Owner, r.Port, r.InUse)
	}
	for _, p := range Probes(c, s) {
		f("probe %s/%s %s %s -> %s every %v within %v, down %v, %d retries, %d successes", p.Service, p.Monitor, p.Type, p.Source, p.Target,
			p.Interval, p.RespTimeout, p.DownTime, p.Retries, p.SuccessRetries)
		if p.Type == "HTTP" {
			f(", %q wants %v", p.Ask.HTTPRequest, p.Ask.RespCodes)
		} else if usual, _ := ask(schema.MonitorNamed(schema.New(), "ping")); !reflect.DeepEqual(p.Ask, usual) {
			f(", reverse %t, secure %t, asks %+v", p.Reverse, p.Secure, *p.Ask)
		}
		f("\n")
	}
	return strings.ReplaceAll(b.String(), netip.Addr{}.String(), "-")
}
