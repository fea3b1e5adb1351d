package compile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// anyLine is a command over few names, so that commands meet.
func anyLine(r *rand.Rand) string {
	n := func(k int) int { return r.IntN(k) }
	yes := func(a, b string) string { return []string{a, b}[r.IntN(2)] }
	switch r.IntN(35) {
	case 24:
		return fmt.Sprintf("add serviceGroup g%d %s%s", n(3), yes("HTTP", "TCP"), yes("", " -autoScale DNS"))
	case 25, 26:
		return fmt.Sprintf("bind serviceGroup g%d srv%d %d -weight %d", n(3), n(4), 80+n(3), 1+n(100))
	case 27:
		return fmt.Sprintf("bind lb vserver v%d g%d", n(4), n(3))
	case 28:
		return fmt.Sprintf("%s serviceGroup g%d srv%d %d", yes("enable", "disable"), n(3), n(4), 80+n(3))
	case 32:
		return fmt.Sprintf("disable %s%d%s", yes("service s", "server srv"), n(4), yes(" 60", " -graceFul YES"))
	case 33:
		return fmt.Sprintf("disable serviceGroup g%d%s", n(3), yes(" srv1 81 -graceFul YES", " -delay 9"))
	case 29:
		return fmt.Sprintf("%s serviceGroup g%d", yes("enable", "disable"), n(3))
	case 30:
		return fmt.Sprintf("%s serviceGroup g%d%s", yes("bind", "unbind"), n(3), yes(" -monitorName m1", " -monitorName m2"))
	case 31:
		return fmt.Sprintf("%s%d", yes("set serviceGroup g1 -svrTimeout ", yes("rm serviceGroup g", "unbind serviceGroup g1 srv1 8")), n(3))
	case 34:
		k := n(4)
		return fmt.Sprintf("add server srv%d h%d.example.com", k, k)
	case 0, 1:
		return fmt.Sprintf("add server srv%d 10.2.0.%d", n(4), 10+n(6))
	case 2, 3:
		return fmt.Sprintf("add service s%d srv%d %s %d", n(6), n(4), yes("HTTP", "TCP"), 80+n(3))
	case 4, 5:
		return fmt.Sprintf("add lb vserver v%d %s 10.1.0.%d %d -lbMethod %s", n(4), yes("HTTP", "TCP"), 50+n(3), 80+n(2), yes("ROUNDROBIN", yes("SOURCEIPHASH", "LRTM")))
	case 6, 7, 8:
		return fmt.Sprintf("bind lb vserver v%d s%d -weight %d", n(4), n(6), 1+n(100))
	case 9:
		return fmt.Sprintf("unbind lb vserver v%d s%d", n(4), n(6))
	case 10:
		return fmt.Sprintf("set service s%d -cltTimeout %d -svrTimeout %d", n(6), n(50), n(3))
	case 11:
		return fmt.Sprintf("set lb vserver v%d -cltTimeout %d", n(4), n(3))
	case 12:
		return fmt.Sprintf("%s%d", yes("enable service s", "disable service s"), n(6))
	case 13:
		return fmt.Sprintf("%s server srv%d", yes("enable", "disable"), n(4))
	case 14:
		return fmt.Sprintf("%s lb vserver v%d", yes("enable", "disable"), n(4))
	case 15:
		return fmt.Sprintf("%s ns ip 10.1.0.%d", yes("enable", "disable"), 50+n(3))
	case 16:
		return fmt.Sprintf("set service s%d -usip %s", n(6), yes("YES", "NO"))
	case 17:
		return fmt.Sprintf("add lb monitor m%d %s -interval %d", n(3), yes("HTTP", "TCP"), 3+n(3))
	case 18:
		return fmt.Sprintf("bind service s%d -monitorName m%d", n(6), n(3))
	case 19:
		return fmt.Sprintf("set lb monitor m%d %s -interval %d", n(3), yes("HTTP", "TCP"), 3+n(3))
	case 20:
		return fmt.Sprintf("rm %s%d", yes("service s", "lb vserver v"), n(4))
	case 21:
		return fmt.Sprintf("rm %s%d", yes("server srv", "lb monitor m"), n(3))
	case 23:
		return fmt.Sprintf("set lb parameter -startupRRFactor %d", n(3))
	case 22:
		return fmt.Sprintf("%s ns ip 10.2.0.%d 255.255.255.0", yes("add", "rm"), 4+n(2))
	}
	return fmt.Sprintf("%s route 10.%d.0.0 255.255.0.0 10.2.0.%d", yes("add", "rm"), 20+n(2), 250+n(2))
}

// random applies commands until one succeeds.
func random(r *rand.Rand, c *schema.Config) (*schema.Config, string) {
	for {
		line := anyLine(r)
		op, err := grammar.Parse(line)
		if err != nil {
			continue
		}
		next := c.Clone()
		if op.Apply(next) == nil {
			return next, line
		}
	}
}

