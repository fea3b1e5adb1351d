package soak

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sluice/dataplane/api"
	"sluice/tests/lab/topology"
)

// judge says what of the client's report must not be.
func (s *soak) judge(r *report) {
	for _, w := range r.Wrong {
		s.t.Error(w)
	}
	bad := 0
	for _, f := range r.Failures {
		if !s.excused(f) {
			if bad++; bad <= 10 {
				s.t.Errorf("from %s to %s, when no server was being killed: %s", f.Began.Format(stamp), f.Ended.Format(stamp), f.What)
			}
		}
	}
	if bad > 10 {
		s.t.Errorf("and %d more", bad-10)
	}
	for _, k := range kinds {
		if r.Good[k.name] == 0 {
			s.t.Errorf("no request of kind %s was answered", k.name)
		}
	}
	s.judgeHash(r)
}

const stamp = "15:04:05.000"

// excused: it ran while a server was killed and perhaps still chosen.
func (s *soak) excused(f failure) bool {
	kind, _, _ := strings.Cut(f.What, ":")
	for _, w := range s.windows {
		if strings.Contains(w.kinds, kind) && f.Ended.After(w.from) && f.Began.Before(w.to) {
			return true
		}
	}
	return false
}

// judgeHash: an address whose server is s1, which is never down, has no other one; s2 and s3 take each other's and give back.
func (s *soak) judgeHash(r *report) {
	for i := range hashClients {
		by := map[string]int{}
		for _, n := range topology.Servers {
			by[n] = r.By["from "+hashClient(i)+" "+n]
		}
		if by["s1"] > by["s2"]+by["s3"] && by["s2"]+by["s3"] > 0 {
			s.t.Errorf("client %s belongs to s1, which was never down, and yet was served by %v", hashClient(i), by)
		}
	}
}

// atRest returns the counters when no flow is left, which must be so within the time.
func (s *soak) atRest(most time.Duration) *api.Stats {
	var st *api.Stats
	err := topology.Eventually(most, func() (err error) {
		if st, err = s.stats(); err != nil {
			return err
		}
		var flows, open uint64
		for _, w := range st.Workers {
			flows += w.Flows
		}
		for _, v := range append(append([]api.FlowStats(nil), st.Vservers...), st.Services...) {
			open += v.OpenFlows
		}
		if flows != 0 || open != 0 {
			return fmt.Errorf("%d flow entries are in use and vservers and services count %d open flows, long after the last packet", flows, open)
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return st
}

func (s *soak) stats() (*api.Stats, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := api.Dial(ctx, lab.Path("adc/dataplane.sock"))
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Stats(ctx)
}

// later are the reasons that a packet gets after it was counted under another one.
var later = map[string]bool{"drop-neighbor-unresolved": true, "drop-tx-full": true}

// account compares what every part of the dataplane has counted.
func (s *soak) account(before, after *api.Stats) {
	if before.StartedUnixMilli != after.StartedUnixMilli {
		s.t.Fatal("the dataplane has been started anew in the meantime")
	}
	s.buffers(before)
	c := map[string]uint64{}
	for _, x := range after.Counters {
		c[x.Name] = x.Value
	}
	// Every packet that a port has received ended under one reason.
	var received, ended uint64
	for _, p := range after.Ports {
		received += p.RxPackets + p.TwinRxPackets
	}
	for name, n := range c {
		verdict, _, _ := strings.Cut(name, "-")
		if strings.Contains("forward reply punt held drop undecided", verdict) && !later[name] {
			ended += n
		}
	}
	// The ports go on receiving between the two readings: a few packets of the monitors.
	if diff := int64(received - ended); diff < -slack || diff > slack {
		s.t.Errorf("the ports have received %d packets, the workers have decided about %d", received, ended)
	}
	if c["undecided"] != 0 {
		s.t.Errorf("%d packets were not decided about", c["undecided"])
	}
	s.compare(after, c)
}

const slack = 50

// buffers: each packet buffer comes back.
func (s *soak) buffers(before *api.Stats) {
	if err := topology.Eventually(30*time.Second, func() error {
		now, err := s.stats()
		if err == nil && now.BuffersFree < before.BuffersFree {
			err = fmt.Errorf("%d packet buffers are free, and %d were before: they have leaked", now.BuffersFree, before.BuffersFree)
		}
		return err
	}); err != nil {
		s.t.Error(err)
	}
}

// compare: what vservers have counted is what services have, and what the reasons say. The services of churn are gone, with
// their figures.
func (s *soak) compare(st *api.Stats, c map[string]uint64) {
	var v, all, svc api.FlowStats
	add := func(to *api.FlowStats, x api.FlowStats) {
		to.Flows += x.Flows
		to.PacketsIn += x.PacketsIn
		to.PacketsOut += x.PacketsOut
		to.BytesIn += x.BytesIn
		to.BytesOut += x.BytesOut
	}
	for _, x := range st.Vservers {
		add(&all, x)
		if x.Name != "churn" {
			add(&v, x)
		}
	}
	for _, x := range st.Services {
		if !strings.HasPrefix(x.Name, "churn-") {
			add(&svc, x)
		}
	}
	if v != svc {
		s.t.Errorf("vservers have counted %+v, their services %+v", v, svc)
	}
	forwarded := c["forward-flow"] + c["forward-new-flow"]
	others := c["held-neighbor"] + c["drop-no-route"] + c["drop-hold-full"] + c["drop-frame-too-long"] + c["reply-frag-needed"] + c["drop-partial-checksum"]
	if n := all.PacketsIn + all.PacketsOut; n < forwarded || n > forwarded+others {
		s.t.Errorf("vservers have counted %d packets, the workers have forwarded %d (and at most %d counted ones ended otherwise)", n, forwarded, others)
	}
	var given, taken uint64
	for i, w := range st.Workers {
		given, taken = given+w.HandedOver, taken+w.TakenOver
		if w.Packets == 0 {
			s.t.Errorf("worker %d has had no packet", i)
		}
	}
	if given != taken || len(st.Workers) > 1 && given == 0 {
		s.t.Errorf("workers have handed over %d packets and taken %d", given, taken)
	}
}
