package show

import (
	"fmt"
	"strings"
	"time"

	"sluice/image/slot"
)

// Images tells what lies in the slots of the machine. kept says when the configuration of a slot was kept.
func Images(s *slot.State, kept func(string) time.Time) string {
	var b strings.Builder
	for _, at := range []slot.Slot{slot.A, slot.B} {
		i := s.Images[at]
		fmt.Fprintf(&b, "Slot %s:\t%s\n", at, strings.Join(states(s, at), ", "))
		switch {
		case i.Manifest != nil:
			fmt.Fprintf(&b, "\tVersion: %s\tCommit: %s\tFlavour: %s\n", i.Version, dash(i.Commit), i.Flavour)
		case i.Fault != "":
			fmt.Fprintf(&b, "\tUnfit: %s\n", i.Fault)
		default:
			fmt.Fprintf(&b, "\tEmpty\n")
		}
		if t := kept(string(at)); !t.IsZero() && at != s.Running {
			fmt.Fprintf(&b, "\tConfiguration: kept on %s\n", date(t.UTC()))
		}
	}
	if t := s.Trial; t != nil {
		fmt.Fprintf(&b, "Last trial:\tSlot %s with %s, asked for by %s on %s\n\tOutcome: %s\n", t.Slot, t.Version, dash(t.By), date(t.At), Outcome(t))
	}
	if s.Fault != "" {
		fmt.Fprintf(&b, "Fault:\t%s\n", s.Fault)
	}
	return b.String()
}

// states are what a slot is at present.
func states(s *slot.State, at slot.Slot) (all []string) {
	if s.Running == at {
		all = append(all, "Running")
	}
	switch {
	case s.Tried == at:
		all = append(all, "Tried at the next start")
	case s.Current == at && s.Tried == "":
		all = append(all, "Started next")
	case s.Current == at:
		all = append(all, "Started after that")
	}
	if s.Running == at && s.Trial != nil && s.Trial.Outcome == slot.Trying {
		all = append(all, "On trial")
	}
	if len(all) == 0 {
		all = append(all, "Idle")
	}
	return all
}

// Outcome is what became of a trial, in words.
func Outcome(t *slot.Trial) string {
	switch t.Outcome {
	case slot.Waiting:
		return "Waits for the next start"
	case slot.Trying:
		return "It runs, and is not found well yet"
	case slot.Kept:
		return "Kept"
	case slot.Withdrawn:
		return "Taken back before the start"
	case slot.Returned:
		return fmt.Sprintf("Not kept, slot %s came back: %s", t.From, t.Why)
	}
	return string(t.Outcome)
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
