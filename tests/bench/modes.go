package main

import (
	"fmt"
	"math/rand/v2"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// Rows for what is sent other than by NAT between 50 vservers: modeFlows flows each, in a small table.
const (
	modeFlows   = 10_000
	modeEntries = 1 << 16
	manyVIPs    = 10_000
	modeDSCP    = 37
)

// modeRow is a workload with its own worker: all vservers in one mode, or another number of vservers.
type modeRow struct {
	workload string
	vips     uint32
	mode     api.Mode
	each     bool // sessionless
	s        *subject
	series   *series
}

func modeRows() []*modeRow {
	return []*modeRow{
		{workload: "dsr-hit", vips: vips, mode: api.ModeTOS}, {workload: "mac-hit", vips: vips, mode: api.ModeMAC}, {workload: "ipip-hit", vips: vips, mode: api.ModeTunnel},
		{workload: "sessionless", vips: vips, mode: api.ModeMAC, each: true},
		{workload: "nat4-hit-1-vserver", vips: 1}, {workload: "nat4-hit-10k-vservers", vips: manyVIPs},
	}
}

// open makes the worker and its flows; it borrows the packets ms, which lie as they did after restore.
func (m *modeRow) open(rings *port.Rings, ms []uintptr, hz uint64) (err error) {
	s := &subject{flows: modeFlows, rings: rings, clock: &clock{}, hz: hz, ms: ms, ids: make([]uint32, passLen), rng: rand.New(rand.NewPCG(2, uint64(m.vips)))}
	m.s, m.series = s, &series{workload: m.workload, flows: modeFlows}
	if s.w, err = worker.New(worker.Options{Queue: rings, Ports: ports, Flows: modeEntries, Populate: true,
		FlowName: "bench-" + m.workload, Cycles: s.clock.read, Hz: hz}); err != nil {
		return err
	}
	s.clock.stop(asm.Rdtsc())
	set, err := table.Build(m.tables(), s.w.Tables())
	if err != nil {
		return err
	}
	s.w.Publish(set)
	err = m.fill()
	m.restore()
	return err
}

func (m *modeRow) tables() *api.Tables {
	t := tablesOf(m.vips)
	for i := range t.Config.Vservers {
		v := &t.Config.Vservers[i]
		if v.Mode, v.Sessionless = m.mode, m.each; v.Mode == api.ModeTOS {
			v.DSCP = modeDSCP
		}
		if m.each {
			v.Method = api.SourceIPSourcePortHash
		}
	}
	return t
}

// from is a client's packet of a flow.
func (m *modeRow) from(id uint32, flags uint8) packet4 {
	p := fromClient(id, flags, false)
	p.dst = vip0 + id%m.vips
	return p
}

// restore takes away what a tunnel has put before the packets.
func (m *modeRow) restore() {
	for _, ms := range m.s.ms {
		if m.mode == api.ModeTunnel && port.DataLen(ms) > frameLen {
			port.Prepend(ms, 1<<32-packet.TunnelLen)
		}
	}
}

// load makes the packets of s.ids.
func (m *modeRow) load(flags uint8) {
	m.restore()
	for i, ms := range m.s.ms {
		port.SetLen(ms, frameLen)
		p := m.from(m.s.ids[i], flags)
		p.write(frame(ms))
	}
}

func (m *modeRow) fill() error {
	s := m.s
	for first := 0; first < modeFlows; first += passLen {
		for i := range s.ids {
			s.ids[i] = uint32((first + i) % modeFlows)
		}
		m.load(flagSYN)
		if _, err := s.run(passLen, laneClient, laneServer); err != nil {
			return fmt.Errorf("%s: opening flows: %w", m.workload, err)
		}
		if m.mode == api.ModeIP {
			for _, ms := range s.ms {
				out := read(frame(ms))
				answer := out.synAnswer()
				answer.write(frame(ms))
			}
			if _, err := s.run(passLen, laneServer, laneClient); err != nil {
				return fmt.Errorf("%s: answering: %w", m.workload, err)
			}
		}
		m.load(flagACK)
		if _, err := s.run(passLen, laneClient, laneServer); err != nil {
			return fmt.Errorf("%s: finishing handshakes: %w", m.workload, err)
		}
	}
	return nil
}

// why is the reason under which every packet of a pass is counted.
func (m *modeRow) why() packet.Reason {
	if m.each {
		return packet.ForwardSessionless
	}
	return packet.ForwardFlow
}

// hit times a pass.
func (m *modeRow) hit() (uint64, error) {
	m.s.pick()
	m.load(flagACK)
	return m.s.run(passLen, laneClient, laneServer)
}

// check looks at what came out of the last pass: whole packets with right checksums, each to a server as its mode says.
func (m *modeRow) check() error {
	for i, ms := range m.s.ms {
		f := frame(ms)
		if m.mode == api.ModeTunnel {
			if len(f) != frameLen+packet.TunnelLen || f[23] != packet.ProtoIPIP || fold(sum(f[14:34])) != 0xffff {
				return fmt.Errorf("packet %d is no packet in a packet: % x", i, f)
			}
			f = append(append([]byte(nil), f[:14]...), f[14+packet.TunnelLen:]...)
		}
		out := read(f)
		toVIP := out.dst >= vip0 && out.dst < vip0+m.vips
		switch m.mode {
		case api.ModeIP, api.ModeTOS:
			if toVIP || m.mode == api.ModeTOS && f[15] != modeDSCP<<2 {
				return fmt.Errorf("packet %d goes to %v with TOS %#x", i, ip(out.dst), f[15])
			}
		default:
			if !toVIP || out.ttl != ttlAtStart-uint8(m.mode/api.ModeTunnel) {
				return fmt.Errorf("packet %d goes to %v with TTL %d", i, ip(out.dst), out.ttl)
			}
		}
		if err := checkSums(f); err != nil {
			return fmt.Errorf("packet %d: %w", i, err)
		}
	}
	return nil
}

func (m *modeRow) close() error { return m.s.w.Close() }
