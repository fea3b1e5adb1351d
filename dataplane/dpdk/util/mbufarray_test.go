package util_test

import (
	"os"
	"testing"

	"github.com/yerden/go-dpdk/internal/testeal"
	"github.com/yerden/go-dpdk/mbuf"
	"github.com/yerden/go-dpdk/mempool"
	"github.com/yerden/go-dpdk/util"
)

func TestMain(m *testing.M) { os.Exit(testeal.Main(m.Run)) }

func TestMbufArray(t *testing.T) {
	a := util.NewMbufArray(-1, 32)
	if a == nil {
		t.Fatal("no memory")
	}
	defer a.Free()
	buf := a.Buffer()
	if len(buf) != 32 {
		t.Fatalf("%d places", len(buf))
	}
	for i, m := range buf {
		if m != nil {
			t.Fatalf("place %d is not empty", i)
		}
	}
	mp, err := mempool.CreateMbufPool("pool", 63, 512)
	if err != nil {
		t.Fatal(err)
	}
	defer mp.Free()
	if err := mbuf.PktMbufAllocBulk(mp, buf); err != nil {
		t.Fatal(err)
	}
	if again := a.Buffer(); again[31] != buf[31] || again[31] == nil {
		t.Error("Buffer is not the table itself")
	}
	mbuf.PktMbufFreeBulk(buf)
	if !mp.IsFull() {
		t.Errorf("%d not given back", mp.InUseCount())
	}
}
