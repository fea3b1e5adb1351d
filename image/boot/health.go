package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"sluice/image/slot"
)

const (
	healthFile = "/run/sluice/health.json" // what management says of itself, see its setting health
	healthWait = 120 * time.Second         // for a slot on trial to come up, unless the kernel's argument sluice.health says otherwise
	healthHold = 5 * time.Second           // for which it must stay so: what dies at once comes up again and again
	lastWait   = time.Minute               // for the machine to restart in good order
)

// health says whether the machine is well enough for a slot that is on trial to be kept. It runs at every start; when nothing is
// on trial it has only to tell what became of the last one.
func health([]string) error {
	d := slot.New("/")
	j := judge{disk: d, say: os.Stdout, file: healthFile, wait: healthWait, hold: healthHold, poll: 250 * time.Millisecond, restart: restart}
	if n, err := strconv.Atoi(d.Argument("sluice.health=")); err == nil && n > 0 && n <= 3600 {
		j.wait = time.Duration(n) * time.Second
	}
	return j.run()
}

// restart restarts the machine: in good order, or else at once.
func restart() error {
	err := exec.Command("systemctl", "--no-block", "reboot").Run()
	if err == nil {
		time.Sleep(lastWait) // the machine goes away meanwhile
	}
	unix.Sync()
	return errors.Join(err, unix.Reboot(unix.LINUX_REBOOT_CMD_RESTART))
}

// judge decides about a slot on trial.
type judge struct {
	disk             *slot.Disk
	say              io.Writer
	file             string
	wait, hold, poll time.Duration
	restart          func() error
}

func (j *judge) run() error {
	t, err := j.disk.Trial()
	if err != nil { // nothing can be decided, and the next start is that of the slot before
		fmt.Fprintf(j.say, "sluice: %v\n", err)
		return nil
	}
	if t == nil {
		return nil
	}
	switch t.Outcome {
	case slot.Returned:
		first, err := j.disk.Settle(t)
		if first {
			fmt.Fprintf(j.say, "sluice: slot %s with %s was tried and is not kept: %s. Slot %s with %s runs again.\n", t.Slot, t.Version, t.Why, t.From, t.FromVersion)
		}
		return err
	case slot.Trying:
		return j.try(t)
	}
	return nil
}

// try waits until the machine is well, and keeps the slot; or gives it up and restarts the one before.
func (j *judge) try(t *slot.Trial) error {
	kept, err := j.disk.Current(t.Slot)
	if err == nil && kept { // the power went between the two steps of keeping it
		return j.disk.Keep(t)
	}
	fmt.Fprintf(j.say, "sluice: slot %s with %s is on trial for %v\n", t.Slot, t.Version, j.wait)
	why := j.verdict(t)
	if why == "" {
		if err := j.disk.Keep(t); err != nil {
			why = "the boot loader cannot be told: " + err.Error()
		}
	}
	if why == "" {
		fmt.Fprintf(j.say, "sluice: slot %s with %s has come up and is kept\n", t.Slot, t.Version)
		return nil
	}
	fmt.Fprintf(j.say, "sluice: slot %s with %s is not kept: %s. Slot %s with %s is started again.\n", t.Slot, t.Version, why, t.From, t.FromVersion)
	if err := j.disk.GiveUp(t, why); err != nil { // the boot loader returns all the same
		fmt.Fprintf(j.say, "sluice: that cannot be noted: %v\n", err)
	}
	return j.restart()
}

// verdict waits and tells why the slot is not well, or nothing if it is.
func (j *judge) verdict(t *slot.Trial) (why string) {
	begun, well := time.Now(), time.Time{}
	for {
		now := time.Now()
		if why = j.fault(t); why != "" {
			well = time.Time{}
		} else if well.IsZero() {
			well = now
		}
		switch {
		case why == "" && now.Sub(well) >= j.hold:
			return ""
		case why != "" && now.Sub(begun) >= j.wait:
			return fmt.Sprintf("after %v %s", j.wait, why)
		case why == "" && now.Sub(begun) >= 2*j.wait+j.hold: // it comes and goes
			return fmt.Sprintf("it was not well for %v on end", j.hold)
		}
		time.Sleep(j.poll)
	}
}

// report is what management writes to the file.
type report struct {
	Dataplane     bool   `json:"dataplane"`     // it has the tables
	Configuration bool   `json:"configuration"` // the startup configuration is in force
	Problems      int    `json:"problems"`      // lines of it that are not
	SSH           string `json:"ssh"`           // where it listens
}

// fault is what is wrong at present, or nothing.
func (j *judge) fault(t *slot.Trial) string {
	text, err := os.ReadFile(j.file)
	var r report
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	switch {
	case err != nil:
		return "management is not up"
	case !r.Dataplane:
		return "the dataplane is not connected"
	case !r.Configuration:
		return "the startup configuration is not in force"
	case r.Problems > t.Problems:
		return fmt.Sprintf("%d lines of the startup configuration are not in force, where %s has %d", r.Problems, t.FromVersion, t.Problems)
	}
	if err := answers(r.SSH); err != nil {
		return "SSH does not answer: " + err.Error()
	}
	return ""
}

// answers tells whether an SSH server greets there.
func answers(listens string) error {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	c, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), 5*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	head := make([]byte, 4)
	if _, err := io.ReadFull(c, head); err != nil {
		return err
	}
	if !strings.HasPrefix(string(head), "SSH-") {
		return errors.New("another server listens there")
	}
	return nil
}
