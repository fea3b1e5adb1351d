package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"sluice/tests/lab/topology"
)

type vrrpOptions struct {
	smoke  bool
	rounds int
	out    string
}

// vrrp measures for how long nobody answers while another appliance takes a VIP over, in each way in which that comes about, beside
// what the timers of the protocol say: the real programs in network namespaces, 100 requests a second, an advertisement each 200 ms.
func vrrp(o vrrpOptions) (err error) {
	if o.rounds == 0 {
		if o.rounds = 3; o.smoke {
			o.rounds = 1
		}
	}
	root, err := repository()
	if err != nil {
		return err
	}
	lab, err := topology.New(fmt.Sprintf("vrrp3@bench%d", os.Getpid()%10000), filepath.Join(root, "bin"))
	if err != nil {
		return err
	}
	if err := lab.Up(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lab.Down()) }()
	if _, err := lab.VRRP(1).Script(lab.VRRPScript(1)); err != nil {
		return err
	}
	if err := lab.VRRPSettled(); err != nil {
		return err
	}
	var rows []row
	var missed []string
	fmt.Printf("%-26s %9s %9s %9s %9s\n", "seconds", "best", "median", "worst", "formula")
	for _, k := range topology.VRRPTakeovers() {
		var took []float64
		for range o.rounds {
			p, err := lab.VRRPMeasure(&k)
			if err != nil {
				return fmt.Errorf("%s: %w", k.Name, err)
			}
			took = append(took, p.Longest)
		}
		slices.Sort(took)
		m, formula, worst := median(took), k.Formula.Seconds(), took[len(took)-1]
		fmt.Printf("%-26s %9.3f %9.3f %9.3f %9.3f = %s\n", "takeover-"+k.Name, took[0], m, worst, formula, k.Because)
		ratio := round(m / formula)
		rows = append(rows, row{"takeover-" + k.Name, 0, round3(m), "seconds", "formula", &ratio})
		if most := k.Formula + k.Beyond; worst > most.Seconds() && !o.smoke {
			missed = append(missed, fmt.Sprintf("takeover-%s: %.3f s, and %v are promised", k.Name, worst, most))
		}
	}
	if err := save(filepath.Join(o.out, "vrrp.json"), rows); err != nil {
		return err
	}
	for _, m := range missed {
		err = errors.Join(err, errors.New(m))
	}
	return err
}

func round3(v float64) float64 { return float64(int64(v*1000+0.5)) / 1000 }
