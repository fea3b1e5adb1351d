// Package topology builds the lab: network namespaces joined by veth pairs, with real programs inside them, and takes it
// all down again. It knows how to start the appliance but tests nothing.
package topology

import (
	"fmt"
	"os/exec"
	"strings"
)

// Node is one host of the lab: a network namespace.
type Node struct {
	Name   string
	Bridge bool // its interfaces are the ports of one bridge
	Routes []string
}

// End is one end of a link.
type End struct {
	Node, If string
	Addr     string // with prefix length; empty for none
	Full     bool   // this end computes whole checksums (`tx off`), as a NIC puts them on the wire
	MAC      string // empty: the kernel's choice
}

// Link joins two nodes.
type Link struct{ A, B End }

// prefix marks every namespace that the lab makes.
const prefix = "sl-"

// NS is the namespace of a node.
func (l *Lab) NS(node string) string { return prefix + l.Name + "-" + node }

func run(args ...string) error {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Command is a command inside a node.
func (l *Lab) Command(node string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", l.NS(node)}, args...)...)
}

// Run runs a command inside a node.
func (l *Lab) Run(node string, args ...string) error { return run(l.Command(node, args...).Args...) }

// wire makes nodes, joins them, and gives them their routes.
func (l *Lab) wire(nodes []Node, links []Link) error {
	if err := l.makeNodes(nodes); err != nil {
		return err
	}
	return l.makeLinks(nodes, links)
}

func (l *Lab) makeNodes(nodes []Node) error {
	for _, n := range nodes {
		ns := l.NS(n.Name)
		steps := [][]string{
			{"ip", "netns", "add", ns},
			{"ip", "-n", ns, "link", "set", "lo", "up"},
			{"ip", "netns", "exec", ns, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1"},
		}
		if n.Bridge {
			steps = append(steps, []string{"ip", "-n", ns, "link", "add", "br0", "type", "bridge"}, []string{"ip", "-n", ns, "link", "set", "br0", "up"})
		}
		for _, s := range steps {
			if err := run(s...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Lab) makeLinks(nodes []Node, links []Link) error {
	bridge := map[string]bool{}
	for _, n := range nodes {
		bridge[n.Name] = n.Bridge
	}
	for _, k := range links {
		err := run("ip", "link", "add", k.A.If, "netns", l.NS(k.A.Node), "type", "veth", "peer", "name", k.B.If, "netns", l.NS(k.B.Node))
		if err != nil {
			return err
		}
		for _, e := range []End{k.A, k.B} {
			if err := l.makeEnd(e, bridge[e.Node]); err != nil {
				return err
			}
		}
	}
	for _, n := range nodes {
		for _, r := range n.Routes {
			if err := run(append([]string{"ip", "-n", l.NS(n.Name), "route", "add"}, strings.Fields(r)...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Lab) makeEnd(e End, bridge bool) error {
	ns := l.NS(e.Node)
	var steps [][]string
	if e.MAC != "" {
		steps = append(steps, []string{"ip", "-n", ns, "link", "set", e.If, "address", e.MAC})
	}
	if bridge {
		steps = append(steps, []string{"ip", "-n", ns, "link", "set", e.If, "master", "br0"})
	}
	if e.Addr != "" {
		steps = append(steps, []string{"ip", "-n", ns, "addr", "add", e.Addr, "dev", e.If})
	}
	if e.Full {
		steps = append(steps, []string{"ip", "netns", "exec", ns, "ethtool", "-K", e.If, "tx", "off"})
	}
	steps = append(steps, []string{"ip", "-n", ns, "link", "set", e.If, "up"})
	for _, s := range steps {
		if err := run(s...); err != nil {
			return err
		}
	}
	return nil
}

// namespaces are those of this lab that exist now, from this run or one that was killed.
func (l *Lab) namespaces() []string {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return nil
	}
	var ns []string
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) > 0 && strings.HasPrefix(f[0], prefix+l.Name+"-") {
			ns = append(ns, f[0])
		}
	}
	return ns
}
