package engine

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"sluice/cli/grammar"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

// TestEarlierVersionsAreForgotten: what was made of a version is taken over from the one before, which must not keep that one, or
// memory would grow with every command.
func TestEarlierVersionsAreForgotten(t *testing.T) {
	e := New(Options{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}}, Host: &kernel{}, Prober: &prober{}, Check: grammar.Check})
	c := schema.New()
	big(c, 20)
	if _, err := e.Boot(c); err != nil {
		t.Fatal(err)
	}
	type version struct {
		line     string
		config   weak.Pointer[schema.Config]
		compiled weak.Pointer[compile.Compiled]
	}
	var earlier []version
	for i := range 12 {
		v, _ := e.now()
		// In turns, so that each version has a table of the one before and one of the one before that.
		line := fmt.Sprintf("set lb vserver v1 -cltTimeout %d", i+1)
		switch i % 3 {
		case 1:
			line = fmt.Sprintf("set service s1 -cltTimeout %d", i+1)
		case 2:
			line = fmt.Sprintf("add server t%d 10.2.0.%d", i, i+1)
		}
		earlier = append(earlier, version{line, weak.Make(v.config), weak.Make(v.compiled)})
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Commit(Author{}, op.Apply); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		kept := 0
		for _, v := range earlier {
			if v.config.Value() != nil || v.compiled.Value() != nil {
				kept++
			}
		}
		if kept == 0 {
			break
		}
		if time.Now().After(deadline) {
			for _, v := range earlier {
				t.Errorf("before `%s`: configuration kept: %v, what was made of it: %v", v.line, v.config.Value() != nil, v.compiled.Value() != nil)
			}
			break
		}
	}
	runtime.KeepAlive(e)
}

// TestStatesFollowEveryCommand: only what a command may have changed is worked out anew, and all comes out as if everything were.
func TestStatesFollowEveryCommand(t *testing.T) {
	e := New(Options{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}}, Host: &kernel{}, Prober: &prober{}, Check: grammar.Check})
	c := schema.New()
	big(c, 40)
	if _, err := e.Boot(c); err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"add ns ip 10.0.0.6 255.0.0.0", "set service s%d -healthMonitor NO", "set service s%d -healthMonitor YES",
		"disable lb vserver v%d", "enable lb vserver v%d", "set lb vserver v%d -healthThreshold 60", "set lb vserver v%d -healthThreshold 0",
		"disable service s%d", "enable service s%d", "disable server s%d", "enable server s%d", "unbind lb vserver v%[2]d s%[1]d", "bind lb vserver v%[2]d s%[1]d",
		"rm lb vserver v%d", "add lb vserver v%d TCP 172.16.9.9 80", "add lb vserver w%d TCP 172.16.8.%[1]d 80", "rm lb vserver w%d",
		"rename lb vserver v%d w%[1]d", "rename lb vserver w%d v%[1]d", "rm service s%d", "rm ns ip 10.0.0.6",
	}
	random := rand.New(rand.NewPCG(16, 4))
	done := 0
	for range 1500 {
		n := random.IntN(40)
		line := lines[random.IntN(len(lines))]
		if strings.Contains(line, "lb vserver") && !strings.Contains(line, "bind") {
			n %= 4
		}
		if strings.Contains(line, "%") {
			line, _, _ = strings.Cut(fmt.Sprintf(line, n, n/10), "%!(EXTRA")
		}
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, err := e.Commit(Author{}, op.Apply); err != nil {
			continue
		}
		done++
		v, s := e.now()
		x := compile.NewIndex(v.config, s)
		if want := compile.AssignIDs(v.config, s.Resolutions, s.IDs); !reflect.DeepEqual(s.IDs, want) {
			t.Fatalf("%s: the numbers are %v, want %v", line, s.IDs, want)
		}
		for _, row := range schema.All[schema.Service](v.config) {
			if got, want := s.Services[row.Name].Up, x.ServiceUp(s, row.Name); got != want {
				t.Fatalf("%s: service %s is up: %v, want %v", line, row.Name, got, want)
			}
		}
		for _, row := range schema.All[schema.LBVserver](v.config) {
			got, known := s.Vservers[row.Name]
			if want := x.VserverUp(s, row.Name); got.Up != want || !known {
				t.Fatalf("%s: lb vserver %s is up: %v, known: %v, want %v", line, row.Name, got.Up, known, want)
			}
		}
		if n := v.config.Len(schema.Of[schema.LBVserver]()); len(s.Vservers) != n {
			t.Fatalf("%s: there are %d lb vservers, and states of %d", line, n, len(s.Vservers))
		}
	}
	if done < 300 {
		t.Errorf("only %d commands were taken", done)
	}
}
