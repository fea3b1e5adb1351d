package main

import "sluice/dataplane/port/asm"

// clock is a cycle counter that a worker is given instead of the CPU's. It stands still while the worker is not being measured: else
// the time that the bench spends on making and checking frames would let flows age and pile up work as no running worker sees it.
type clock struct {
	hidden  uint64 // cycles that the worker is not shown
	stopped uint64 // the CPU's counter when the clock was stopped
}

// read is what the worker calls. It has a meaning while the clock runs.
func (c *clock) read() uint64 { return asm.RdtscFast() - c.hidden }

func (c *clock) start(now uint64) { c.hidden += now - c.stopped }

func (c *clock) stop(now uint64) { c.stopped = now }

// skip lets so many cycles pass for the worker at once.
func (c *clock) skip(cycles uint64) { c.hidden -= cycles }
