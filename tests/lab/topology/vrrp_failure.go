package topology

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// The timers of the fixtures: seed 002's nodes say each 200 ms that they live.
const (
	vrrpHello = 200 * time.Millisecond
	// vrrpNotice is how long the monitors of VRRPScript take to see that servers are gone: two probes, the last one unanswered.
	vrrpNotice = 2*300*time.Millisecond + 200*time.Millisecond
)

// skew is how much longer a node of a priority waits (RFC 9568 section 6.1).
func skew(priority int) time.Duration { return vrrpHello * time.Duration(256-priority) / 256 }

// Takeover is a way in which NS3 becomes master of VIP1 in the place of NS1.
type Takeover struct {
	Name    string
	Formula time.Duration // for how long nobody may answer, by the protocol
	Beyond  time.Duration // how much longer it may take all the same
	Because string        // the formula in words
	Begin   func(*Lab) error
	End     func(*Lab) error // brings back what was before
}

// VRRPTakeovers are those that are measured.
func VRRPTakeovers() []Takeover {
	const margin = 200 * time.Millisecond
	masterDown := 3*vrrpHello + skew(160)
	const downText = "3 x 200 ms + skew of priority 160"
	first := func(do func(*Appliance) error) func(*Lab) error {
		return func(l *Lab) error { return do(l.VRRP(1)) }
	}
	kill := func(programs ...string) func(*Lab) error {
		return first(func(a *Appliance) error { return a.Kill(programs...) })
	}
	again := func(programs ...string) func(*Lab) error {
		return first(func(a *Appliance) (err error) {
			for _, p := range programs {
				err = errors.Join(err, a.Supervise(p))
			}
			return errors.Join(err, a.Ready())
		})
	}
	types := func(n int, line string) func(*Lab) error {
		return func(l *Lab) error { _, err := l.VRRP(n).Shell(line); return err }
	}
	command := func(node, line string) func(*Lab) error {
		return func(l *Lab) error { return l.Run(node, strings.Fields(line)...) }
	}
	return []Takeover{
		{"node-killed", masterDown, margin, downText, kill("mgmt", "dataplane"), again("mgmt", "dataplane")},
		{"mgmt-killed", masterDown, margin, downText, kill("mgmt"), again("mgmt")},
		{"dataplane-killed", masterDown, margin, downText, kill("dataplane"), again("dataplane")},
		{"link-down", masterDown, margin, downText, command("sw1", "ip link set p1 down"), command("sw1", "ip link set p1 up")},
		{"servers-down", vrrpNotice + skew(160), margin, "two probes in 300 ms each and 200 ms without an answer, + skew of priority 160",
			command("sw2", "bridge link set dev p1 state 0"), command("sw2", "bridge link set dev p1 state 3")},
		{"preempt", 3*vrrpHello + skew(250), margin, "3 x 200 ms + skew of priority 250", types(3, "set vrID 1 -priority 250"), types(3, "set vrID 1 -priority 160")},
		{"release", skew(160), margin / 2, "skew of priority 160", types(1, "force vrID 1 -backup"), types(1, "force vrID 1 -release")},
	}
}

// Kill ends programs of the appliance at once, with their supervisors, as a loss of power does.
func (a *Appliance) Kill(programs ...string) error {
	var errs []error
	for _, p := range programs {
		pid, err := a.Lab.Pid(a.Node + "-" + p)
		if err == nil && a.Lab.ours(pid) {
			err = syscall.Kill(-pid, syscall.SIGKILL)
		}
		errs = append(errs, err)
	}
	for _, p := range programs { // and their children have gone: what is started next is to find the place free
		errs = append(errs, Eventually(10*time.Second, func() error {
			if pid, err := a.Pid(p); err == nil && syscall.Kill(pid, 0) == nil {
				return fmt.Errorf("%s of %s does not die", p, a.Node)
			}
			return nil
		}))
	}
	return errors.Join(errs...)
}

// Plays waits until NS n stands so in a virtual router.
func (l *Lab) Plays(n, id int, state string) error {
	return l.VRRP(n).Shows(fmt.Sprintf("show vrID %d", id), "State: "+state+"\t", 30*time.Second)
}

// vrrpStates are where NS1 to NS3 stand in the virtual routers 1 to 4 by the priorities of the fixtures.
var vrrpStates = []string{"MASTER MASTER BACKUP BACKUP", "BACKUP BACKUP MASTER BACKUP", "BACKUP BACKUP BACKUP MASTER"}

var vrrpState = regexp.MustCompile(`Interface: \S+\tState: (\w+)`)

// VRRPSettled waits until every virtual router is where the priorities of the fixtures have it, and all vservers are UP.
func (l *Lab) VRRPSettled() error {
	return Eventually(60*time.Second, func() error {
		for n := 1; n <= VRRPNodes; n++ {
			vservers, err := l.VRRP(n).Shell("show lb vserver")
			if err == nil && strings.Count(vservers, "2 (Total)\t2 (Active)") != 8 {
				err = fmt.Errorf("NS%d has not all services UP:\n%s", n, vservers)
			}
			if err != nil {
				return err
			}
			routers, err := l.VRRP(n).Shell("show vrID")
			if err != nil {
				return err
			}
			var states []string
			for _, m := range vrrpState.FindAllStringSubmatch(routers, -1) {
				states = append(states, m[1])
			}
			if got := strings.Join(states, " "); got != vrrpStates[n-1] {
				return fmt.Errorf("NS%d is %s, not %s:\n%s", n, got, vrrpStates[n-1], routers)
			}
		}
		return nil
	})
}

// Pulse is what `sluice-lab pulse` tells of requests at a steady rate.
type Pulse struct {
	OK, Failed        int
	Longest, From, To float64 // seconds
}

// VRRPMeasure has NS3 take VIP1 over while a client asks 100 times a second, tells for how long nobody answered, and brings NS1 back.
func (l *Lab) VRRPMeasure(k *Takeover) (p Pulse, err error) {
	end := l.Path("pulse-end")
	os.Remove(end)
	asking := l.Command("client", l.program("sluice-lab"), "pulse", "-until", end, "http://"+VRRPVIP(1)+"/")
	var out bytes.Buffer
	asking.Stdout = &out
	if err := asking.Start(); err != nil {
		return p, err
	}
	time.Sleep(time.Second) // of answers by NS1
	err = k.Begin(l)
	if err == nil {
		err = l.Plays(3, 1, "MASTER")
	}
	time.Sleep(500 * time.Millisecond) // of answers by NS3
	err = errors.Join(err, os.WriteFile(end, nil, 0o644), asking.Wait(), k.End(l))
	if err == nil {
		err = json.Unmarshal(out.Bytes(), &p)
	}
	return p, errors.Join(err, l.VRRPSettled())
}
