package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sluice/image/slot"
	"sluice/vendor-config/platforms"
)

// pageMiB is the size of a huge page.
const pageMiB = 2

// entryBytes and sessionBytes are what a flow entry takes with its index, and a session at most.
const (
	entryBytes   = 72
	sessionBytes = 128
	workerMiB    = 8 // of each worker for the rest
)

// pagesFor is how many huge pages a dataplane of that size wants.
func pagesFor(s platforms.Size) int {
	mib := s.Memory + (s.Flows*entryBytes+s.Sessions*sessionBytes)>>20 + s.Workers*workerMiB
	return (mib + pageMiB - 1) / pageMiB
}

// reserve has the kernel set so many huge pages aside now, and returns how many there are.
func reserve(sys string, want int) (int, error) {
	file := filepath.Join(sys, "kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
	read := func() (int, error) {
		text, err := os.ReadFile(file)
		if err != nil {
			return 0, fmt.Errorf("the kernel has no huge pages of 2 MiB, without which no network card can be handed over: %w", err)
		}
		return strconv.Atoi(strings.TrimSpace(string(text)))
	}
	has, err := read()
	if err != nil || has >= want {
		return has, err
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(want)), 0o644); err != nil {
		return has, fmt.Errorf("no more huge pages can be set aside: %w", err)
	}
	return read()
}

// arguments writes the kernel's arguments for the next start into the boot environment. It tells whether something has changed.
func arguments(root string, values map[string]string) (changed bool, err error) {
	err = slot.New(root).Change(func(e *slot.Env) error {
		for k, v := range values {
			if e.Get(k) != v {
				e.Set(k, v)
				changed = true
			}
		}
		return nil
	})
	return changed && err == nil, err
}

// cpus are the CPUs of so many workers: the last ones, since the kernel's own work is mostly on the first.
func cpus(workers, has int) (list []int) {
	for i := range workers {
		list = append(list, (max(has-workers, 0)+i)%max(has, 1))
	}
	return list
}

// span writes CPUs that follow each other as the kernel's arguments have them.
func span(list []int) string {
	if len(list) == 1 {
		return strconv.Itoa(list[0])
	}
	return fmt.Sprintf("%d-%d", list[0], list[len(list)-1])
}
