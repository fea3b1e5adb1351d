// Program lab brings topologies of network namespaces with real programs up and down, and holds the small programs that
// run inside them. The whole-system tests beside it use the same topologies. It contains nothing of the product.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"sluice/tests/lab/topology"
)

var usage = `usage:
  lab up TOPOLOGY              bring it up (` + strings.Join(topology.Names, ", ") + `; basic@TAG for one more) and leave it running
  lab down TOPOLOGY            take it down
  lab exec TOPOLOGY NODE CMD   run a command inside a node
  lab ssh TOPOLOGY [LINE]      log in to the appliance's shell, or run one line
  lab demo                     bring basic up, configure it over SSH, send traffic, say who served what
programs inside the lab:
  lab supervise PIDFILE PROGRAM [ARG...]
  lab udp-echo ADDRESS NAME
  lab udp-ask ADDRESS N
  lab udp-sink FILE ADDRESS...
  lab udp-tell PORT ADDRESS=N...
  lab late-answer ADDRESS FILE
  lab lie ADDRESS...
  lab unwrap DEVICE
  lab tcp-echo ADDRESS
  lab transparent ADDRESS
  lab talk [flags] ADDRESS...  see lab talk -h
  lab load [flags] URL         see lab load -h
  lab pulse [flags] URL        see lab pulse -h
  lab send [flags] DEVICE HEX  see lab send -h`

func main() {
	if err := command(os.Args[1:]); err != nil {
		if exit, ok := err.(*exec.ExitError); ok { // of exec and ssh, whose program has said why itself
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "lab:", err)
		os.Exit(1)
	}
}

func command(args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	verb, args := args[0], args[1:]
	switch {
	case verb == "up" && len(args) == 1:
		return up(args[0])
	case verb == "down" && len(args) == 1:
		return with(args[0], (*topology.Lab).Down)
	case verb == "exec" && len(args) >= 3:
		return with(args[0], func(l *topology.Lab) error {
			return attached(l.Command(args[1], args[2:]...))
		})
	case verb == "ssh" && len(args) >= 1:
		return with(args[0], func(l *topology.Lab) error {
			return attached(l.Appliance().OpenSSH([]string{"ssh"}, args[1:]...))
		})
	case verb == "demo" && len(args) == 0:
		return demo()
	case verb == "supervise" && len(args) >= 2:
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
		return topology.Supervise(args[1:], args[0], stop)
	case verb == "udp-echo" && len(args) == 2:
		return udpEcho(args[0], args[1])
	case verb == "unwrap" && len(args) == 1:
		return unwrap(args[0])
	case verb == "lie" && len(args) > 0:
		return lie(args)
	case verb == "late-answer" && len(args) == 2:
		return lateAnswer(args[0], args[1])
	case verb == "udp-sink" && len(args) >= 2:
		return udpSink(args[0], args[1:])
	case verb == "udp-tell" && len(args) >= 2:
		return udpTell(args[0], args[1:])
	case verb == "udp-ask" && len(args) == 2:
		n, err := strconv.Atoi(args[1])
		if err != nil {
			return fmt.Errorf("udp-ask: %w", err)
		}
		return udpAsk(args[0], n)
	case verb == "tcp-echo" && len(args) == 1:
		return tcpEcho(args[0])
	case verb == "transparent" && len(args) == 1:
		return transparent(args[0])
	case verb == "talk":
		return talk(args)
	case verb == "load":
		return load(args)
	case verb == "pulse":
		return pulse(args)
	case verb == "send":
		return send(args)
	}
	return errors.New(usage)
}

// bin is the folder of the built programs: that of this program, or bin/ under `go run`.
func bin() string {
	if exe, err := os.Executable(); err == nil && filepath.Base(filepath.Dir(exe)) == "bin" {
		return filepath.Dir(exe)
	}
	return "bin"
}

func with(name string, do func(*topology.Lab) error) error {
	l, err := topology.New(name, bin())
	if err != nil {
		return err
	}
	return do(l)
}

func up(name string) error {
	return with(name, func(l *topology.Lab) error {
		if err := l.Up(); err != nil {
			return err
		}
		if _, err := l.Appliance().Script(l.Script()); err != nil {
			return err
		}
		fmt.Printf("Topology %s is up. Enter it with:\n%s", name, hints(l, name))
		return nil
	})
}

// hints tells how to enter a running lab.
func hints(l *topology.Lab, name string) string {
	a := l.Appliance()
	return fmt.Sprintf(`  the shell     bin/sluice-lab ssh %[1]s             (or: ip netns exec %[2]s ssh nsroot@%[3]s, password %[4]s)
  the client    ip netns exec %[5]s %[6]s
  take it down  bin/sluice-lab down %[1]s
  logs          %[7]s
`, name, l.NS(a.From), a.Addr, topology.Password, l.NS("client"), l.Request(), strings.TrimSuffix(l.Path("x"), "x"))
}

func attached(cmd *exec.Cmd) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
