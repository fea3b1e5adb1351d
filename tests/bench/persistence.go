package main

import (
	"fmt"
	"math/bits"

	"sluice/dataplane/api"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// persistence is a subject whose vservers know their clients again: known flows, which never look at sessions, and new flows of
// clients that are known, from ports that they did not have yet.
type persistence struct {
	s             *subject
	with, without *table.Set
	home          []uint16         // by flow: the server of its client's session
	in            [passLen]packet4 // what the last pass sent
	port          uint16           // of the next pass
}

const (
	maxSessions    = 1 << 21 // of a subject
	sessionSeconds = 86_400
	newPort        = 30_000 // above those of flows that stay

	anywhere = 1<<16 - 1 // the home of who has no session
)

func newPersistence(s *subject) (*persistence, error) {
	p := &persistence{s: s, without: s.w.Tables(), home: make([]uint16, s.flows), port: newPort}
	t := tables()
	for i := range t.Config.Vservers {
		t.Config.Vservers[i].Persistence, t.Config.Vservers[i].PersistSeconds = api.PersistSourceIP, sessionSeconds
	}
	var err error
	p.with, err = table.Build(&api.Tables{Config: t.Config}, p.without)
	return p, err
}

// remember gives the client of each flow a session at the server of that flow, unless another flow of the client's came first.
// Without persistence the worker sweeps sessions away.
func (p *persistence) remember() {
	s := p.s
	now := s.w.Sessions().Tick(s.clock.read())
	for id := range p.home {
		in := fromClient(uint32(id), flagSYN, true)
		v := p.with.Vserver(bits.ReverseBytes32(in.dst), bits.ReverseBytes16(in.dstPort), in.proto) // as they lie in a packet
		k := p.with.Persistence(v)
		c := s.w.Sessions().Client(v.ID, k.Kind, uint64(bits.ReverseBytes32(in.src))&k.Bits, k.Limit)
		first := uint32(1) // of the services of a protocol, every other of all
		if in.proto == protoUDP {
			first = 2
		}
		service, kept := s.w.Sessions().Keep(&c, now, p.with, first+2*uint32(s.chosen[id].server))
		p.home[id] = uint16(service-first) / 2
		if !kept { // one in a million finds its bucket full
			p.home[id] = anywhere
		}
	}
}

// under has the worker work with persistence while f runs.
func (p *persistence) under(f func() error) error {
	p.adopt(p.with)
	defer p.adopt(p.without)
	p.remember()
	return f()
}

func (p *persistence) adopt(t *table.Set) {
	p.s.w.Publish(t)
	p.s.clock.start(asm.Rdtsc())
	p.s.w.Poll()
	p.s.clock.stop(asm.Rdtsc())
}

// open times a pass in which every packet opens a flow of a client that has one already.
func (p *persistence) open() (uint64, error) {
	s := p.s
	first := s.rng.Uint32N(uint32(s.flows))
	for i := range s.ids {
		s.ids[i] = (first + uint32(i)) % uint32(s.flows) // one after another, as those of subject.open
	}
	if p.port > 1<<16-1-2*passLen {
		p.port = newPort
	}
	for i, m := range s.ms {
		p.in[i] = fromClient(s.ids[i], flagSYN, true)
		p.in[i].srcPort = p.port + uint16(i)
		port.SetLen(m, frameLen)
		p.in[i].write(frame(m))
	}
	p.port += passLen
	return s.run(passLen, laneClient, laneServer)
}

// check compares the packets that open has got back with what they must be: each goes to its client's server.
func (p *persistence) check() error {
	for i, m := range p.s.ms {
		c, err := choice(p.in[i], read(frame(m)))
		if home := p.home[p.s.ids[i]]; err == nil && c.server != home && home != anywhere {
			err = fmt.Errorf("a client of server %d was sent to server %d", home, c.server)
		}
		if err == nil {
			want := c.toServer(p.in[i])
			err = want.check(frame(m))
		}
		if err != nil {
			return fmt.Errorf("packet %d of the pass: %w", i, err)
		}
	}
	return nil
}
