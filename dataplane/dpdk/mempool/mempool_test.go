package mempool_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/yerden/go-dpdk/internal/testeal"
	"github.com/yerden/go-dpdk/mbuf"
	"github.com/yerden/go-dpdk/mempool"
)

func TestMain(m *testing.M) { os.Exit(testeal.Main(m.Run)) }

func TestCounts(t *testing.T) {
	for _, row := range []struct {
		name string
		opts []mempool.Option
	}{
		{"plain", nil},
		{"cached", []mempool.Option{mempool.OptCacheSize(32), mempool.OptSocket(0)}},
		{"stack", []mempool.Option{mempool.OptOpsName("stack"), mempool.OptPrivateDataSize(64)}},
	} {
		t.Run(row.name, func(t *testing.T) {
			mp, err := mempool.CreateMbufPool(row.name, 127, 2048, row.opts...)
			if err != nil {
				t.Fatal(err)
			}
			defer mp.Free()
			want := func(avail int) {
				t.Helper()
				if mp.AvailCount() != avail || mp.InUseCount() != 127-avail || mp.IsFull() != (avail == 127) || mp.IsEmpty() != (avail == 0) {
					t.Errorf("want %d free: available %d, in use %d, full %v, empty %v", avail, mp.AvailCount(), mp.InUseCount(), mp.IsFull(), mp.IsEmpty())
				}
			}
			want(127)
			ms := make([]*mbuf.Mbuf, 127)
			if err := mbuf.PktMbufAllocBulk(mp, ms[:100]); err != nil {
				t.Fatal(err)
			}
			want(27)
			if err := mbuf.PktMbufAllocBulk(mp, ms[100:]); err != nil {
				t.Fatal(err)
			}
			want(0)
			mbuf.PktMbufFreeBulk(ms)
			want(127)
		})
	}
}

func TestLookup(t *testing.T) {
	mp, err := mempool.CreateMbufPool("known", 15, 512)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := mempool.Lookup("known"); got != mp || err != nil {
		t.Errorf("%p, %v; created %p", got, err, mp)
	}
	if _, err := mempool.CreateMbufPool("known", 15, 512); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("the same name twice: %v", err)
	}
	mp.Free()
	if got, err := mempool.Lookup("known"); got != nil || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("after Free: %p, %v", got, err)
	}
}

func TestImpossiblePools(t *testing.T) {
	for _, row := range []struct {
		name string
		n    uint32
		opts []mempool.Option
	}{
		{"a name that is much too long for a pool", 15, nil},
		{"too large", 1 << 24, nil},
		{"cache too large", 15, []mempool.Option{mempool.OptCacheSize(4096)}},
		{"unknown ops", 15, []mempool.Option{mempool.OptOpsName("no such ops")}},
		{"private too large", 15, []mempool.Option{mempool.OptPrivateDataSize(1 << 16)}},
	} {
		if mp, err := mempool.CreateMbufPool(row.name, row.n, 512, row.opts...); err == nil {
			t.Errorf("%s: no error", row.name)
			mp.Free()
		}
	}
}
