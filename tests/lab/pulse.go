package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// pulseResult is what `lab pulse` prints as JSON. Times are seconds since 1970, of the beginning of a request.
type pulseResult struct {
	OK, Failed int
	Longest    float64 // time between two requests in a row that were answered: how long nobody was
	From, To   float64 // these two
}

// pulse sends requests at a steady rate, each on a connection of its own, for a while or until a file appears, and tells for how
// long none was answered.
func pulse(args []string) error {
	f := flag.NewFlagSet("pulse", flag.ContinueOnError)
	rate := f.Int("rate", 100, "requests a second")
	most := f.Duration("for", time.Minute, "how long")
	until := f.String("until", "", "file at whose appearance it ends")
	timeout := f.Duration("timeout", 400*time.Millisecond, "after which a request has failed")
	if err := f.Parse(args); err != nil || f.NArg() != 1 {
		return fmt.Errorf("usage: lab pulse [-rate N] [-for T] [-until FILE] [-timeout T] URL")
	}
	var mu sync.Mutex
	var answered []float64
	var r pulseResult
	var wg sync.WaitGroup
	tick := time.NewTicker(time.Second / time.Duration(*rate))
	defer tick.Stop()
	for end := time.Now().Add(*most); time.Now().Before(end); <-tick.C {
		if _, err := os.Stat(*until); err == nil && *until != "" {
			break
		}
		wg.Go(func() {
			at := float64(time.Now().UnixMicro()) / 1e6
			_, err := fetch(f.Arg(0), *timeout)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				r.Failed++
				return
			}
			answered = append(answered, at)
		})
	}
	wg.Wait()
	r.OK = len(answered)
	slices.Sort(answered)
	for i := 1; i < len(answered); i++ {
		if d := answered[i] - answered[i-1]; d > r.Longest {
			r.Longest, r.From, r.To = d, answered[i-1], answered[i]
		}
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
