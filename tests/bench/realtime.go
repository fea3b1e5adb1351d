package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// fifoPriority is that of `chrt -f 10`: above everything ordinary, below what the kernel needs.
const fifoPriority = 10

// realtime makes the calling thread one that no ordinary one interrupts, or ordinary again. A sample is some ten milliseconds;
// nobody may hold a CPU like this for seconds.
func realtime(on bool) error {
	a := unix.SchedAttr{Policy: unix.SCHED_NORMAL}
	if on {
		a = unix.SchedAttr{Policy: unix.SCHED_FIFO, Priority: fifoPriority}
	}
	return unix.SchedSetAttr(0, &a, 0)
}

// waitForOthers returns when no other bench runs on this machine, since each would measure the other, too. Closing what it
// returns lets the next one go.
func waitForOthers() (io.Closer, error) {
	for start := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		// A name without a file, which the kernel forgets with its owner.
		l, err := net.Listen("unix", "@sluice-bench")
		if err == nil || !errors.Is(err, unix.EADDRINUSE) {
			return l, err
		}
		if time.Since(start) > 5*time.Minute {
			return nil, errors.New("another bench has been running for 5 minutes: end it first")
		}
	}
}

// cpus picks the CPU to measure on, the last one that this process may use, and one for what else there is.
func cpus() (measure, other int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, fmt.Errorf("which CPUs may be used: %w", err)
	}
	measure, other = -1, -1
	for i := range 1024 {
		if set.IsSet(i) {
			if other < 0 {
				other = i
			}
			measure = i
		}
	}
	return measure, other, nil
}

// freeHuge is how many MiB of free hugepages of 2 MiB there are.
func freeHuge() int {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	var free, size int
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "HugePages_Free:") {
			fmt.Sscanf(s.Text(), "HugePages_Free: %d", &free)
		}
		if strings.HasPrefix(s.Text(), "Hugepagesize:") {
			fmt.Sscanf(s.Text(), "Hugepagesize: %d kB", &size)
		}
	}
	if size != 2048 {
		return 0
	}
	return free * 2
}
