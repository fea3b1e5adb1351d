package port

/*
#cgo pkg-config: libdpdk
#include "log.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/yerden/go-dpdk/eal"
	"golang.org/x/sys/unix"
)

// EALSettings are what DPDK needs before a port can be opened.
type EALSettings struct {
	Lcores     []int    // by worker: the CPU on which it runs; several may share one. Worker i is DPDK's lcore i
	MemoryMB   int      // MiB for packets and DPDK itself
	Huge       bool     // take the memory from hugepages
	FilePrefix string   // of whatever DPDK may leave in its run-time directory; its default if empty
	PCI        []string // addresses of the NICs that DPDK drives itself; it looks at no others
	Extra      []string // further EAL arguments, as they are
}

// args returns EAL's argument vector.
func (s *EALSettings) args() []string {
	var cpus []string
	for i, l := range s.Lcores {
		cpus = append(cpus, fmt.Sprintf("%d@%d", i, l))
	}
	args := []string{"sluice-dataplane", "--lcores", strings.Join(cpus, ","), "--main-lcore", "0"}
	if len(s.PCI) == 0 {
		args = append(args, "--no-pci")
	}
	for _, address := range s.PCI {
		args = append(args, "-a", address)
	}
	args = append(args, "--no-telemetry", "-m", strconv.Itoa(s.MemoryMB), "--log-level", "*:error")
	// Either way DPDK leaves no file behind, not even after kill -9.
	if s.Huge {
		args = append(args, "--in-memory")
	} else {
		args = append(args, "--no-huge", "--no-shconf")
	}
	if s.FilePrefix != "" {
		args = append(args, "--file-prefix", s.FilePrefix)
	}
	return append(args, s.Extra...)
}

// check refuses what EAL would refuse in words that nobody understands.
func (s *EALSettings) check() error {
	if len(s.Lcores) == 0 {
		return errors.New("DPDK needs a CPU: set `lcore`")
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("cannot read which CPUs this process may use: %w", err)
	}
	for _, l := range s.Lcores {
		if l < 0 || !allowed.IsSet(l) {
			return fmt.Errorf("this process may not use CPU %d: set `lcore` or `lcores` to one of its %d CPUs (see `taskset -p $$`)", l, allowed.Count())
		}
	}
	var machine unix.Sysinfo_t
	if err := unix.Sysinfo(&machine); err != nil {
		return fmt.Errorf("cannot read how much memory this machine has: %w", err)
	}
	// DPDK does not survive some numbers beyond that.
	if has := int(uint64(machine.Totalram) * uint64(machine.Unit) >> 20); s.MemoryMB > has {
		return fmt.Errorf("%d MiB are more memory than this machine has (%d MiB): set `memory` lower", s.MemoryMB, has)
	}
	// NICs write to memory by its physical address, which only huge pages keep.
	if len(s.PCI) > 0 && !s.Huge {
		return fmt.Errorf("NICs on the PCI bus (%s) need hugepages: set `huge: true` and reserve them (sysctl vm.nr_hugepages=%d)", s.PCI[0], (s.MemoryMB+1)/2)
	}
	_, err := poolSize(s.MemoryMB, s.Huge)
	return err
}

// StartEAL starts DPDK. It can be done once in a process. The error is one sentence that says what to do.
func StartEAL(s *EALSettings) error {
	if err := s.check(); err != nil {
		return err
	}
	C.log_capture()
	C.stdio_mute()
	_, err := eal.Init(s.args())
	C.stdio_restore()
	if err != nil {
		return fmt.Errorf("DPDK cannot start with %d MiB of memory on CPU %d: %s", s.MemoryMB, s.Lcores[0], s.hint(err))
	}
	C.log_release()
	C.claim_signals()
	return nil
}

// hint says what may be wrong, from what EAL logged.
func (s *EALSettings) hint(err error) string {
	said := captured()
	detail := err.Error()
	if said != "" {
		detail = "it says " + strconv.Quote(said)
	}
	low := strings.ToLower(said)
	switch {
	case s.Huge && (strings.Contains(low, "hugepage") || strings.Contains(low, "memory")):
		return fmt.Sprintf("reserve hugepages (sysctl vm.nr_hugepages=%d) or set `huge: false`; %s", (s.MemoryMB+1)/2, detail)
	case strings.Contains(low, "another primary"), strings.Contains(low, "lock on"):
		return fmt.Sprintf("another program uses the file prefix %q: stop it or set another `file-prefix`; %s", s.FilePrefix, detail)
	case strings.Contains(low, "permission"), unix.Geteuid() != 0:
		return "run it as root; " + detail
	case len(s.Extra) > 0:
		return "check `eal-args`; " + detail
	default:
		return "check `memory`, `lcore` and the installed DPDK libraries; " + detail
	}
}

// captured returns the last line that DPDK has logged since log_capture.
func captured() string {
	var buf [512]C.char
	C.log_last(&buf[0], C.int(len(buf)))
	return strings.TrimSpace(C.GoString(&buf[0]))
}
