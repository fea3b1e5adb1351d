package reach

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/cli/grammar"
)

func parse(t *testing.T, line string) *grammar.Op {
	t.Helper()
	op, err := grammar.Parse(line)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return op
}

// TestArguments: what an operator types as the programs want it.
func TestArguments(t *testing.T) {
	host := netip.MustParseAddr("10.2.0.11")
	for line, want := range map[string]string{
		"ping 10.2.0.11":                                                 "-n -c 5 -- 10.2.0.11",
		"ping -c 3 -s 1000 -S 10.2.0.5 web":                              "-n -c 3 -s 1000 -I 10.2.0.5 -- 10.2.0.11",
		"ping 10.2.0.11 -i 0.5 -q -t 4 -p ff00":                          "-n -i 0.5 -p ff00 -w 4 -c 5 -q -- 10.2.0.11",
		"ping -I 1/2 -n 10.2.0.11":                                       "-n -c 5 -I tw1 -- 10.2.0.11",
		"traceroute 10.2.0.11":                                           "-n -m 64 -- 10.2.0.11 44",
		"traceroute -M 2 -m 9 -q 1 -s 10.2.0.5 -t 16 -w 2 10.2.0.11 100": "-n -m 9 -f 2 -q 1 -s 10.2.0.5 -t 16 -w 2 -- 10.2.0.11 100",
		"traceroute -P ICMP -r 10.2.0.11":                                "-n -m 64 -I -r -- 10.2.0.11 44",
		"traceroute -P TCP -p 443 10.2.0.11":                             "-n -m 64 -p 443 -T -- 10.2.0.11 44",
	} {
		op := parse(t, line)
		var got []string
		if op.Verb == "ping" {
			device := ""
			if _, given := op.Arg("I"); given {
				device = "tw1"
			}
			got = pingArgs(op, host, device, false)
		} else {
			got = traceArgs(op, host)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s:\n%v, want\n%s", line, got, want)
		}
	}
	if got := strings.Join(pingArgs(parse(t, "ping 10.2.0.11"), host, "", true), " "); got != "-n -c 65535 -- 10.2.0.11" {
		t.Errorf("at a terminal: %s", got)
	}
}

func reacher() *Reacher {
	return New(func(_ context.Context, name string) ([]netip.Addr, error) {
		if name != "here.test" {
			return nil, errors.New("the name does not exist")
		}
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}, func(port string) string { return map[string]string{"1/1": "lo"}[port] })
}

// TestPing: Debian's program, as nobody, on this machine.
func TestPing(t *testing.T) {
	for _, row := range []struct{ line, says, err string }{
		{"ping -c 2 -i 0.2 127.0.0.1", "2 packets transmitted, 2 received", ""},
		{"ping -c 1 -I 1/1 -S 127.0.0.1 here.test", "here.test is 127.0.0.1\nPING 127.0.0.1", ""},
		{"ping -c 1 elsewhere.test", "", "Unknown host [elsewhere.test]: the name does not exist"},
		{"ping -c 1 -I 1/7 127.0.0.1", "", "No such resource [I, 1/7]: show interface names the ports"},
		{"ping -c 1 -S 192.0.2.77 127.0.0.1", "", "Operation not permitted [ping]: the source is no address of this appliance"},
		{"ping -c 1 -s 65507 127.0.0.1", "1 received", ""},
		{"traceroute 127.0.0.1", " 1  127.0.0.1", ""},
		{"traceroute -P ICMP 127.0.0.1", " 1  127.0.0.1", ""},
		{"traceroute -s 192.0.2.77 127.0.0.1", "", "Operation not permitted [traceroute]: the source is no address of this appliance"},
	} {
		var out bytes.Buffer
		err := reacher().Run(context.Background(), parse(t, row.line), &out, false)
		if got := errText(err); got != row.err || !strings.Contains(out.String(), row.says) {
			t.Errorf("%s: %q, want %q\n%s", row.line, got, row.err, &out)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// heard tells when something is said.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
	each chan struct{}
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(b)
	select {
	case h.each <- struct{}{}:
	default:
	}
	return len(b), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

// TestPingComesLiveAndEnds: each answer is heard when it comes; who has had enough gets the summary.
func TestPingComesLiveAndEnds(t *testing.T) {
	ctx, enough := context.WithCancel(context.Background())
	defer enough()
	h := &heard{each: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	go func() { ended <- reacher().Run(ctx, parse(t, "ping 127.0.0.1"), h, true) }()
	late := time.After(30 * time.Second)
	for !strings.Contains(h.String(), "icmp_seq=2") {
		select {
		case <-h.each:
		case err := <-ended:
			t.Fatalf("it ends: %v\n%s", err, h)
		case <-late:
			t.Fatalf("nothing is heard: %s", h)
		}
	}
	enough()
	select {
	case err := <-ended:
		if err != nil || !strings.Contains(h.String(), "packets transmitted") {
			t.Errorf("%v\n%s", err, h)
		}
	case <-late:
		t.Fatal("it does not end")
	}
}

// TestOnlySoMany: each is a process, and there is an end of them.
func TestOnlySoMany(t *testing.T) {
	r := reacher()
	for range most {
		r.slots <- struct{}{}
	}
	if err := r.Run(context.Background(), parse(t, "ping -c 1 127.0.0.1"), &bytes.Buffer{}, false); errText(err) != "Operation not permitted [ping]: 16 of them run already" {
		t.Error(err)
	}
}
