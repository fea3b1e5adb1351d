// Package lcore gives Go functions an operating system thread of their own and tells which NUMA node a CPU is on.
// It knows nothing of EAL's lcores: those are in package eal.
package lcore

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// NumaNode returns the NUMA node of a logical CPU, or -1 if the kernel does not tell.
func NumaNode(id uint) int {
	nodes, err := filepath.Glob(fmt.Sprintf("/sys/devices/system/cpu/cpu%d/node[0-9]*", id))
	if err != nil || len(nodes) == 0 {
		return -1
	}
	n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(nodes[0]), "node"))
	if err != nil {
		return -1
	}
	return n
}

// Thread executes functions one after another on an operating system thread that nothing else uses.
type Thread chan<- func()

// NewLockedThread starts a thread that executes what arrives on ch until ch is closed.
func NewLockedThread(ch chan func()) Thread {
	go func() {
		// Never unlocked: the thread ends with the goroutine, whatever the functions have done to it.
		runtime.LockOSThread()
		for fn := range ch {
			fn()
		}
	}()
	return ch
}

// Close ends the thread when it has executed what was sent before. Nothing may be sent to it afterwards.
func (t Thread) Close() { close(t) }

// Exec has the thread execute fn. With wait it returns after fn has ended, else as soon as fn is accepted.
func (t Thread) Exec(wait bool, fn func()) {
	if !wait {
		t <- fn
		return
	}
	done := make(chan struct{})
	t <- func() {
		defer close(done)
		fn()
	}
	<-done
}
