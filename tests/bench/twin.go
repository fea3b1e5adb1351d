package main

import (
	"bytes"
	"fmt"
	"slices"

	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"

	"sluice/tests/bench/ctwin"
)

// twin is the path of known flows in C on a subject's flows and frames.
type twin struct {
	*ctwin.Twin
	s *subject
	x *port.Exchange
}

func newTwin(s *subject) (*twin, error) {
	x, err := port.NewExchange()
	if err != nil {
		return nil, err
	}
	c, err := ctwin.New(flowName(s.flows), s.w.Tables(), macs[0], uint32(ports[0].MTU))
	if err != nil {
		return nil, err
	}
	return &twin{Twin: c, s: s, x: x}, nil
}

func (t *twin) close() error {
	if err := t.Twin.Close(); err != nil {
		return err
	}
	return port.ReleaseExchange(t.x)
}

// hit times a pass of packets of known flows.
func (t *twin) hit() (uint64, error) {
	t.s.pick()
	t.s.load(passLen, flagACK, false)
	return t.run()
}

func (t *twin) run() (uint64, error) {
	s, before := t.s, t.Hits()
	if fed := s.rings.Feed(laneClient, s.ms); fed != passLen {
		return 0, fmt.Errorf("a ring took %d of %d packets", fed, passLen)
	}
	start := asm.Rdtsc()
	for t.Turn(s.rings, t.x) > 0 { // the last one sends what the last burst became
	}
	cycles := asm.Rdtsc() - start
	if back, hits := s.rings.Drain(laneServer, s.ms), t.Hits()-before; back != passLen || hits != passLen {
		return 0, fmt.Errorf("the C twin found %d of %d packets' flows and sent %d", hits, passLen, back)
	}
	return cycles, nil
}

// agrees sends the same packets through the worker and through the twin: what comes out must be equal to the byte. Packets of
// different flows may have changed places.
func (t *twin) agrees() error {
	s := t.s
	s.pick()
	s.load(passLen, flagACK, false)
	if _, err := s.run(passLen, laneClient, laneServer); err != nil {
		return err
	}
	sent := s.sorted()
	s.load(passLen, flagACK, false)
	if _, err := t.run(); err != nil {
		return err
	}
	for i, out := range s.sorted() {
		if !bytes.Equal(sent[i], out) {
			return fmt.Errorf("%d flows: where the worker sends\n  % x, its C twin sends\n  % x", s.flows, sent[i], out)
		}
	}
	return nil
}

// sorted is copies of the frames that came back, in an order that does not depend on the one in which they came.
func (s *subject) sorted() [][]byte {
	var list [][]byte
	for _, m := range s.ms {
		list = append(list, bytes.Clone(frame(m)))
	}
	slices.SortFunc(list, bytes.Compare)
	return list
}