// TestCompilingOnWhatWasThere: with what was made of the version before the outcome is the same as without, command by command.
func TestCompilingOnWhatWasThere(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	c := configure(t, "add ns ip 10.1.0.5 255.255.255.0\nadd ns ip 10.2.0.5 255.255.255.0\nadd vlan 2\nbind vlan 2 -ifnum 1/2\nbind vlan 2 -IPAddress 10.2.0.5 255.255.255.0")
	s, bare := site(c), c
	var prev *Compiled
	reused, scaled := 0, 0
	for step := range 4000 {
		next, line := random(r, c)
		if step%199 == 198 {
			next, line = bare, "clear ns config -force basic"
		}
		if step%50 == 0 { // a dataplane that goes on from an earlier management brings its own numbers
			s.IDs = IDs{Services: map[string]uint32{"s1": uint32(1 + r.IntN(9)), "s2": 10}, Vservers: map[string]uint32{"v1": uint32(1 + r.IntN(9))}}
		}
		was, before := s.IDs, NewIndex(c, s)
		if r.IntN(6) == 0 { // a name has other addresses, or none
			n := r.IntN(4)
			answer := make([]netip.Addr, 1+r.IntN(3)) // perhaps the same twice, perhaps our own
			for i := range answer {
				answer[i] = netip.AddrFrom4([4]byte{10, 2, 0, []byte{20, 21, 22, 23, 5}[r.IntN(5)]})
			}
			s.Resolved(fmt.Sprint("srv", n), fmt.Sprintf("h%d.example.com", n), answer,
				[]string{"", "no such name"}[r.IntN(2)], time.Time{}, time.Time{})
		}
		s.IDs = AssignIDs(next, s.Resolutions, s.IDs)
		got, err := Compile(next, s, prev)
		want, wanted := Compile(next, s, nil)
		if (err == nil) != (wanted == nil) || err != nil && err.Error() != wanted.Error() {
			t.Fatalf("step %d, %s: %v, want %v", step, line, err, wanted)
		}
		if err != nil {
			s.IDs = was
			continue
		}
		for _, part := range [][2]any{{got.Tables, want.Tables}, {got.Host, want.Host}, {len(got.Probes), len(want.Probes)}} {
			if !reflect.DeepEqual(part[0], part[1]) {
				t.Fatalf("step %d, %s:\n%+v\nwant\n%+v", step, line, part[0], part[1])
			}
		}
		for i := range want.Probes {
			if !reflect.DeepEqual(got.Probes[i], want.Probes[i]) {
				t.Fatalf("step %d, %s: probe %+v, want %+v", step, line, got.Probes[i], want.Probes[i])
			}
		}
		if prev != nil && len(got.services) > 0 && len(prev.services) > 0 && slices.Contains(prev.services, got.services[0]) {
			reused++
		}
		for _, m := range got.Index.members {
			if m.server != nil {
				scaled++
			}
		}
		checkSince(t, got.Index, before, line)
		c, prev = next, got
	}
	if scaled < 500 {
		t.Errorf("groups that scale had %d members in 4000 steps", scaled)
	}
	if reused < 1000 {
		t.Errorf("services were made anew in all but %d of 4000 steps", reused)
	}
}

// serviceNames are all names that a service may have, of either version.
func serviceNames(x, prev *Index) []string {
	names := map[string]bool{}
	for _, i := range []*Index{x, prev} {
		for svc := range i.Services() {
			names[svc.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// checkSince: whatever Since passes over has the same state in both versions, whatever the monitors say.
func checkSince(t *testing.T, x, prev *Index, line string) {
	t.Helper()
	d := x.Since(prev)
	for _, up := range []bool{true, false} {
		s := &State{}
		for _, name := range serviceNames(x, prev) {
			for _, m := range []string{"tcp-default", "ping-default", "m0", "m1"} {
				s.Record(name, m, MonitorResult{Known: true, Up: up})
			}
		}
		for _, name := range serviceNames(x, prev) {
			if x.Service(name) == nil || d.All || slices.Contains(d.Services, name) {
				continue
			}
			if x.ServiceUp(s, name) != prev.ServiceUp(s, name) || x.ServiceLeaving(s, name) != prev.ServiceLeaving(s, name) {
				t.Fatalf("%s changes service %s, which Since does not tell: %+v", line, name, d)
			}
		}
		for i := range 4 {
			name := fmt.Sprint("v", i)
			touched := slices.ContainsFunc(d.Services, func(s string) bool { return slices.Contains(x.VserversOf(s), name) })
			if !d.All && !d.Vservers && !touched && !slices.Contains(d.Renewed, name) && x.VserverUp(s, name) != prev.VserverUp(s, name) {
				t.Fatalf("%s changes vserver %s, which Since does not tell: %+v", line, name, d)
			}
			if schema.Get[schema.LBVserver](prev.c, name) != nil && schema.Get[schema.LBVserver](x.c, name) == nil && !d.Gone {
				t.Fatalf("%s removes vserver %s, which Since does not tell", line, name)
			}
		}
	}
	for _, name := range serviceNames(x, prev) {
		if prev.Service(name) != nil && x.Service(name) == nil && !d.Gone {
			t.Fatalf("%s removes service %s, which Since does not tell", line, name)
		}
	}
}
