package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

type mgmtOptions struct {
	smoke  bool
	rounds int
	out    string // folder
}

// commitBar is what is promised of a commit in a configuration of 1,000 vservers with 10 services each, in milliseconds from the line
// in the shell to its ` Done`, which follows when every worker has the new tables.
const commitBar = 50

// timing is how long one kind of step took, sample by sample.
type timing struct {
	what    string
	samples []float64  // ms
	cpu     [2]float64 // ms of CPU a sample that management and the dataplane have used, with all that they do beside; 0: not known
}

func (t *timing) add(d time.Duration) { t.samples = append(t.samples, float64(d)/1e6) }

// since adds the time from start to now and returns now.
func (t *timing) since(start time.Time) time.Time {
	now := time.Now()
	t.add(now.Sub(start))
	return now
}

func printTimings(w io.Writer, head string, all []*timing) {
	fmt.Fprintf(w, "%-40s %9s %9s %9s   %s\n", head, "best", "median", "worst", "CPU of management and dataplane")
	for _, t := range all {
		if len(t.samples) > 0 {
			fmt.Fprintf(w, "%-40s %9.2f %9.2f %9.2f", t.what, slices.Min(t.samples), median(t.samples), slices.Max(t.samples))
			if t.cpu[0] > 0 {
				fmt.Fprintf(w, "   %5.1f + %.1f", t.cpu[0], t.cpu[1])
			}
			fmt.Fprintln(w)
		}
	}
	fmt.Fprintln(w)
}

// mgmt measures how long management takes for a change, from the operator's line to the last worker.
func mgmt(o mgmtOptions) error {
	if o.rounds <= 0 {
		o.rounds = 21
		if o.smoke {
			o.rounds = 2
		}
	}
	alone, err := waitForOthers()
	if err != nil {
		return err
	}
	defer alone.Close()
	var results []row
	var missed []string
	sizes := []struct {
		workload string
		vservers int
	}{{"commit-1k", 100}, {"commit-10k", 1000}}
	if o.smoke {
		sizes = sizes[:1]
	}
	for _, size := range sizes {
		if !o.smoke {
			stages, err := measureStages(size.vservers, o.rounds)
			if err != nil {
				return err
			}
			printTimings(os.Stdout, fmt.Sprintf("%d services, the steps alone, ms", size.vservers*bound), stages)
		}
		kinds, err := measureCommits(size.vservers, o.rounds)
		if err != nil {
			return err
		}
		printTimings(os.Stdout, fmt.Sprintf("%d services, line to Done, ms", size.vservers*bound), kinds)
		var all []float64
		for _, k := range kinds {
			all = append(all, k.samples...)
			if m := median(k.samples); m > commitBar {
				missed = append(missed, fmt.Sprintf("%s: `%s` takes %.0f ms, %d are promised", size.workload, k.what, m, commitBar))
			}
		}
		results = append(results, row{Workload: size.workload, Value: round(median(all)), Unit: "ms"})
	}
	rounds, vservers, lines := o.rounds, 1000, 100_000
	if o.smoke {
		rounds, vservers, lines = 1, 10, 1000
	}
	parts, total, err := measureLoad(vservers, lines)
	if err != nil {
		return err
	}
	printTimings(os.Stdout, "a pasted script, ms a line", parts)
	fmt.Printf("%d lines in %.1f s\n\n", lines, total.Seconds())
	results = append(results, row{Workload: "load-100k-lines", Flows: lines, Value: round(total.Seconds()), Unit: "s"})
	large := 10_000
	if o.smoke {
		large = 10
	}
	scaled, err := measureScale(large, rounds)
	if err != nil {
		return err
	}
	printTimings(os.Stdout, fmt.Sprintf("%d vservers with %d services each, ms", large, perVserver), []*timing{scaled.tab, scaled.change})
	more, slow := scaled.report(large)
	results, missed = append(results, more...), append(missed, slow...)
	gaps, err := measureGaps(rounds)
	if err != nil {
		return err
	}
	rows, worse := gaps.report()
	return mgmtReport(o, append(results, rows...), append(missed, worse...))
}

func mgmtReport(o mgmtOptions, results []row, missed []string) error {
	name := "mgmt.json"
	if o.smoke {
		name = "mgmt-smoke.json"
	}
	file := filepath.Join(o.out, name)
	if err := save(file, results); err != nil {
		return err
	}
	fmt.Println("written:", file)
	if o.smoke {
		fmt.Println("times are not judged in a smoke run")
		return nil
	}
	if len(missed) > 0 {
		return errors.New("not as promised: " + strings.Join(missed, "; "))
	}
	fmt.Println("every bar is met")
	return nil
}
