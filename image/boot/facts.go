package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sluice/vendor-config/platforms"
)

// leastMiB is the memory of which the kernel shows about 950 MiB: with less the packets' memory starves the rest.
const leastMiB = 900

// facts reads what the machine is, and what it lacks, a sentence each. fatal tells that packets cannot be forwarded at all.
func facts(proc string) (m platforms.Machine, lacks []string, fatal bool) {
	flags := ""
	text, err := os.ReadFile(filepath.Join(proc, "cpuinfo"))
	if err != nil {
		lacks = append(lacks, fmt.Sprintf("the kernel does not tell what CPU this is: %v", err))
	}
	for l := range strings.Lines(string(text)) {
		switch k, v, _ := strings.Cut(l, ":"); strings.TrimSpace(k) {
		case "processor":
			m.CPUs++
		case "model name":
			m.CPU = strings.TrimSpace(v)
		case "flags":
			flags = v
		}
	}
	has := strings.Fields(flags)
	m.Hypervisor = slices.Contains(has, "hypervisor")
	if err == nil && !slices.Contains(has, "sse4_2") {
		fatal = true
		lacks = append(lacks, fmt.Sprintf("this machine's CPU (%s) lacks SSE4.2, without which neither packets are forwarded nor management starts: "+
			"give the virtual machine the host's CPU (QEMU: -cpu host) or a model from Westmere on", m.CPU))
	}
	text, err = os.ReadFile(filepath.Join(proc, "meminfo"))
	for l := range strings.Lines(string(text)) {
		if v, ok := strings.CutPrefix(l, "MemTotal:"); ok {
			kib, _ := strconv.Atoi(strings.Fields(v + " 0")[0])
			m.MiB = kib >> 10
		}
	}
	switch {
	case err != nil || m.MiB == 0:
		lacks = append(lacks, "the kernel does not tell how much memory this machine has")
	case m.MiB < leastMiB:
		lacks = append(lacks, fmt.Sprintf("this machine has %d MiB of memory for use: give it 1024 MiB at least", m.MiB))
	}
	if m.CPUs == 1 {
		lacks = append(lacks, "this machine has one CPU, which packets and management share: give it 2 at least")
	}
	return m, lacks, fatal
}
