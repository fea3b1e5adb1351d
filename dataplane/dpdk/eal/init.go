package eal

/*
#cgo pkg-config: libdpdk
#include <errno.h>
#include <stdlib.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

int goDpdkLcoreMain(void *arg); // Go: see lcore.go

// rte_errno lives in thread-local storage; copying it to errno lets cgo hand it over with the result.
static int eal_init(int argc, char **argv) {
	int n = rte_eal_init(argc, argv);
	errno = n < 0 ? rte_errno : 0;
	return n;
}

static int eal_launch(void) {
	return rte_eal_mp_remote_launch(goDpdkLcoreMain, NULL, SKIP_MAIN);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"unsafe"
)

// Init starts EAL. args is a whole argument vector: args[0] is the program's name, the options of EAL follow and may
// be ended by "--". n is how many of them, the name included, EAL has used up.
//
// EAL takes the calling thread as its main lcore for good, so Init gives it one of its own: a goroutine that stays
// locked to its thread and from then on runs what ExecOnMain sends. EAL can be started once in a process; a second
// call fails.
func Init(args []string) (n int, err error) {
	if len(args) == 0 {
		return 0, errors.New("eal: the argument vector is empty: its first element must be the program's name")
	}
	type result struct {
		n   int
		err error
	}
	started := make(chan result, 1)
	go func() {
		// Never unlocked: when StopLcores has ended this lcore, the thread ends with the goroutine.
		runtime.LockOSThread()
		n, err := initAndLaunch(args)
		started <- result{n, err}
		if err == nil {
			lcoreMain()
		}
	}()
	r := <-started
	return r.n, r.err
}

// InitCmd is Init with one line of text that is split at white space; a part between double or single quotes is kept
// together. The first word is the program's name.
func InitCmd(input string) (int, error) {
	args, err := splitArgs(input)
	if err != nil {
		return 0, err
	}
	return Init(args)
}

// initAndLaunch must run on the thread that is to be the main lcore.
func initAndLaunch(args []string) (int, error) {
	argc, argv := cArgv(args)
	n, err := C.eal_init(argc, argv)
	if n < 0 {
		if err == nil {
			err = syscall.EINVAL
		}
		return int(n), fmt.Errorf("eal: rte_eal_init: %w", err)
	}
	openLcores(Lcores())
	if rc := C.eal_launch(); rc != 0 {
		return int(n), fmt.Errorf("eal: launching the lcores: %w", syscall.Errno(-rc))
	}
	return int(n), nil
}

// cArgv copies args to C memory. It is never freed: EAL and its drivers may keep pointers into the strings, and it
// also reorders and writes to the array.
func cArgv(args []string) (C.int, **C.char) {
	argv := (**C.char)(C.calloc(C.size_t(len(args)+1), C.size_t(unsafe.Sizeof(uintptr(0)))))
	slots := unsafe.Slice(argv, len(args)+1)
	for i, a := range args {
		slots[i] = C.CString(a)
	}
	return C.int(len(args)), argv
}

// splitArgs splits a command line at white space outside quotes.
func splitArgs(input string) ([]string, error) {
	var (
		args   []string
		word   strings.Builder
		inWord bool
		quote  rune
	)
	for _, r := range input {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, inWord = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if inWord {
				args = append(args, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("eal: the quote %c in the EAL arguments is not closed", quote)
	}
	if inWord {
		args = append(args, word.String())
	}
	return args, nil
}
