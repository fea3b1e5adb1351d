package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/yerden/go-dpdk/eal"

	"sluice/dataplane/port"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// crew is the workers on their CPUs.
type crew struct {
	workers []*worker.Worker
	lcores  []int
}

// newCrew makes one worker for each CPU.
func newCrew(s *settings, ports *port.Ports) (*crew, error) {
	list, err := tablePorts(ports)
	if err != nil {
		return nil, err
	}
	c := &crew{lcores: s.lcores()}
	for i, l := range c.lcores {
		w, err := worker.New(worker.Options{
			ID: i, Lcore: uint32(l), Queue: ports.Queue(i), Ports: list,
			Flows: s.Flows, FlowName: fmt.Sprintf("sluice-flows-%d", i), Huge: s.Huge, Busy: s.Busy,
		})
		if err != nil {
			return nil, fmt.Errorf("the worker on CPU %d cannot start: %w", l, err)
		}
		c.workers = append(c.workers, w)
	}
	return c, nil
}

// tablePorts is what the tables must know of the ports.
func tablePorts(ports *port.Ports) ([]table.Port, error) {
	var list []table.Port
	for i, d := range ports.Devices() {
		l, err := ports.Link(i)
		if err != nil {
			return nil, fmt.Errorf("port %s: %w", d.Name, err)
		}
		list = append(list, table.Port{Name: d.Name, MAC: l.MAC, MTU: uint16(l.MTU)})
	}
	return list, nil
}

// run has the workers poll, each on its lcore, until ctx ends.
func (c *crew) run(ctx context.Context) error {
	var stop atomic.Bool
	var ended []<-chan error
	for i, w := range c.workers {
		ended = append(ended, eal.ExecOnLcoreAsync(uint(c.lcores[i]), make(chan error, 1), func(*eal.LcoreCtx) { w.Run(&stop) }))
	}
	<-ctx.Done()
	stop.Store(true)
	for _, w := range c.workers {
		w.Wake()
	}
	for i, e := range ended {
		if err := <-e; err != nil {
			return fmt.Errorf("CPU %d: %w", c.lcores[i], err)
		}
	}
	return nil
}
