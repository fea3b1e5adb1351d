package dataplane

import (
	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
)

// crewRows: what there is only where several workers share the flows.
var crewRows = []row{
	{
		name:    "a worker that takes nothing over: what its ring has no room for is dropped, the rest goes on",
		several: true,
		steps: []step{{do: func(b *bed) {
			owner := int(flow.OwnerByClient(packet.Addr4(client), packet.Swap16(c1), uint32(len(b.ws))))
			b.q.to, b.q.turns = (owner+1)%len(b.ws), false
			for range poolRing + 10 {
				if err := b.q.Inject(nic1, ask(c1, webPort, ack).Bytes()); err != nil {
					b.t.Fatal(err)
				}
			}
			for b.ws[b.q.to].Poll() > 0 {
			}
			if n := sum(b.stats(), handedOf); n != poolRing {
				b.t.Errorf("%d packets were handed over, a ring holds %d", n, poolRing)
			}
		}}},
		counters: map[string]uint64{"drop-no-flow": poolRing, "drop-handover-full": 10},
	},
}
