package engine

import (
	"fmt"
	"runtime"
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
