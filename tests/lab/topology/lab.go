package topology

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Lab is one topology that is up, or is to be taken down.
type Lab struct {
	Name string
	Dir  string // files, logs and pids of its programs
	Bin  string // folder of the built programs
	kind kind
}

// kind is a topology: how it is built, its appliance, what an operator types into that, and how a client asks for something.
type kind struct {
	build     func(*Lab) error
	appliance func(*Lab) *Appliance
	script    func(*Lab) string
	request   string
	workers   int // of the appliance's dataplane
}

// Guest is the topology of virtual machines and containers, whose appliance its user starts.
const Guest = "guest"

// Names are the topologies that can be brought up with an appliance in them.
var Names = []string{"basic", "workers", "seed003", "seed003workers", "monitors", "upper", "nsip", "vrrp3"}

func kindOf(name string) kind {
	basic := kind{(*Lab).basic, (*Lab).Basic, always(BasicScript), "curl http://" + VIP + "/", 1}
	switch name {
	case "workers": // basic, but two workers share the flows
		basic.workers = 2
	case "monitors":
		return kind{(*Lab).monitors, (*Lab).Monitors, always(MonitorsScript), "ping -c 1 " + ShellIP, 1}
	case "upper":
		return kind{(*Lab).upper, func(l *Lab) *Appliance { return l.Upper(0) }, func(*Lab) string { return UpperScript(0) },
			fmt.Sprintf("nc -s %s %s %d", UpperClients[0], UpperOrigins[0], EchoPort), 1}
	case "vrrp3":
		return kind{(*Lab).vrrp3, func(l *Lab) *Appliance { return l.VRRP(1) }, func(l *Lab) string { return l.VRRPScript(1) }, "curl http://" + VRRPVIP(1) + "/", 1}
	case Guest:
		return kind{(*Lab).guest, func(l *Lab) *Appliance { return l.Guest(0) }, always(BasicScript), "curl http://" + VIP + "/", 1}
	case "nsip":
		return kind{(*Lab).nsip, (*Lab).Managed, always(ManagedScript), "curl http://" + NSIPVIP + "/", 1}
	case "seed003":
		return kind{(*Lab).seed003, (*Lab).Seed003, always(LeastPacketsScript), "bin/sluice-lab udp-tell 20000 " + LeastPacketsVIP + ":7=12", 1}
	case "seed003workers": // seed003, but two workers share the flows
		k := kindOf("seed003")
		k.workers = 2
		return k
	}
	return basic
}

// always is a script that is the same in every lab of a kind.
func always(script func() string) func(*Lab) string { return func(*Lab) string { return script() } }

// Appliance is the lab's appliance.
func (l *Lab) Appliance() *Appliance { return l.kind.appliance(l) }

// Request is a command that asks the lab's appliance for something, to be run in the client.
func (l *Lab) Request() string { return l.kind.request }

// Script configures the lab's appliance as an operator types it.
func (l *Lab) Script() string { return l.kind.script(l) }

// New names a lab: a topology, or TOPOLOGY@TAG for one more of it beside the first. Bin is the folder of the built programs.
func New(name, bin string) (*Lab, error) {
	which, tag, _ := strings.Cut(name, "@")
	if !slices.Contains(Names, which) && which != Guest {
		return nil, fmt.Errorf("no topology %q: there are %s", name, strings.Join(Names, ", "))
	}
	abs, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	return &Lab{Name: which + tag, Dir: filepath.Join(os.TempDir(), "sluice-lab-"+which+tag), Bin: abs, kind: kindOf(which)}, nil
}

// Path is a file of the lab.
func (l *Lab) Path(name string) string { return filepath.Join(l.Dir, name) }

// Up builds the lab from nothing; what a killed run left behind is removed first. On an error nothing stays.
func (l *Lab) Up() (err error) {
	if os.Geteuid() != 0 {
		return errors.New("the lab needs root: it makes network namespaces")
	}
	if err := l.Down(); err != nil {
		return err
	}
	if err := os.MkdirAll(l.Dir, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil && os.Getenv("KEEP") == "" {
			err = errors.Join(err, l.Down())
		}
	}()
	return l.kind.build(l)
}

// Down ends every program of the lab and removes its namespaces and files. It may be called at any time.
func (l *Lab) Down() error {
	err := l.stopAll()
	for _, ns := range l.namespaces() {
		err = errors.Join(err, run("ip", "netns", "del", ns))
	}
	runtime, _ := filepath.Glob("/var/run/dpdk/" + prefix + l.Name + "-*") // of DPDK, which leaves it
	for _, dir := range append(runtime, l.Dir) {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// Left says what of the lab is still there after Down: namespaces, or files of DPDK and huge pages; "" is nothing.
func (l *Lab) Left() string {
	left := l.namespaces()
	for _, pattern := range []string{"/dev/hugepages/" + prefix + l.Name + "-*", "/var/run/dpdk/" + prefix + l.Name + "-*", l.Dir} {
		files, _ := filepath.Glob(pattern)
		left = append(left, files...)
	}
	return strings.Join(left, " ")
}

// Eventually calls probe until it gives nil, for at most the time given; then it returns the last error.
func Eventually(most time.Duration, probe func() error) error {
	deadline := time.Now().Add(most)
	for {
		err := probe()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
