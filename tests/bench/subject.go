package main

import (
	"fmt"
	"math/rand/v2"
	"unsafe"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// A pass is what is timed at once: 64 full bursts.
const (
	passLen  = 2048
	burst    = port.Burst
	ringSize = 4096
)

// Lanes of the scene: clients come in by the first port's NIC, servers are behind the second's.
const (
	lanes      = 4
	laneClient = 0
	laneServer = 2
)

// tableEntries are those of a flow table, of which 1,000,000 flows use four in five; tableMB is what it takes.
const (
	tableEntries = 2_500_000
	tableMB      = 178
)

// subject is a worker with a number of flows in its table, and what feeds and checks it.
type subject struct {
	flows  int
	w      *worker.Worker
	rings  *port.Rings
	clock  *clock
	hz     uint64
	ms     []uintptr // passLen packets that go round
	ids    []uint32  // their flows
	chosen []chosen  // by flow: where it goes
	fresh  uint32    // next flow id that was never used
	rng    *rand.Rand
}

func newSubject(flows int, rings *port.Rings, hz uint64, huge bool) (*subject, error) {
	s := &subject{flows: flows, rings: rings, clock: &clock{}, hz: hz, ms: make([]uintptr, passLen), ids: make([]uint32, passLen),
		chosen: make([]chosen, flows), fresh: 1 << 22, rng: rand.New(rand.NewPCG(1, uint64(flows)))}
	var err error
	s.w, err = worker.New(worker.Options{Queue: rings, Ports: ports, Flows: tableEntries, Sessions: maxSessions, Huge: huge, Populate: true,
		FlowName: flowName(flows), Cycles: s.clock.read, Hz: hz})
	if err != nil {
		return nil, err
	}
	if why := s.w.Note(); why != "" {
		fmt.Printf("    %s\n", why)
	}
	s.clock.stop(asm.Rdtsc()) // the worker has read it once, at the end of New
	set, err := table.Build(tables(), s.w.Tables())
	if err != nil {
		return nil, err
	}
	s.w.Publish(set)
	if err := rings.Alloc(s.ms); err != nil {
		return nil, err
	}
	return s, s.fill()
}

func flowName(flows int) string { return fmt.Sprintf("bench-flows-%d", flows) }

func (s *subject) close() error {
	s.rings.Release(s.ms)
	return s.w.Close()
}

func frame(m uintptr) []byte {
	return unsafe.Slice((*byte)(port.Ptr(port.Data(m))), port.DataLen(m))
}

// load makes the first n packets those of s.ids.
func (s *subject) load(n int, flags uint8, once bool) {
	for i, m := range s.ms[:n] {
		port.SetLen(m, frameLen)
		p := fromClient(s.ids[i], flags, once)
		p.write(frame(m))
	}
}

// pick chooses the flows of a pass at random among those in the table.
func (s *subject) pick() {
	for i := range s.ids {
		s.ids[i] = s.rng.Uint32N(uint32(s.flows))
	}
}

// run sends the first n packets through the worker from one lane and takes them back from another. It returns the cycles
// that all of it took, receiving and sending by rte_ethdev included. What does not come back is an error.
func (s *subject) run(n, from, to int) (cycles uint64, err error) {
	if fed := s.rings.Feed(from, s.ms[:n]); fed != n {
		return 0, fmt.Errorf("a ring took %d of %d packets", fed, n)
	}
	w, got, empty := s.w, 0, 0
	start := asm.Rdtsc()
	s.clock.start(start)
	for got < n && empty < lanes {
		k := w.Poll()
		got += k
		if k == 0 {
			empty++
		}
	}
	w.Poll() // sends what the last burst became
	end := asm.Rdtsc()
	s.clock.stop(end)
	back := s.rings.Drain(to, s.ms)
	if back != n {
		return 0, fmt.Errorf("%d packets went in, %d were received and %d came out on lane %d: %s", n, got, back, to, s.counters())
	}
	return end - start, nil
}

// hit times a pass of packets of known flows.
func (s *subject) hit() (uint64, error) {
	s.pick()
	s.load(passLen, flagACK, false)
	return s.run(passLen, laneClient, laneServer)
}

// open times a pass in which every packet opens a flow.
func (s *subject) open() (uint64, error) {
	for i := range s.ids {
		s.ids[i] = s.fresh
		s.fresh++
	}
	s.load(passLen, flagSYN, true)
	return s.run(passLen, laneClient, laneServer)
}

// checkHits compares the packets that hit has got back with what they must be.
func (s *subject) checkHits() error { return checkHits(s.ms, s.ids, s.chosen) }

// checkHits compares packets that came back with what those of the flows ids must be, where all go to what was chosen for their flow.
// Packets of different flows may have changed places.
func checkHits(ms []uintptr, ids []uint32, choices []chosen) error {
	type tuple struct {
		chosen
		proto uint8
	}
	flows, due := make(map[tuple]uint32, len(ms)), make(map[uint32]int, len(ms))
	for _, id := range ids {
		flows[tuple{choices[id], fromClient(id, flagACK, false).proto}] = id
		due[id]++
	}
	for i, m := range ms {
		out := read(frame(m))
		id, ok := flows[tuple{chosen{out.srcPort, uint16(out.dst - server0)}, out.proto}]
		if !ok {
			return fmt.Errorf("packet %d of the pass belongs to none of its flows: % x", i, frame(m))
		}
		want := choices[id].toServer(fromClient(id, flagACK, false))
		if err := want.check(frame(m)); err != nil {
			return fmt.Errorf("packet %d of the pass, flow %d: %w", i, id, err)
		}
		due[id]--
	}
	for id, n := range due {
		if n != 0 {
			return fmt.Errorf("flow %d has %d packets less than it was sent", id, n)
		}
	}
	return nil
}

// checkOpened compares the packets that open has got back with what they must be: each flow got a tuple of its own.
func (s *subject) checkOpened() error {
	seen := make(map[[2]uint64]bool, passLen)
	for i, m := range s.ms {
		in, out := fromClient(s.ids[i], flagSYN, true), read(frame(m))
		c, err := choice(in, out)
		if err == nil {
			want := c.toServer(in)
			err = want.check(frame(m))
		}
		if err != nil {
			return fmt.Errorf("packet %d of the pass: %w", i, err)
		}
		tuple := [2]uint64{uint64(c.port)<<32 | uint64(out.dst), uint64(in.proto)}
		if seen[tuple] {
			return fmt.Errorf("two flows were sent to %v:%d from port %d", ip(out.dst), portServer, c.port)
		}
		seen[tuple] = true
	}
	return nil
}

// fill opens the subject's flows, TCP ones with a whole handshake, and lets each of them see a packet more.
func (s *subject) fill() error {
	for first := 0; first < s.flows; first += passLen {
		n := min(passLen, s.flows-first)
		for i := range n {
			s.ids[i] = uint32(first + i)
		}
		s.load(n, flagSYN, false)
		if _, err := s.run(n, laneClient, laneServer); err != nil {
			return fmt.Errorf("opening flows: %w", err)
		}
		for i, m := range s.ms[:n] {
			in, out := fromClient(s.ids[i], flagSYN, false), read(frame(m))
			c, err := choice(in, out)
			if err != nil {
				return err
			}
			s.chosen[s.ids[i]] = c
			answer := out.synAnswer()
			answer.write(frame(m))
		}
		if _, err := s.run(n, laneServer, laneClient); err != nil {
			return fmt.Errorf("answering: %w", err)
		}
		s.load(n, flagACK, false)
		if _, err := s.run(n, laneClient, laneServer); err != nil {
			return fmt.Errorf("finishing handshakes: %w", err)
		}
	}
	if n := s.entries(); n != uint64(2*s.flows) {
		return fmt.Errorf("%d flows take %d entries instead of %d: %s", s.flows, n, 2*s.flows, s.counters())
	}
	return nil
}

// forget lets the flows that open has made grow too old and has them swept away.
func (s *subject) forget() error {
	for range 3 {
		s.clock.skip((synSeconds + 1) * s.hz)
		s.clock.start(asm.Rdtsc())
		// Idle turns look at 4096 entries each. All of them, so that no sweep is left over for what is measured.
		for range 1024 + 8 {
			s.w.Poll()
		}
		s.clock.stop(asm.Rdtsc())
		if s.entries() == uint64(2*s.flows) {
			return nil
		}
	}
	return fmt.Errorf("%d entries are left after new flows were forgotten, %d were before", s.entries(), 2*s.flows)
}

func (s *subject) stats() api.Stats {
	var st api.Stats
	s.w.Stats(&st)
	return st
}

func (s *subject) entries() uint64 { return s.stats().Workers[0].Flows }

// counted is how many packets ended for a reason.
func (s *subject) counted(why packet.Reason) uint64 { return s.stats().Counters[why].Value }

// counters are the counters that are not zero, for messages.
func (s *subject) counters() string {
	text := "counters:"
	for _, c := range s.stats().Counters {
		if c.Value != 0 {
			text += fmt.Sprintf(" %s %d", c.Name, c.Value)
		}
	}
	return text
}
