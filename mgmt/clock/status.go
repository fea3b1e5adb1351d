package clock

import (
	"context"
	"encoding/csv"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// patience is how long chronyd may take to say something.
const patience = 5 * time.Second

// Status is how the clock stands.
type Status struct {
	Off          bool    // nobody is to be followed
	Adjust       bool    // the clock is set; else only watched
	Problem      string  // why nothing is known
	Synchronized bool    // some server is followed
	Reference    string  // its address
	Stratum      int     // of this machine: one more than that of the server
	Ahead        float64 // seconds by which this clock is ahead of that server
	Leap         string
	Sources      []Source
	Unresolved   map[string]string // names of servers without an answer, and why
}

// Source is one server, as chronyd sees it.
type Source struct {
	Address       string
	State         string // as chrony marks it: * followed, + agrees, - not needed, x does not agree, ~ too unsteady, ? does not answer
	Stratum, Poll int    // Poll: power of two, in seconds
	Reach         int    // the last eight looks, a bit each
	Since         time.Duration
	Ahead         float64 // seconds by which this clock is ahead of the server's
	Error         float64 // bound of that
}

// ask has chronyd tell how the clock stands.
func (d *daemon) ask(ctx context.Context) (Status, error) {
	tracking, err := d.chronyc(ctx, "tracking")
	if err != nil {
		return Status{}, err
	}
	sources, err := d.chronyc(ctx, "sources")
	if err != nil {
		return Status{}, err
	}
	return parse(tracking, sources)
}

// chronyc asks one thing; the answer is in rows of fields.
func (d *daemon) chronyc(ctx context.Context, words ...string) ([][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "chronyc", append([]string{"-n", "-c", "-h", d.path("socket")}, words...)...).Output()
	if err != nil {
		return nil, errors.New("chronyd does not answer: it is starting or has ended, see the log")
	}
	r := csv.NewReader(strings.NewReader(string(out)))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	return r.ReadAll()
}

var errStrange = errors.New("what chronyd says is not understood")

// parse reads `chronyc -c tracking` and `sources`.
func parse(tracking, sources [][]string) (Status, error) {
	if len(tracking) != 1 || len(tracking[0]) < 14 {
		return Status{}, errStrange
	}
	t := tracking[0]
	s := Status{Leap: t[13], Synchronized: t[13] != "Not synchronised"}
	if s.Synchronized {
		s.Reference = t[1]
		s.Stratum, _ = strconv.Atoi(t[2])
	}
	for _, r := range sources {
		if len(r) < 10 {
			return Status{}, errStrange
		}
		n := make([]int64, 10)
		for _, i := range []int{3, 4, 6} {
			n[i], _ = strconv.ParseInt(r[i], 10, 64)
		}
		reach, _ := strconv.ParseUint(r[5], 8, 8)
		one := Source{Address: r[2], State: r[1], Stratum: int(n[3]), Poll: int(n[4]), Reach: int(reach)}
		if n[6] < 1<<31 { // else it has not answered yet
			one.Since = time.Duration(n[6]) * time.Second
		}
		one.Ahead, _ = strconv.ParseFloat(r[7], 64)
		one.Error, _ = strconv.ParseFloat(r[9], 64)
		s.Sources = append(s.Sources, one)
	}
	if i := slices.IndexFunc(s.Sources, func(o Source) bool { return o.State == "*" }); i >= 0 {
		s.Ahead = s.Sources[i].Ahead
	}
	return s, nil
}
