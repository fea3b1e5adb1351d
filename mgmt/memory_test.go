package main

import (
	"context"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/mgmt/engine"
	"sluice/mgmt/store"
	"sluice/vendor-config/schema"
)

// idle is a kernel and a dataplane that take everything and keep nothing.
type idle struct{ api.Dataplane }

func (idle) Apply(context.Context, *api.Tables) error         { return nil }
func (idle) Stats(context.Context) (*api.Stats, error)        { return &api.Stats{}, nil }
func (idle) Events(context.Context) (<-chan api.Event, error) { return make(chan api.Event), nil }
func (idle) Close() error                                     { return nil }

type idleKernel struct{}

func (idleKernel) Apply(context.Context, compile.HostPlan) error     { return nil }
func (idleKernel) Resolve(context.Context, string, netip.Addr) error { return nil }
func (idleKernel) Set([]compile.Probe)                               {}

// TestMemoryAfterManyCommits: hundreds of changes later management needs the memory that it needed after a few, though each of them is a
// version with tables, a health, a state and a file of its own.
func TestMemoryAfterManyCommits(t *testing.T) {
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Options{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}}, Host: idleKernel{}, Prober: idleKernel{}, Check: grammar.Check,
		Dial: func(context.Context) (engine.Dataplane, error) { return idle{}, nil },
		Note: func(n engine.Noted) { st.Record(n.Config, changeOf(n)) }})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	defer running.Wait()
	defer cancel()
	const vservers = 200
	commit := func(change func(*schema.Config) error) {
		t.Helper()
		if _, err := e.Commit(engine.Author{User: "nsroot"}, change); err != nil {
			t.Fatal(err)
		}
	}
	commit(func(c *schema.Config) error {
		var b strings.Builder
		b.WriteString("add ns ip 10.0.0.5 255.0.0.0\n")
		for i := range vservers * 4 {
			fmt.Fprintf(&b, "add server r%d 10.1.%d.%d\nadd service s%d r%d TCP 80\n", i, i>>8, i&255, i, i)
			if i%4 == 0 {
				fmt.Fprintf(&b, "add lb vserver v%d TCP 172.16.%d.%d 80\n", i/4, i/4>>8, i/4&255)
			}
			fmt.Fprintf(&b, "bind lb vserver v%d s%d\n", i/4, i)
		}
		im := grammar.Import(c, []byte(b.String()), nil)
		if im.Count[grammar.Applied] != len(im.Lines) {
			return fmt.Errorf("%v", im.Count)
		}
		return nil
	})
	commits := func(from, to int) uint64 {
		t.Helper()
		for i := from; i < to; i++ {
			line := []string{"set lb vserver v%d -cltTimeout %d", "set service s%d -svrTimeout %d", "disable service s%d", "add server t%[2]d 10.2.0.1", "rm server t%d"}[i%5]
			args := []any{i % vservers, i}
			switch i % 5 {
			case 2:
				args = []any{i % 20}
			case 3:
				args = []any{0, i}
			case 4:
				args = []any{i - 1}
			}
			op, err := grammar.Parse(fmt.Sprintf(line, args...))
			if err != nil {
				t.Fatal(err)
			}
			commit(op.Apply)
			if i%50 == 0 {
				if err := st.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := st.Flush(); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.GC() // what was in pools
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	few := commits(0, 100)
	many := commits(100, 700)
	t.Logf("%d KiB after 100 changes, %d after 700", few>>10, many>>10)
	if many > few+few/4 {
		t.Errorf("%d KiB after 100 changes, %d after 700", few>>10, many>>10)
	}
	runtime.KeepAlive(e)
}
