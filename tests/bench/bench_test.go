package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// asBench makes the test binary be the program: DPDK starts once in a process and takes its CPU.
const asBench = "SLUICE_BENCH_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asBench) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func bench(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asBench+"=1")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestSmoke runs the bench for real but short: every packet right, nothing allocated, nothing leaked, results written.
func TestSmoke(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	out, err := bench(t, "l4", "-smoke", "-out", dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(out)
	text, err := os.ReadFile(filepath.Join(dir, "l4-smoke.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got []row
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var have []string
	for _, r := range got {
		have = append(have, fmt.Sprintf("%s %d", r.Workload, r.Flows))
		unit, vs := "cycles/packet", "testpmd-5tswap"
		switch r.Workload {
		case "workers-2", "workers-2-crossed":
			unit, vs = "x", "workers-1"
		case "nat4-hit-vs-c":
			vs = "nat4-hit-c"
		case "nat4-hit-10k-vs-1-vserver":
			vs = "nat4-hit-1-vserver"
		case "nat4-hit-vs-floor":
			vs = "memory-floor"
		case "persistence-hit":
			vs = "nat4-hit"
		case "persistence-new-flow":
			vs = "new-flow"
		}
		if r.Value <= 0 || r.Unit != unit || r.Vs != vs || r.Ratio == nil || *r.Ratio <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	want := []string{"bare 1", "bare 10000", "bare 1000000", "nat4-hit 1", "nat4-hit 10000", "nat4-hit 1000000",
		"nat4-hit-c 1", "nat4-hit-c 10000", "nat4-hit-c 1000000", "new-flow 1", "new-flow 10000", "new-flow 1000000",
		"persistence-hit 1", "persistence-hit 10000", "persistence-hit 1000000",
		"persistence-new-flow 1", "persistence-new-flow 10000", "persistence-new-flow 1000000", "memory-floor 1000000",
		"nat4-hit-vs-c 1", "nat4-hit-vs-c 10000", "nat4-hit-vs-c 1000000", "dsr-hit 10000", "mac-hit 10000", "ipip-hit 10000", "sessionless 10000",
		"nat4-hit-1-vserver 10000", "nat4-hit-10k-vservers 10000", "nat4-hit-10k-vs-1-vserver 10000", "nat4-hit-vs-floor 1000000"}
	if runtime.NumCPU() > 1 {
		want = append(want, "workers-2 1000000", "workers-2-crossed 1000000")
	}
	if !slices.Equal(have, want) {
		t.Errorf("rows %q, want %q", have, want)
	}
	// The program's own folder for DPDK is the only thing that it makes elsewhere.
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "sluice-bench-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// TestManagementSmoke gives the real programs a thousand services and a command of every kind.
func TestManagementSmoke(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	out, err := bench(t, "mgmt", "-smoke", "-out", dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Log(out)
	text, err := os.ReadFile(filepath.Join(dir, "mgmt-smoke.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got []row
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var have []string
	for _, r := range got {
		have = append(have, r.Workload)
		if r.Value <= 0 {
			t.Errorf("row %+v", r)
		}
	}
	if want := []string{"commit-1k", "load-100k-lines", "tab-10k", "change-10k-vservers", "import-100k-lines", "memory-10k-vservers", "commit-gap-cpu", "commit-gap-wall-p99"}; !slices.Equal(have, want) {
		t.Errorf("rows %q, want %q", have, want)
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"l5"}, {"l4", "-no-such-flag"}, {"l4", "more"}} {
		out, err := bench(t, args...)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(out, "usage: bench l4") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// A verification that cannot fail would let the bench measure garbage.
func TestEveryChangedByteIsSeen(t *testing.T) {
	for _, id := range []uint32{0, 7, 123456} { // TCP, UDP, TCP
		p := fromClient(id, flagACK, false)
		var d [frameLen]byte
		p.write(d[:])
		if err := p.check(d[:]); err != nil {
			t.Fatal(err)
		}
		if read(d[:]) != p {
			t.Errorf("read gives %+v, written was %+v", read(d[:]), p)
		}
		for i := range d {
			for _, x := range []byte{1, 0x80, 0xff} {
				d[i] ^= x
				if p.check(d[:]) == nil {
					t.Errorf("flow %d: byte %d changed by %#x is not seen", id, i, x)
				}
				d[i] ^= x
			}
		}
		if p.check(d[:frameLen-1]) == nil {
			t.Error("a missing byte is not seen")
		}
	}
}

func TestFlowsHaveTuplesOfTheirOwn(t *testing.T) {
	seen := make(map[packet4]bool)
	udp := 0
	for i := range uint32(1 << 17) {
		id := i * 37
		p := fromClient(id, 0, false)
		if seen[p] {
			t.Fatalf("flow %d has the tuple of another", id)
		}
		seen[p] = true
		if p.proto == protoUDP {
			udp++
		}
	}
	if udp != 1<<17/8 {
		t.Errorf("%d of %d flows are UDP, want one in 8", udp, 1<<17)
	}
}

func TestChoice(t *testing.T) {
	in := fromClient(vips/2, flagSYN, false) // the address of index 25: bound to the services from 16 on
	good := chosen{port: 2000, server: 20}.toServer(in)
	if c, err := choice(in, good); err != nil || c != (chosen{2000, 20}) {
		t.Errorf("%+v, %v", c, err)
	}
	for what, change := range map[string]func(*packet4){
		"port below the range": func(p *packet4) { p.srcPort = snipLo - 1 },
		"port above the range": func(p *packet4) { p.srcPort = snipHi + 1 },
		"no server":            func(p *packet4) { p.dst = server0 + servers },
		"server not bound":     func(p *packet4) { p.dst = server0 + 3 },
		"address below":        func(p *packet4) { p.dst = server0 - 1 },
	} {
		p := good
		change(&p)
		if c, err := choice(in, p); err == nil {
			t.Errorf("%s: accepted as %+v", what, c)
		}
	}
}

func TestMedianAndRatio(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{5, 1, 9}, 5}, {[]float64{4, 1, 9, 2}, 3}} {
		if got := median(c.in); got != c.want {
			t.Errorf("median of %v is %v", c.in, got)
		}
	}
	// Round by round: a machine that was slow in one round slowed both.
	s := series{samples: []float64{20, 60, 30}}
	if r := s.ratio([]float64{10, 30, 10}); r == nil || *r != 2 {
		t.Errorf("ratio %v, want the median of 2, 2, 3", r)
	}
	if r := s.ratio(nil); r != nil {
		t.Errorf("ratio %v to nothing", *r)
	}
}

func TestBars(t *testing.T) {
	ref := []float64{10, 10}
	all := []*series{
		{workload: "nat4-hit", flows: 1, samples: []float64{20, 20}},
		{workload: "nat4-hit", flows: 10_000, samples: []float64{41, 41}},
		{workload: "new-flow", flows: 1_000_000, samples: []float64{700, 701}},
	}
	all = append(all, &series{workload: "persistence-hit", flows: 1, samples: []float64{24, 24}, to: all[0]},
		&series{workload: "persistence-hit", flows: 10_000, samples: []float64{82, 82}, to: all[1]})
	var missed []string
	for _, b := range bars {
		missed = append(missed, b.check(all, ref))
	}
	want := []string{"", "nat4-hit at 10000 flows takes 4.10x of testpmd-5tswap, 4x is promised",
		"nat4-hit at 1000000 flows was not measured", "new-flow at 1000000 flows takes 700 cycles a packet, 700 are promised",
		"", "persistence-hit at 10000 flows takes 2.00x of nat4-hit, 1.2x is promised", "persistence-hit at 1000000 flows was not measured",
		"nat4-hit-10k-vs-1-vserver at 10000 flows was not measured"}
	if !slices.Equal(missed, want) {
		t.Errorf("got %q\nwant %q", missed, want)
	}
	if why := bars[0].check(all, nil); why != "nat4-hit at 1 flows cannot be compared: testpmd-5tswap was not measured" {
		t.Errorf("without a peer: %q", why)
	}
}

func TestRowsWithoutPeerHaveANullRatio(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sub", "x.json")
	if err := save(file, rows([]*series{{workload: "bare", flows: 1, samples: []float64{7.126}}, {workload: "empty", flows: 1}}, nil)); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(file)
	want := `[{"workload":"bare","flows":1,"value":7.13,"unit":"cycles/packet","vs":"testpmd-5tswap","ratio":null}]`
	if got := strings.Join(strings.Fields(string(text)), ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestParseCycles(t *testing.T) {
	v, err := parseCycles("  CPU cycles/packet=13.94 (total cycles=648829198 / total 5tswap packets=46545472) at 2200 MHz Clock")
	if err != nil || v != 13.94 {
		t.Errorf("%v, %v", v, err)
	}
	for _, line := range []string{"", "CPU cycles/packet=", "CPU cycles/packet=0.00 (", "CPU cycles/packet=1.2.3 ("} {
		if v, err := parseCycles(line); err == nil {
			t.Errorf("%q: %v", line, v)
		}
	}
}

// TestClockStandsStill: what passes while the worker is not measured is hidden from it.
func TestClockStandsStill(t *testing.T) {
	c := clock{}
	c.stop(1000)
	c.start(5000)
	if c.hidden != 4000 {
		t.Errorf("%d cycles hidden, want 4000", c.hidden)
	}
	a := c.read()
	c.skip(1 << 40)
	if b := c.read(); b-a < 1<<40 || b-a > 1<<40+1<<36 {
		t.Errorf("%d cycles passed", b-a)
	}
}
