package monitors

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

var lab *topology.Lab

// TestMain: T=monitors@TAG takes a lab of its own, beside others.
func TestMain(m *testing.M) {
	topology.Main(&lab, "monitors", func() error { return all("", "UP", 60*time.Second) }, m.Run)
}

// services are the states and last responses of all services, by name.
func services() (states, responses map[string]string, err error) {
	out, err := lab.Monitors().Shell("show service")
	states, responses = map[string]string{}, map[string]string{}
	name := ""
	for line := range strings.Lines(out) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case strings.Contains(line, " - TCP"):
			_, after, _ := strings.Cut(line, ")\t")
			name, _, _ = strings.Cut(after, " (")
		case word == "State" && states[name] == "":
			states[name] = rest
		case word == "Last response":
			responses[name] = rest
		}
	}
	return states, responses, err
}

// all waits until the services whose names begin with the prefix have the state.
func all(prefix, state string, most time.Duration) error {
	return topology.Eventually(most, func() error {
		states, responses, err := services()
		if err != nil {
			return err
		}
		var wrong []string
		for _, w := range topology.Watched {
			if name := prefix + w.Type; (w.Port != 0 || prefix == "") && states[name] != state {
				wrong = append(wrong, fmt.Sprintf("%s is %s: %s", name, states[name], responses[name]))
			}
		}
		if wrong != nil {
			return fmt.Errorf("not %s:\n%s", state, strings.Join(wrong, "\n"))
		}
		return nil
	})
}

// servers sends a signal to every program on the servers' host.
func servers(t *testing.T, sig syscall.Signal) {
	t.Helper()
	out, err := exec.Command("ip", "netns", "pids", lab.NS("srv")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(out)) {
		var pid int
		if fmt.Sscan(f, &pid); pid > 1 {
			syscall.Kill(pid, sig)
		}
	}
}

// byKernel are the types that the kernel of the servers' host answers, whatever becomes of its programs.
func byKernel(kind string) bool { return kind == "PING" || kind == "ARP" }

// down waits until all services but those that the kernel answers for are DOWN, and gives the last responses.
func down(t *testing.T) map[string]string {
	t.Helper()
	var last map[string]string
	err := topology.Eventually(60*time.Second, func() error {
		states, responses, err := services()
		last = responses
		for _, w := range topology.Watched {
			want := "DOWN"
			if byKernel(w.Type) {
				want = "UP"
			}
			if states[w.Type] != want && err == nil {
				err = fmt.Errorf("%s is %s, want %s: %s", w.Type, states[w.Type], want, responses[w.Type])
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// TestLyingServers: what says nothing that makes sense is DOWN, and the same monitors find the real servers UP.
func TestLyingServers(t *testing.T) {
	if err := all("lying-", "DOWN", 30*time.Second); err != nil {
		t.Fatal(err)
	}
	if err := all("", "UP", 30*time.Second); err != nil {
		t.Fatal(err)
	}
}

// TestLoad: the load of a service comes from its agent, and its default monitor says that it is UP.
func TestLoad(t *testing.T) {
	err := topology.Eventually(30*time.Second, func() error {
		out, err := lab.Monitors().Shell("show service LOAD")
		if err == nil && (!strings.Contains(out, "\tState: UP\n") || !strings.Contains(out, "\t\tLoad: ") || !strings.Contains(out, "tcp-default")) {
			err = fmt.Errorf("no load:\n%s", out)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestReverse: with -reverse YES a service is DOWN because its real server says what is looked for, and UP when it says other things.
func TestReverse(t *testing.T) {
	verdicts(t, `add lb monitor m-reverse HTTP-ECV -send "GET /alive" -recv alive -reverse YES -destPort 80 -interval 2 -resptimeout 2 -retries 1 -downTime 1
add service judged srv TCP 8080
bind service judged -monitorName m-reverse`, "set lb monitor m-reverse HTTP-ECV -recv dead", "DOWN", "UP")
}

// TestMonThreshold: a service is UP while the weights of its monitors that a real server satisfies reach the threshold, whatever
// the others say.
func TestMonThreshold(t *testing.T) {
	verdicts(t, `add lb monitor m-nobody TCP -destPort 9 -interval 2 -resptimeout 2 -retries 1 -downTime 1
add service judged srv TCP 8080 -monThreshold 5
bind service judged -monitorName m-nobody -weight 90
bind service judged -monitorName m-HTTP -weight 3
bind service judged -monitorName m-TCP-ECV -weight 2`, "set service judged -monThreshold 6", "UP", "DOWN")
}

// verdicts makes the service judged and its monitor, whose name is the fourth word, waits until it has a state, and then for another
// one after a change.
func verdicts(t *testing.T, begin, change, before, after string) {
	t.Helper()
	shell := func(lines string) {
		t.Helper()
		for line := range strings.SplitSeq(lines, "\n") {
			if _, err := lab.Monitors().Shell(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	shell(begin)
	words := strings.Fields(begin)
	defer shell("rm service judged\nrm lb monitor " + words[3] + " " + words[4])
	if err := lab.Monitors().Shows("show service judged", "\tState: "+before+"\n", 30*time.Second); err != nil {
		t.Fatal(err)
	}
	shell(change)
	if err := lab.Monitors().Shows("show service judged", "\tState: "+after+"\n", 30*time.Second); err != nil {
		t.Error(err)
	}
}

// TestSlowAndKilledServers: servers that are held are DOWN because nothing comes in time, UP again when they go on, and DOWN
// when they are killed.
func TestSlowAndKilledServers(t *testing.T) {
	servers(t, syscall.SIGSTOP)
	for kind, said := range down(t) {
		if !byKernel(kind) && !strings.HasPrefix(kind, "lying-") && !strings.Contains(said, "timed out") && !(kind == "USER" && strings.Contains(said, "killed")) {
			t.Errorf("held, %s says: %s", kind, said)
		}
	}
	servers(t, syscall.SIGCONT)
	if err := all("", "UP", 60*time.Second); err != nil {
		t.Fatal(err)
	}
	servers(t, syscall.SIGKILL)
	var wrong []string
	err := topology.Eventually(30*time.Second, func() error {
		wrong = nil
		for kind, said := range down(t) {
			if !byKernel(kind) && !strings.HasPrefix(kind, "lying-") && !strings.Contains(said, "refused") && !(kind == "USER" && strings.Contains(said, "connect to server")) {
				wrong = append(wrong, kind+" says: "+said)
			}
		}
		if wrong != nil {
			return fmt.Errorf("killed, %s", strings.Join(wrong, "\n"))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
