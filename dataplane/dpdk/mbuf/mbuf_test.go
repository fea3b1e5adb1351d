package mbuf_test

import (
	"bytes"
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/yerden/go-dpdk/internal/testeal"
	"github.com/yerden/go-dpdk/mbuf"
	"github.com/yerden/go-dpdk/mempool"
)

func TestMain(m *testing.M) { os.Exit(testeal.Main(m.Run)) }

func newPool(t *testing.T, n uint32) *mempool.Mempool {
	t.Helper()
	mp, err := mempool.CreateMbufPool("pool", n, 512+128)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !mp.IsFull() {
			t.Errorf("%d buffers were not given back", mp.InUseCount())
		}
		mp.Free()
	})
	return mp
}

func TestAppendAndData(t *testing.T) {
	m := mbuf.PktMbufAlloc(newPool(t, 7))
	defer m.PktMbufFree()
	want := func(data string) {
		t.Helper()
		n := len(data)
		if string(m.Data()) != data || m.PktLen() != uint32(n) || m.HeadRoomSize() != 128 || m.TailRoomSize() != uint16(512-n) {
			t.Errorf("want %q: data %q, length %d, headroom %d, tailroom %d", data, m.Data(), m.PktLen(), m.HeadRoomSize(), m.TailRoomSize())
		}
	}
	want("")
	for _, s := range []string{"abc", "", "defg"} {
		if err := m.PktMbufAppend([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	want("abcdefg")
	for _, n := range []int{506, 1 << 16, 1<<16 + 1} {
		if err := m.PktMbufAppend(make([]byte, n)); !errors.Is(err, syscall.ENOBUFS) {
			t.Errorf("appending %d bytes: %v", n, err)
		}
		want("abcdefg")
	}
	m.Data()[0] = 'A'
	want("Abcdefg")
	if err := m.PktMbufAppend(bytes.Repeat([]byte{1}, 505)); err != nil || m.TailRoomSize() != 0 {
		t.Errorf("the exact rest: %v, tailroom %d", err, m.TailRoomSize())
	}
	m.PktMbufReset()
	want("")
	if m.Next() != nil {
		t.Error("a packet of one segment has a next one")
	}
}

func TestExhaustedPool(t *testing.T) {
	mp := newPool(t, 7)
	ms := make([]*mbuf.Mbuf, 8)
	if err := mbuf.PktMbufAllocBulk(mp, ms); !errors.Is(err, syscall.ENOBUFS) {
		t.Errorf("8 of 7: %v", err)
	}
	if !mp.IsFull() {
		t.Errorf("%d were taken in spite of the error", mp.InUseCount())
	}
	if err := mbuf.PktMbufAllocBulk(mp, ms[:7]); err != nil {
		t.Fatal(err)
	}
	if m := mbuf.PktMbufAlloc(mp); m != nil {
		t.Error("an empty pool gave a buffer")
	}
	mbuf.PktMbufFreeBulk(ms) // the nil at the end too
	if err := mbuf.PktMbufAllocBulk(mp, nil); err != nil {
		t.Error(err)
	}
	mbuf.PktMbufFreeBulk(nil)
}

func TestCloneSharesData(t *testing.T) {
	mp := newPool(t, 7)
	m := mbuf.PktMbufAlloc(mp)
	if err := m.PktMbufAppend([]byte("shared")); err != nil {
		t.Fatal(err)
	}
	c := m.PktMbufClone(mp)
	m.Data()[0] = 'S'
	if string(c.Data()) != "Shared" || c.PktLen() != 6 || m.RefCntUpdate(0) != 2 {
		t.Errorf("clone %q, length %d, references %d", c.Data(), c.PktLen(), m.RefCntUpdate(0))
	}
	m.PktMbufFree()
	if mp.InUseCount() != 2 {
		t.Errorf("%d in use while the clone lives", mp.InUseCount())
	}
	c.PktMbufFree()
}

// A stack that grows while a table on it is in use must not hurt: see escape.
func TestTableOfALocalVariable(t *testing.T) {
	mp := newPool(t, 63)
	for range 100 {
		var ms [32]*mbuf.Mbuf
		if err := mbuf.PktMbufAllocBulk(mp, ms[:]); err != nil {
			t.Fatal(err)
		}
		mbuf.PktMbufFreeBulk(ms[:])
	}
}
