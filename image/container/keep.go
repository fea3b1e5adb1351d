package main

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// program is one that must run as long as the container does.
type program struct {
	name string
	args []string
}

// pause is between the end of a program and its next start; it doubles up to the longest while the program does not last.
const (
	pause   = 100 * time.Millisecond
	longest = 5 * time.Second
	lasting = 10 * time.Second
)

// keeper starts programs again that have ended. It is the container's first process: it also takes leave of processes
// whose parents have ended before them.
type keeper struct {
	log      *slog.Logger
	programs []program
	running  map[int]int // pid -> index of programs
	started  []time.Time
	pauses   []time.Duration
}

func newKeeper(log *slog.Logger, programs []program) *keeper {
	return &keeper{log: log, programs: programs, running: map[int]int{}, started: make([]time.Time, len(programs)), pauses: make([]time.Duration, len(programs))}
}

// end is a process that has ended.
type end struct {
	pid    int
	status unix.WaitStatus
}

// reap tells of every process that ends until it is told to stop. Nothing else in this program waits for a process.
func reap(ended chan<- end, children <-chan os.Signal, done <-chan struct{}) {
	for {
		for {
			var status unix.WaitStatus
			pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
			if err == unix.EINTR {
				continue
			}
			if err != nil || pid == 0 {
				break
			}
			select {
			case ended <- end{pid, status}:
			case <-done:
				return
			}
		}
		select {
		case <-children:
		case <-done:
			return
		}
	}
}

// start starts program i, in a process group of its own, so that what it has started ends with it.
func (k *keeper) start(i int) error {
	p := k.programs[i]
	proc, err := os.StartProcess(p.args[0], p.args, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}, Env: os.Environ(), Sys: &syscall.SysProcAttr{Setpgid: true}})
	if err != nil {
		return fmt.Errorf("%s cannot be started: %w", p.name, err)
	}
	k.running[proc.Pid], k.started[i] = i, time.Now()
	return proc.Release() // reap waits for it
}

// after is how long program i rests before its next start.
func (k *keeper) after(i int) time.Duration {
	if time.Since(k.started[i]) > lasting || k.pauses[i] == 0 {
		k.pauses[i] = pause
	} else {
		k.pauses[i] = min(2*k.pauses[i], longest)
	}
	return k.pauses[i]
}

// run keeps the programs running until stop, then ends them within most.
func (k *keeper) run(stop <-chan os.Signal, most time.Duration) error {
	children := make(chan os.Signal, 1)
	signal.Notify(children, syscall.SIGCHLD)
	defer signal.Stop(children)
	ended, again, done := make(chan end), make(chan int), make(chan struct{})
	defer close(done)
	go reap(ended, children, done)
	for i := range k.programs {
		if err := k.start(i); err != nil {
			return err
		}
	}
	for {
		select {
		case e := <-ended:
			i, ours := k.running[e.pid]
			if !ours {
				continue
			}
			delete(k.running, e.pid)
			rest := k.after(i)
			k.log.Error("a program has ended and is started again", "program", k.programs[i].name, "how", how(e.status), "in", rest)
			later(rest, i, again, done)
		case i := <-again:
			if err := k.start(i); err != nil {
				k.log.Error(err.Error())
				later(longest, i, again, done)
			}
		case <-stop:
			return k.finish(ended, most)
		}
	}
}

// later sends i after a while, unless all is over by then.
func later(rest time.Duration, i int, again chan<- int, done <-chan struct{}) {
	time.AfterFunc(rest, func() {
		select {
		case again <- i:
		case <-done:
		}
	})
}

// finish ends all that runs, by force what has not ended in time.
func (k *keeper) finish(ended <-chan end, most time.Duration) error {
	for pid := range k.running {
		_ = unix.Kill(pid, unix.SIGTERM)
	}
	deadline := time.After(most)
	for len(k.running) > 0 {
		select {
		case e := <-ended:
			delete(k.running, e.pid)
		case <-deadline:
			for pid, i := range k.running {
				k.log.Error("a program did not end in time and is killed", "program", k.programs[i].name)
				_ = unix.Kill(-pid, unix.SIGKILL)
			}
			return nil
		}
	}
	return nil
}

// how says how a process has ended.
func how(s unix.WaitStatus) string {
	if s.Signaled() {
		return "killed by " + s.Signal().String()
	}
	return fmt.Sprintf("status %d", s.ExitStatus())
}
