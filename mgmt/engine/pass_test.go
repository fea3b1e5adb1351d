package engine

import (
	"errors"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

// TestNobodyPassesAnEngineThatHangs: a change that does not come to its end, and an observation.
func TestNobodyPassesAnEngineThatHangs(t *testing.T) {
	b := newBench(t, &plane{})
	for what, hang := range map[string]func(until chan struct{}, in chan<- bool){
		"a commit": func(until chan struct{}, in chan<- bool) {
			_, _ = b.Commit(Author{}, func(*schema.Config) error { in <- true; <-until; return errors.New("no") })
		},
		"an apply":  func(until chan struct{}, in chan<- bool) { b.wire.Lock(); in <- true; <-until; b.wire.Unlock() },
		"the state": func(until chan struct{}, in chan<- bool) { b.mu.Lock(); in <- true; <-until; b.mu.Unlock() },
	} {
		until, in := make(chan struct{}), make(chan bool)
		go hang(until, in)
		<-in
		passed := make(chan struct{})
		go func() { b.Pass(); close(passed) }()
		select {
		case <-passed:
			t.Errorf("%s hangs and lets pass", what)
		case <-time.After(50 * time.Millisecond):
		}
		close(until)
		select {
		case <-passed:
		case <-time.After(30 * time.Second):
			t.Fatalf("%s has ended and nobody passes for 30 s", what)
		}
	}
}
