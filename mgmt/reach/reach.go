// Package reach asks other hosts how they are reached, as an operator does: by Debian's ping and traceroute, whose packets are
// the kernel's own, as those of monitors, and so go by the twins and the dataplane.
package reach

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

const (
	most       = 16               // programs that run at once: each is a process
	longest    = 20 * time.Hour   // 65535 echoes, one a second
	farewell   = 2 * time.Second  // for the summary, once it is asked to end
	unattended = "5"              // echoes where nobody can end it
	words      = 1 << 10          // bytes of what a program complains of
	nobody     = 65534            // as whom programs run when management is root
	asking     = 10 * time.Second // for the address of a name
)

// Reacher runs the programs.
type Reacher struct {
	Lookup func(ctx context.Context, domain string) ([]netip.Addr, error)
	Device func(port string) string // the kernel's side of a port; "": there is no such port
	slots  chan struct{}
}

// New returns a reacher with these ways to find addresses and devices.
func New(lookup func(context.Context, string) ([]netip.Addr, error), device func(string) string) *Reacher {
	return &Reacher{Lookup: lookup, Device: device, slots: make(chan struct{}, most)}
}

// Run executes ping or traceroute and writes what it says as it comes, until it ends or ctx does. attended: there is somebody
// who can end it.
func (r *Reacher) Run(ctx context.Context, op *grammar.Op, out io.Writer, attended bool) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	default:
		return schema.Refuse(schema.NotPermitted, op.Verb).Because(fmt.Sprintf("%d of them run already", most))
	}
	host, err := r.host(ctx, op, out)
	if err != nil {
		return err
	}
	device := ""
	if port, given := op.Arg("I"); given {
		if device = r.Device(port); device == "" {
			return schema.Refuse(schema.NoSuchRow, "I", port).Because("show interface names the ports")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if op.Verb == "ping" {
		return run(ctx, out, host, "ping", pingArgs(op, host, device, attended)...)
	}
	return run(ctx, out, host, "traceroute", traceArgs(op, host)...)
}

// host is the address that is asked; the first of a name's, which is said.
func (r *Reacher) host(ctx context.Context, op *grammar.Op, out io.Writer) (netip.Addr, error) {
	name, _ := op.Arg("hostName")
	if op.Verb == "traceroute" {
		name, _ = op.Arg("host")
	}
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip, nil
	}
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	found, err := r.Lookup(ctx, name)
	if err != nil || len(found) == 0 {
		return netip.Addr{}, schema.Refuse("Unknown host", name).Because(because(err))
	}
	fmt.Fprintf(out, "%s is %s\n", name, found[0])
	return found[0], nil
}

func because(err error) string {
	if err == nil {
		return "the name has no IPv4 address"
	}
	return err.Error()
}

// pingArgs are the arguments of iputils' ping. Names are never asked for: the appliance's name servers are not the machine's.
func pingArgs(op *grammar.Op, host netip.Addr, device string, attended bool) []string {
	args := []string{"-n"}
	for _, a := range []struct{ ours, theirs string }{{"c", "-c"}, {"i", "-i"}, {"p", "-p"}, {"s", "-s"}, {"S", "-I"}, {"t", "-w"}} {
		if v, _ := op.Arg(a.ours); v != "" {
			args = append(args, a.theirs, v)
		}
	}
	if _, given := op.Arg("c"); !given {
		count := unattended
		if attended {
			count = "65535"
		}
		args = append(args, "-c", count)
	}
	if device != "" {
		args = append(args, "-I", device)
	}
	if _, quiet := op.Arg("q"); quiet {
		args = append(args, "-q")
	}
	return append(args, "--", host.String())
}

// traceArgs are the arguments of Debian's traceroute.
func traceArgs(op *grammar.Op, host netip.Addr) []string {
	args := []string{"-n"}
	value := func(ours, otherwise string) string {
		if v, given := op.Arg(ours); given {
			return v
		}
		return otherwise
	}
	args = append(args, "-m", value("m", "64"))
	for _, a := range []struct{ ours, theirs string }{{"M", "-f"}, {"q", "-q"}, {"p", "-p"}, {"s", "-s"}, {"t", "-t"}, {"w", "-w"}} {
		if v, given := op.Arg(a.ours); given {
			args = append(args, a.theirs, v)
		}
	}
	switch value("P", "UDP") {
	case "ICMP":
		args = append(args, "-I")
	case "TCP":
		args = append(args, "-T")
	}
	if _, direct := op.Arg("r"); direct {
		args = append(args, "-r")
	}
	return append(args, "--", host.String(), value("packetlen", "44"))
}

// run runs a program as nobody, with no right but that to raw sockets. When ctx ends it is asked to end, as by Ctrl-C.
func run(ctx context.Context, out io.Writer, host netip.Addr, program string, args ...string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return schema.Refuse(schema.NotSupported, program).Because("the program is not installed")
	}
	complaint := &beginning{}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, complaint, "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin", "LANG=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_NET_RAW}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = farewell
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil, ctx.Err() != nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == 1 && program == "ping" && complaint.Len() == 0:
		return schema.Refuse("No answer", host.String())
	case complaint.Len() > 0:
		return schema.Refuse(schema.NotPermitted, program).Because(complaint.sentence(program))
	}
	return fmt.Errorf("%s to %s has failed: %w", program, host, err)
}

// beginning keeps what a program complains of first.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), words-min(b.Len(), words))])
	return len(p), nil
}

// sentence is the last line without the name of the program and of its functions.
func (b *beginning) sentence(program string) string {
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	text := lines[len(lines)-1]
	for _, begin := range []string{program + ": ", "connect: ", "bind: ", "send: ", "sendmsg: "} {
		text = strings.TrimPrefix(text, begin)
	}
	if strings.Contains(text, "assign requested address") {
		return "the source is no address of this appliance"
	}
	return strconv.QuoteToASCII(text)[1 : len(strconv.QuoteToASCII(text))-1]
}
