package worker

import "sluice/dataplane/table"

// clock counts ticks of a tenth of a second off the cycle counter, so that nothing asks the system for the time.
type clock struct {
	zero, last, next uint64 // cycles: at the start, at the last turn, when the next tick is due
	perTick          uint64
	busy             bool   // the turns since last found packets
	skip             int    // turns since last
	second, tenths   uint32 // since the start, and ticks beyond
}

func (c *clock) start(cycles, hz uint64) {
	c.zero, c.last = cycles, cycles
	c.perTick = max(hz/table.TicksPerSecond, 1)
	c.next = cycles + c.perTick
}

// advance returns the ticks that are due at cycles, which is not before next.
func (c *clock) advance(cycles uint64) uint32 {
	n := (cycles-c.next)/c.perTick + 1
	c.next += n * c.perTick
	return uint32(n)
}

// seconds goes on by ticks and tells whether another second has begun.
func (c *clock) seconds(ticks uint32) bool {
	c.tenths += ticks
	if c.tenths < table.TicksPerSecond {
		return false
	}
	c.second += c.tenths / table.TicksPerSecond
	c.tenths %= table.TicksPerSecond
	return true
}
