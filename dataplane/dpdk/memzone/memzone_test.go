package memzone_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/yerden/go-dpdk/internal/testeal"
	"github.com/yerden/go-dpdk/memzone"
)

func TestMain(m *testing.M) { os.Exit(testeal.Main(m.Run)) }

func TestReserve(t *testing.T) {
	mz, err := memzone.Reserve("zone", 10000, memzone.OptAligned(4096), memzone.OptSocket(0))
	if err != nil {
		t.Fatal(err)
	}
	b := mz.Bytes()
	if len(b) < 10000 || uintptr(mz.Addr())%4096 != 0 {
		t.Errorf("%d bytes at %p", len(b), mz.Addr())
	}
	for i := range b {
		if b[i] != 0 {
			t.Fatalf("byte %d is %d", i, b[i])
		}
		b[i] = byte(i)
	}
	if _, err := memzone.Reserve("zone", 64); !errors.Is(err, syscall.EEXIST) {
		t.Errorf("the same name twice: %v", err)
	}
	if err := mz.Free(); err != nil {
		t.Error(err)
	}
	if _, err := memzone.Reserve("huge", 1<<40); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("1 TiB of 64 MiB: %v", err)
	}
	if _, err := memzone.Reserve("odd", 64, memzone.OptAligned(3)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("alignment 3: %v", err)
	}
}
