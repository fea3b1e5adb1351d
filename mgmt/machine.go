package main

import (
	"bufio"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"sluice/mgmt/show"
)

// release is the product's version.
const release = "0.1"

// The commit that the program was built from and its time (RFC 3339), set by the linker where Go does not stamp them:
// -ldflags "-X main.commit=... -X main.committed=...".
var commit, committed string

// system tells what runs here and on what.
func system(host string) show.System {
	s := show.System{Host: host, Release: release, Build: "unknown", Started: time.Now(), Machine: machine()}
	revision, at := commit, committed
	if info, ok := debug.ReadBuildInfo(); ok && commit == "" {
		for _, kv := range info.Settings {
			switch kv.Key {
			case "vcs.revision":
				revision = kv.Value
			case "vcs.time":
				at = kv.Value
			}
		}
	}
	if revision != "" {
		s.Build = revision[:min(12, len(revision))]
	}
	s.Built, _ = time.Parse(time.RFC3339, at)
	return s
}

// machine reads the kernel's word about the hardware. What it does not tell stays empty.
func machine() show.Machine {
	m := show.Machine{Product: line("/sys/class/dmi/id/product_name"), Serial: line("/sys/class/dmi/id/product_serial"),
		Kernel: line("/proc/sys/kernel/osrelease")}
	eachPair("/proc/cpuinfo", func(k, v string) {
		switch k {
		case "processor":
			m.CPUs++
		case "model name":
			m.CPU = v
		case "cpu MHz":
			m.MHz, _ = strconv.ParseFloat(v, 64)
		}
	})
	eachPair("/proc/meminfo", func(k, v string) {
		if k == "MemTotal" {
			kb, _ := strconv.ParseUint(strings.TrimSuffix(v, " kB"), 10, 64)
			m.MemoryMB = kb / 1024
		}
	})
	return m
}

func line(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(first)
}

// eachPair reads a file of lines "key : value".
func eachPair(path string, do func(k, v string)) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if k, v, ok := strings.Cut(in.Text(), ":"); ok {
			do(strings.TrimSpace(k), strings.TrimSpace(v))
		}
	}
}
