// Command bench measures the dataplane beside its peers and writes what it found to tests/bench/out. `make bench B=l4` calls it.
//
// It measures; it changes nothing of the product and starts no network traffic: packets come from rings in this process. Functional
// tests are elsewhere. Figures of one run may be compared with each other, those of different runs only by their ratios.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	smoke := flag.Bool("smoke", false, "a short run that checks outcomes (packets, allocations, output) and no times")
	noHuge := flag.Bool("no-huge", false, "take ordinary memory even where there are hugepages")
	rounds := flag.Int("rounds", 0, "rounds of one sample a workload (default 21, with -smoke 2)")
	out := flag.String("out", "", "folder for the results (default tests/bench/out of this repository)")
	profile := flag.String("profile", "", "write a CPU profile of 5 s of a workload to this file")
	workload := flag.String("profile-workload", "nat4-hit", "the workload to profile: nat4-hit, new-flow or persistence-new-flow")
	flows := flag.Int("profile-flows", 1_000_000, "the flows that it has: 1, 10000 or 1000000")
	commits := flag.String("commit-to", "", "for the bench itself: send configurations to the dataplane at this `socket`")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bench l4|mgmt|vrrp [-smoke] [-no-huge] [-rounds N] [-out FOLDER] [-profile FILE]")
		flag.PrintDefaults()
	}
	if len(os.Args) < 2 || os.Args[1] != "l4" && os.Args[1] != "mgmt" && os.Args[1] != "vrrp" {
		flag.Usage()
		os.Exit(2)
	}
	if err := flag.CommandLine.Parse(os.Args[2:]); err != nil || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *out == "" {
		root, err := repository()
		if err != nil {
			fail(err)
		}
		*out = filepath.Join(root, "tests", "bench", "out")
	}
	var err error
	switch os.Args[1] {
	case "l4":
		err = l4(l4Options{smoke: *smoke, noHuge: *noHuge, rounds: *rounds, out: *out, profile: *profile, profileOf: *workload, profileFlows: *flows})
	case "mgmt":
		if *commits != "" {
			err = commitTo(*commits)
			break
		}
		err = mgmt(mgmtOptions{smoke: *smoke, rounds: *rounds, out: *out})
	case "vrrp":
		err = vrrp(vrrpOptions{smoke: *smoke, rounds: *rounds, out: *out})
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// repository is the nearest folder upwards that holds go.mod.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod from the current folder upwards: run bench inside the repository or give -out")
		}
		dir = up
	}
}
