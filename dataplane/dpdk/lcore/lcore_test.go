package lcore_test

import (
	"syscall"
	"testing"

	"github.com/yerden/go-dpdk/lcore"
)

func TestThreadIsOneThread(t *testing.T) {
	th := lcore.NewLockedThread(make(chan func()))
	var ids []int
	for range 100 {
		th.Exec(true, func() { ids = append(ids, syscall.Gettid()) })
	}
	for _, id := range ids {
		if id != ids[0] {
			t.Fatalf("ran on threads %v", ids)
		}
	}
	if len(ids) != 100 {
		t.Fatalf("%d ran", len(ids))
	}
	release, ran := make(chan bool), make(chan bool, 1)
	th.Exec(false, func() { <-release; ran <- true }) // comes back before fn has ended
	close(release)
	th.Close()
	if !<-ran {
		t.Error("what was sent before Close did not run")
	}
}

func TestNumaNode(t *testing.T) {
	if n := lcore.NumaNode(0); n < -1 {
		t.Errorf("CPU 0 is on node %d", n)
	}
	if n := lcore.NumaNode(1 << 20); n != -1 {
		t.Errorf("a CPU that does not exist is on node %d", n)
	}
}
