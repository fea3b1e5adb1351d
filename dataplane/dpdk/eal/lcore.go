package eal

/*
#cgo pkg-config: libdpdk
#include <rte_lcore.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"unsafe"
)

// PanicAsErr decides what a panic in a function on an lcore does. If true, the lcore survives and the caller gets an
// *ErrLcorePanic. If false, the panic ends the process as any other. Set it before any lcore function runs.
var PanicAsErr = false

// ErrLcoreInvalid tells that EAL runs no lcore of that number.
var ErrLcoreInvalid = errors.New("eal: no such lcore")

// LcoreCtx is the context of one lcore. It is handed to every function that runs there.
type LcoreCtx struct {
	// Value is the user's; it persists from one function on that lcore to the next.
	Value interface{}

	id   uint
	jobs chan job
	done bool // set on the lcore itself: it leaves its loop after this job
}

// String tells the lcore's number.
func (ctx *LcoreCtx) String() string {
	return fmt.Sprintf("lcore %d", ctx.id)
}

type job struct {
	fn  func(*LcoreCtx)
	ret chan error // may be nil: nobody waits
}

// lcores are EAL's lcores by number: started never shrinks, since an lcore finds itself there however late its thread
// gets to run; open are those that take functions, none after StopLcores.
var lcores struct {
	sync.RWMutex
	started, open map[uint]*LcoreCtx
}

func openLcores(ids []uint) {
	lcores.Lock()
	defer lcores.Unlock()
	lcores.started = make(map[uint]*LcoreCtx, len(ids))
	for _, id := range ids {
		lcores.started[id] = &LcoreCtx{id: id, jobs: make(chan job)}
	}
	lcores.open = lcores.started
}

func openLcore(id uint) *LcoreCtx {
	lcores.RLock()
	defer lcores.RUnlock()
	return lcores.open[id]
}

// lcoreMain serves the lcore of the calling thread until StopLcores.
func lcoreMain() {
	lcores.RLock()
	ctx := lcores.started[LcoreID()]
	lcores.RUnlock()
	for !ctx.done {
		j := <-ctx.jobs
		err := run(ctx, j.fn)
		if j.ret != nil {
			j.ret <- err
		}
	}
}

func run(ctx *LcoreCtx, fn func(*LcoreCtx)) (err error) {
	if PanicAsErr {
		defer func() {
			if r := recover(); r != nil {
				pc := make([]uintptr, 64)
				// Skips runtime.Callers and this function.
				err = &ErrLcorePanic{Pc: pc[:runtime.Callers(2, pc)], LcoreID: ctx.id, R: r}
			}
		}()
	}
	fn(ctx)
	return nil
}

//export goDpdkLcoreMain
func goDpdkLcoreMain(unsafe.Pointer) C.int {
	lcoreMain()
	return 0
}

// ExecOnLcoreAsync has fn run on an lcore and returns ret, to which fn's outcome is sent when it has ended: nil, an
// *ErrLcorePanic (see PanicAsErr) or, at once, ErrLcoreInvalid. If ret is nil nothing is reported. The call itself
// waits while the lcore is busy with another function.
func ExecOnLcoreAsync(lcoreID uint, ret chan error, fn func(*LcoreCtx)) <-chan error {
	if ctx := openLcore(lcoreID); ctx != nil {
		ctx.jobs <- job{fn, ret}
	} else if ret != nil {
		ret <- ErrLcoreInvalid
	}
	return ret
}

// ExecOnLcore runs fn on an lcore, waits for its end and returns its outcome as ExecOnLcoreAsync does. An lcore
// that calls it for itself waits for ever.
func ExecOnLcore(lcoreID uint, fn func(*LcoreCtx)) error {
	return <-ExecOnLcoreAsync(lcoreID, make(chan error, 1), fn)
}

// ExecOnMain is ExecOnLcore for the main lcore.
func ExecOnMain(fn func(*LcoreCtx)) error {
	return ExecOnLcore(GetMainLcore(), fn)
}

// StopLcores ends the loop of every lcore and returns when all have left it. Nothing can be executed on them
// afterwards: ExecOnLcore reports ErrLcoreInvalid.
func StopLcores() {
	lcores.Lock()
	running := lcores.open
	lcores.open = nil
	lcores.Unlock()
	ret := make(chan error, len(running))
	for _, ctx := range running {
		ctx.jobs <- job{func(ctx *LcoreCtx) { ctx.done = true }, ret}
	}
	for range running {
		<-ret
	}
}

// ErrLcorePanic is a panic that ended a function on an lcore.
type ErrLcorePanic struct {
	Pc      []uintptr   // call stack, innermost first
	LcoreID uint        // where it happened
	R       interface{} // value that recover returned
}

// Error tells the lcore and the panic's value.
func (e *ErrLcorePanic) Error() string {
	return fmt.Sprintf("eal: panic on lcore %d: %v", e.LcoreID, e.R)
}

// Unwrap returns the panic's value if it was an error.
func (e *ErrLcorePanic) Unwrap() error {
	err, _ := e.R.(error)
	return err
}

// FprintStack writes the call stack, one function a line.
func (e *ErrLcorePanic) FprintStack(w io.Writer) {
	frames := runtime.CallersFrames(e.Pc)
	for {
		f, more := frames.Next()
		if f.Function != "" {
			fmt.Fprintf(w, "%s at %s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return
		}
	}
}
