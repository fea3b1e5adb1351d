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

// crew is the workers on their CPUs: worker i is DPDK's lcore i.
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
	var mesh *worker.Mesh
	if len(c.lcores) > 1 {
		if mesh, err = worker.NewMesh(len(c.lcores)); err != nil {
			return nil, err
		}
	}
	for i, l := range c.lcores {
		w, err := worker.New(worker.Options{
			ID: i, Mesh: mesh, Lcore: uint32(l), Queue: ports.Queue(i), Ports: list,
			Flows: s.Flows / len(c.lcores), Sessions: s.Sessions, FlowName: fmt.Sprintf("sluice-flows-%d", i), Huge: s.Huge, Busy: s.Busy,
		})
		if err != nil {
			return nil, fmt.Errorf("worker %d on CPU %d cannot start: %w", i, l, err)
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
		ended = append(ended, eal.ExecOnLcoreAsync(uint(i), make(chan error, 1), func(*eal.LcoreCtx) { w.Run(&stop) }))
	}
	<-ctx.Done()
	stop.Store(true)
	for _, w := range c.workers {
		w.Wake()
	}
	for i, e := range ended {
		if err := <-e; err != nil {
			return fmt.Errorf("worker %d on CPU %d: %w", i, c.lcores[i], err)
		}
	}
	return nil
}
