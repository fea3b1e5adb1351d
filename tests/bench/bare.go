package main

import (
	"fmt"
	"math/rand/v2"

	"sluice/dataplane/port"
	"sluice/dataplane/port/asm"
)

// bare moves packets from one lane to another and looks at none: the floor under every other workload.
type bare struct {
	flows int
	rings *port.Rings
	x     *port.Exchange
	ms    []uintptr
	ids   []uint32
	rng   *rand.Rand
}

func newBare(flows int, rings *port.Rings) (*bare, error) {
	x, err := port.NewExchange()
	if err != nil {
		return nil, err
	}
	b := &bare{flows: flows, rings: rings, x: x, ms: make([]uintptr, passLen), ids: make([]uint32, passLen), rng: rand.New(rand.NewPCG(2, uint64(flows)))}
	return b, rings.Alloc(b.ms)
}

func (b *bare) close() error {
	b.rings.Release(b.ms)
	return port.ReleaseExchange(b.x)
}

// pass times passLen packets from receiving to sending.
func (b *bare) pass() (uint64, error) {
	for i, m := range b.ms {
		b.ids[i] = b.rng.Uint32N(uint32(b.flows))
		port.SetLen(m, frameLen)
		p := fromClient(b.ids[i], flagACK, false)
		p.write(frame(m))
	}
	if fed := b.rings.Feed(laneClient, b.ms); fed != passLen {
		return 0, fmt.Errorf("a ring took %d of %d packets", fed, passLen)
	}
	x := b.x
	start := asm.Rdtsc()
	for got := 0; got < passLen; {
		b.rings.Turn(x)
		n := int(x.RxN)
		for i := range n {
			x.Tx[laneServer][i&(port.TxRoom-1)] = x.Rx[i&(port.Burst-1)]
		}
		x.TxN[laneServer] = uint32(n)
		got += n
	}
	b.rings.Turn(x)
	cycles := asm.Rdtsc() - start
	if back := b.rings.Drain(laneServer, b.ms); back != passLen {
		return 0, fmt.Errorf("%d of %d packets came back", back, passLen)
	}
	return cycles, nil
}

func (b *bare) check() error {
	for i, m := range b.ms {
		want := fromClient(b.ids[i], flagACK, false)
		if err := want.check(frame(m)); err != nil {
			return err
		}
	}
	return nil
}
