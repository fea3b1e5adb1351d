package lb

import (
	"fmt"
	"testing"

	"sluice/dataplane/api"
)

// BenchmarkPick is a choice among ten services.
func BenchmarkPick(b *testing.B) {
	weights, up := make([]uint16, 10), make([]uint32, 10)
	for i := range weights {
		weights[i], up[i] = uint16(i+1), uint32(i+1)
	}
	for _, m := range []api.Method{api.RoundRobin, api.LeastConnection, api.LeastPackets, api.LeastBandwidth, api.LeastResponseTime} {
		b.Run(fmt.Sprint("method ", m), func(b *testing.B) {
			tab, v := set(b, nil, m, weights, up)
			defer tab.Free(nil)
			s := newBed(b)
			for id := range uint32(10) {
				s.account(1, id+1)
			}
			for b.Loop() {
				s.Opened(0, s.Pick(tab, v, 0, 0))
			}
		})
	}
}
