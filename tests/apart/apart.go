// Package apart runs a room's tests out of sight of the rest of the machine, with mounts and networks of their own that end with them, and
// gives them disks and peers that are the kernel's own.
package apart

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Kinds of what is apart.
const (
	Mounts  = unix.CLONE_NEWNS
	Network = unix.CLONE_NEWNET
)

const inside = "SLUICE_TEST_APART"

// Main is a package's TestMain.
func Main(m *testing.M, kinds uintptr) {
	if os.Getenv(inside) != "" {
		os.Exit(m.Run())
	}
	runtime.LockOSThread() // Pdeathsig is about this thread
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Env, c.Stdin, c.Stdout, c.Stderr = append(os.Environ(), inside+"=yes"), os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: kinds, Pdeathsig: syscall.SIGKILL}
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Loop is a device of the kernel for a file, which is made that long; 0 leaves it as it is.
func Loop(t testing.TB, file string, size int64) string {
	t.Helper()
	if size > 0 {
		f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
		if err == nil {
			err = errors.Join(f.Truncate(size), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	device := strings.TrimSpace(Run(t, "losetup", "--show", "-f", file))
	t.Cleanup(func() { Run(t, "losetup", "-d", device) })
	return device
}

// Run runs a program that has to end well, and returns what it prints.
func Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Peer is another machine, at the other end of a cable.
type Peer struct{ pid int }

// Cable makes a pair of cards: mine here, and theirs at a new peer. Both are up, and the peer has these addresses.
func Cable(t testing.TB, mine, theirs string, addresses ...string) *Peer {
	t.Helper()
	c := exec.Command("sleep", "infinity")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	p := &Peer{c.Process.Pid}
	Run(t, "ip", "link", "add", mine, "type", "veth", "peer", "name", theirs, "netns", strconv.Itoa(p.pid))
	t.Cleanup(func() { _ = exec.Command("ip", "link", "del", mine).Run() })
	Run(t, "ip", "link", "set", mine, "up")
	for _, a := range append([][]string{{"link", "set", "lo", "up"}, {"link", "set", theirs, "up"}}, addressing(theirs, addresses)...) {
		p.Run(t, "ip", a...)
	}
	return p
}

func addressing(device string, addresses []string) (all [][]string) {
	for _, a := range addresses {
		all = append(all, []string{"addr", "add", a, "dev", device})
	}
	return all
}

// Run is Run at the peer.
func (p *Peer) Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	return Run(t, "nsenter", p.args(name, args)...)
}

// Command is a program at the peer before it is started.
func (p *Peer) Command(name string, args ...string) *exec.Cmd {
	c := exec.Command("nsenter", p.args(name, args)...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return c
}

func (p *Peer) args(name string, args []string) []string {
	return append([]string{"-t", strconv.Itoa(p.pid), "-n", name}, args...)
}
