package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// row is a line of the results: the form that design.md 8 gives to every bench.
type row struct {
	Workload string   `json:"workload"`
	Flows    int      `json:"flows"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unit"`
	Vs       string   `json:"vs"`
	Ratio    *float64 `json:"ratio"` // null: the peer is missing
}

// series are the samples of one workload, one a round, in cycles per packet.
type series struct {
	workload string
	flows    int
	samples  []float64
	to       *series // what the ratio is taken to, nil: the reference
}

// vs names what the ratio is taken to.
func (s *series) vs() string {
	if s.to != nil {
		return s.to.workload
	}
	return reference
}

// reference is what ratios are taken to.
const reference = "testpmd-5tswap"

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// ratio is the median of the ratios to the reference's sample of the same round; nil without a reference.
func (s *series) ratio(ref []float64) *float64 {
	if s.to != nil {
		ref = s.to.samples
	}
	var r []float64
	for i, v := range s.samples {
		if i < len(ref) && ref[i] > 0 {
			r = append(r, v/ref[i])
		}
	}
	if len(r) == 0 {
		return nil
	}
	m := median(r)
	return &m
}

// bar is what the project promises of a workload: most is the highest ratio to what it is compared with or, with absolute, the highest value.
type bar struct {
	workload string
	flows    int
	most     float64
	absolute bool
}

// bars are what the README promises.
var bars = []bar{
	{"nat4-hit", 1, 2, false},
	{"nat4-hit", 10_000, 4, false},
	{"nat4-hit", 1_000_000, 6, false},
	{"new-flow", 1_000_000, 700, true},
	{"persistence-hit", 1, 1.2, false},
	{"persistence-hit", 10_000, 1.2, false},
	{"persistence-hit", 1_000_000, 1.2, false},
	{"nat4-hit-10k-vs-1-vserver", 10_000, 1.1, false},
}

// check says why a bar is missed, or nothing.
func (b *bar) check(all []*series, ref []float64) string {
	what := fmt.Sprintf("%s at %d flows", b.workload, b.flows)
	for _, s := range all {
		if s.workload != b.workload || s.flows != b.flows || len(s.samples) == 0 {
			continue
		}
		if b.absolute {
			if v := median(s.samples); v > b.most {
				return fmt.Sprintf("%s takes %.0f cycles a packet, %.0f are promised", what, v, b.most)
			}
			return ""
		}
		r := s.ratio(ref)
		if r == nil {
			return fmt.Sprintf("%s cannot be compared: %s was not measured", what, s.vs())
		}
		if *r > b.most {
			return fmt.Sprintf("%s takes %.2fx of %s, %gx is promised", what, *r, s.vs(), b.most)
		}
		return ""
	}
	return what + " was not measured"
}

// rows are the results.
func rows(all []*series, ref []float64) []row {
	var out []row
	for _, s := range all {
		if len(s.samples) > 0 {
			out = append(out, row{s.workload, s.flows, round(median(s.samples)), "cycles/packet", s.vs(), roundPtr(s.ratio(ref))})
		}
	}
	return out
}

func round(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }

func roundPtr(v *float64) *float64 {
	if v == nil {
		return nil
	}
	r := round(*v)
	return &r
}

// print writes the table.
func print(w io.Writer, all []*series, ref []float64, hz uint64) {
	fmt.Fprintf(w, "%-20s %9s %9s %9s %9s %9s\n", "cycles/packet", "flows", "best", "median", "ns", "ratio")
	for _, s := range all {
		if len(s.samples) == 0 {
			continue
		}
		ratio := "-"
		if r := s.ratio(ref); r != nil {
			ratio = fmt.Sprintf("%.2f", *r)
		}
		flows := "-"
		if s.flows > 0 {
			flows = fmt.Sprint(s.flows)
		}
		m := median(s.samples)
		fmt.Fprintf(w, "%-20s %9s %9.1f %9.1f %9.1f %9s to %s\n", s.workload, flows, slices.Min(s.samples), m, m*1e9/float64(hz), ratio, s.vs())
	}
}

// save writes rows to a file, whole or not at all.
func save(file string, rows []row) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	tmp := file + ".new"
	if err := os.WriteFile(tmp, append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp, file)
}
