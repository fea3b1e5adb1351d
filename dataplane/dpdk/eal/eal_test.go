package eal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/yerden/go-dpdk/eal"
	"github.com/yerden/go-dpdk/internal/testeal"
)

// role makes a second process of the test binary play one of the roles below: EAL starts once in a process.
const role = "SLUICE_EAL_ROLE"

var roles = map[string]func() int{
	"bad-option": func() int {
		_, err := eal.Init([]string{"test", "--no-such-option"})
		fmt.Println(err)
		return 0
	},
	"panic": func() int {
		if _, err := eal.Init(testeal.Args()); err != nil {
			fmt.Println(err)
			return 3
		}
		_ = eal.ExecOnMain(func(*eal.LcoreCtx) { panic("not survived") })
		return 0
	},
	"stop": func() int {
		if _, err := eal.InitCmd(strings.Join(testeal.Args(), " ")); err != nil {
			fmt.Println(err)
			return 3
		}
		eal.StopLcores()
		fmt.Println(eal.ExecOnMain(func(*eal.LcoreCtx) {}), eal.Cleanup())
		return 0
	},
}

func TestMain(m *testing.M) {
	if run := roles[os.Getenv(role)]; run != nil {
		os.Exit(run())
	}
	eal.PanicAsErr = true
	os.Exit(testeal.Main(m.Run))
}

func play(t *testing.T, name string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+name)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestWrongOptionIsAnErrorAndNotTheEnd(t *testing.T) {
	out, err := play(t, "bad-option")
	if err != nil || !strings.Contains(out, "rte_eal_init: invalid argument") {
		t.Fatalf("status %v, output:\n%s", err, out)
	}
}

func TestPanicEndsTheProcessByDefault(t *testing.T) {
	out, err := play(t, "panic")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(out, "panic: not survived") {
		t.Fatalf("status %v, output:\n%s", err, out)
	}
}

func TestStopLcoresThenCleanup(t *testing.T) {
	out, err := play(t, "stop")
	if err != nil || !strings.Contains(out, "eal: no such lcore <nil>") {
		t.Fatalf("status %v, output:\n%s", err, out)
	}
}

func TestInitTwiceFails(t *testing.T) {
	if _, err := eal.Init(testeal.Args()); err == nil {
		t.Fatal("a second Init succeeded")
	}
	if _, err := eal.Init(nil); err == nil {
		t.Fatal("an empty argument vector was accepted")
	}
	if _, err := eal.InitCmd(`test "--open`); err == nil || !strings.Contains(err.Error(), "not closed") {
		t.Fatalf("open quote: %v", err)
	}
	// The lcores are still those of the first Init.
	if err := eal.ExecOnMain(func(*eal.LcoreCtx) {}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatEALTells(t *testing.T) {
	if got := eal.Lcores(); !slices.Equal(got, []uint{0, 1}) {
		t.Errorf("Lcores %v", got)
	}
	if got := eal.LcoresWorker(); !slices.Equal(got, []uint{1}) {
		t.Errorf("LcoresWorker %v", got)
	}
	if eal.LcoreCount() != 2 || eal.GetMainLcore() != 0 || eal.ProcessType() != 0 {
		t.Errorf("count %d, main %d, process type %d", eal.LcoreCount(), eal.GetMainLcore(), eal.ProcessType())
	}
	if eal.HasPCI() {
		t.Error("PCI in spite of --no-pci")
	}
	if eal.LcoreToSocket(0) != 0 {
		t.Errorf("lcore 0 is on socket %d", eal.LcoreToSocket(0))
	}
	if !strings.HasPrefix(eal.PmdPath, "/") {
		t.Errorf("PmdPath %q", eal.PmdPath)
	}
}

func TestFunctionsRunOnTheirLcore(t *testing.T) {
	for _, id := range eal.Lcores() {
		var ran, socket uint
		var name string
		err := eal.ExecOnLcore(id, func(ctx *eal.LcoreCtx) {
			ran, socket, name = eal.LcoreID(), eal.SocketID(), ctx.String()
			ctx.Value = id * 10
		})
		if err != nil || ran != id || socket != 0 || name != fmt.Sprintf("lcore %d", id) {
			t.Errorf("lcore %d: %v, ran on %d, socket %d, name %q", id, err, ran, socket, name)
		}
	}
	for _, id := range eal.Lcores() {
		var value any
		if err := eal.ExecOnLcore(id, func(ctx *eal.LcoreCtx) { value = ctx.Value }); err != nil || value != id*10 {
			t.Errorf("lcore %d: %v, value %v did not persist", id, err, value)
		}
	}
	if err := eal.ExecOnLcore(77, func(*eal.LcoreCtx) { t.Error("ran") }); err != eal.ErrLcoreInvalid {
		t.Errorf("lcore 77: %v", err)
	}
}

func TestAsync(t *testing.T) {
	if eal.ExecOnLcoreAsync(77, nil, func(*eal.LcoreCtx) {}) != nil {
		t.Error("a nil channel did not come back nil")
	}
	ran := make(chan bool, 1)
	eal.ExecOnLcoreAsync(1, nil, func(*eal.LcoreCtx) { ran <- true })
	<-ran
	ret := make(chan error, 2)
	for range 2 {
		eal.ExecOnLcoreAsync(1, ret, func(*eal.LcoreCtx) {})
	}
	if err := errors.Join(<-ret, <-ret); err != nil {
		t.Error(err)
	}
}

func TestPanicBecomesAnError(t *testing.T) {
	cause := errors.New("cause")
	err := eal.ExecOnLcore(1, func(*eal.LcoreCtx) { fail(cause) })
	var p *eal.ErrLcorePanic
	if !errors.As(err, &p) || p.LcoreID != 1 || p.R != cause || !errors.Is(err, cause) {
		t.Fatalf("%#v", err)
	}
	var stack strings.Builder
	p.FprintStack(&stack)
	if !strings.Contains(stack.String(), "eal_test.fail at ") {
		t.Errorf("the stack does not name the function:\n%s", stack.String())
	}
	if err := eal.ExecOnLcore(1, func(*eal.LcoreCtx) { panic(7) }); errors.Unwrap(err) != nil || err.Error() != "eal: panic on lcore 1: 7" {
		t.Errorf("%v", err)
	}
	if err := eal.ExecOnLcore(1, func(*eal.LcoreCtx) {}); err != nil {
		t.Errorf("the lcore did not survive: %v", err)
	}
}

//go:noinline
func fail(err error) { panic(err) }
