// Program tally reads `go test -json` on standard input, prints failures whole and, per room, how many tests ran and
// were skipped. A skipped test counts as a failure: what cannot be tested is not built. It runs no test itself.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
)

type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

type room struct {
	passed, failed, skipped int
	elapsed                 float64
}

func main() {
	rooms := map[string]*room{}
	output := map[string][]string{} // by package and test
	var bad []string
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var e event
		if json.Unmarshal(in.Bytes(), &e) != nil {
			fmt.Println(in.Text()) // a build error of the go command itself
			continue
		}
		key := e.Package + " " + e.Test
		if e.Action == "output" || e.Action == "build-output" {
			output[key] = append(output[key], e.Output)
			if e.Action == "build-output" {
				fmt.Print(e.Output)
			}
			continue
		}
		count(rooms, e)
		if e.Action == "fail" || e.Action == "skip" && e.Test != "" {
			bad = append(bad, key)
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			if e.Action == "pass" {
				delete(output, key)
			}
			if e.Test == "" {
				fmt.Fprintf(os.Stderr, "%-7s %s %.1fs\n", e.Action, strings.TrimPrefix(e.Package, "sluice/"), e.Elapsed)
			}
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, "tally: reading test events:", err)
		os.Exit(1)
	}
	for _, key := range bad {
		fmt.Printf("--- %s\n%s", key, strings.Join(output[key], ""))
	}
	os.Exit(summary(rooms))
}

func count(rooms map[string]*room, e event) {
	r := rooms[e.Package]
	if r == nil {
		r = &room{}
		rooms[e.Package] = r
	}
	switch {
	case e.Test == "" && e.Action == "fail":
		r.elapsed = e.Elapsed
		if r.failed == 0 {
			r.failed++ // the package did not build, or died outside a test
		}
	case e.Test == "":
		r.elapsed = max(r.elapsed, e.Elapsed)
	case e.Action == "pass":
		r.passed++
	case e.Action == "fail":
		r.failed++
	case e.Action == "skip":
		r.skipped++
	}
}

func summary(rooms map[string]*room) (exit int) {
	var names []string
	for n := range rooms {
		names = append(names, n)
	}
	sort.Strings(names)
	var all room
	for _, n := range names {
		r := rooms[n]
		all.passed, all.failed, all.skipped = all.passed+r.passed, all.failed+r.failed, all.skipped+r.skipped
		if r.passed+r.failed+r.skipped > 0 {
			fmt.Printf("%-32s %4d run %3d failed %3d skipped %7.1f s\n", strings.TrimPrefix(n, "sluice/"), r.passed+r.failed, r.failed, r.skipped, r.elapsed)
		}
	}
	if all.skipped > 0 {
		fmt.Println("A skipped test fails the run: install what it needs (make deps) or fix it.")
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", all.passed, all.failed, all.skipped)
	if all.failed+all.skipped > 0 || all.passed == 0 {
		return 1
	}
	return 0
}
