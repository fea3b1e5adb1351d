package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/dataplane/table"
	"sluice/mgmt/compile"
	"sluice/mgmt/store"
)

// receiver is a dataplane that only keeps what it is told.
type receiver struct {
	api.Dataplane // nothing else is asked of it
	got           *api.Tables
}

func (r *receiver) Apply(_ context.Context, t *api.Tables) error { r.got = t; return nil }

// measureStages times the steps of a commit one by one, without whatever else a running appliance does, each on its whole input: what
// the product need not do again, since nothing of it has changed, is in it too.
func measureStages(vservers, rounds int) ([]*timing, error) {
	c, err := configuration(script(vservers))
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "sluice-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	st, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	got := &receiver{}
	client, stop, err := connect(filepath.Join(dir, "dataplane.sock"), got)
	if err != nil {
		return nil, err
	}
	defer stop()
	set, err := table.Empty(ports)
	if err != nil {
		return nil, err
	}
	s := &compile.State{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}, {Name: "1/2", Twin: "tw1"}}}
	parse, clone, apply := &timing{what: "parse the line"}, &timing{what: "copy the configuration"}, &timing{what: "apply the line"}
	check, comp := &timing{what: "check the whole"}, &timing{what: "compile the whole"}
	wire, build, free := &timing{what: "encode, send, decode, answer"}, &timing{what: "build the set"}, &timing{what: "free the set before"}
	file := &timing{what: "write the whole file (not on the path)"}
	change := kinds(vservers)[0]
	for n := range rounds {
		at := time.Now()
		op, err := grammar.Parse(change.line(n))
		if err != nil {
			return nil, err
		}
		at = parse.since(at)
		d := c.Clone()
		at = clone.since(at)
		if err := op.Apply(d); err != nil {
			return nil, err
		}
		at = apply.since(at)
		if err := grammar.Check(d); err != nil {
			return nil, err
		}
		at = check.since(at)
		s.IDs = compile.AssignIDs(d, s.Resolutions, s.IDs)
		out, err := compile.Compile(d, s, nil)
		if err != nil {
			return nil, err
		}
		at = comp.since(at)
		if err := client.Apply(context.Background(), out.Tables); err != nil {
			return nil, err
		}
		at = wire.since(at)
		next, err := table.Build(got.got, set)
		if err != nil {
			return nil, err
		}
		at = build.since(at)
		set.Free(next)
		at = free.since(at)
		if err := st.Save(d, store.Meta{By: "bench", At: time.Unix(int64(n), 0)}); err != nil {
			return nil, err
		}
		file.since(at)
		c, set = d, next
	}
	set.Free(nil)
	return []*timing{parse, clone, apply, check, comp, wire, build, free, file}, nil
}

// connect serves d at a socket and connects to it.
func connect(path string, d api.Dataplane) (*api.Client, func(), error) {
	var l net.Listener
	l, err := api.Listen(path)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- api.Serve(ctx, l, d) }()
	stop := func() {
		cancel()
		if err := <-served; err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
	}
	client, err := api.Dial(ctx, path)
	if err != nil {
		stop()
		return nil, nil, err
	}
	return client, stop, nil
}
