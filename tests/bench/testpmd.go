package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sluice/dataplane/port"
)

// testpmd is DPDK's own test program, kept running for the whole bench and made to forward for a short while at a time: it
// waits without load in between. It forwards between two ports of net_ring, a ring each that the port hands its packets back by.
type testpmd struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // what it prints; closed at its end
}

// startTestpmd starts it on the CPU that the bench measures on, so that both see the same core.
func startTestpmd(cpu, other int, huge, fifo bool) (*testpmd, error) {
	path, err := exec.LookPath("dpdk-testpmd")
	if err != nil {
		return nil, errors.New("dpdk-testpmd is not installed (`apt-get install dpdk`): there is nothing to compare with")
	}
	var args []string
	if fifo {
		args = append(args, "chrt", "-f", strconv.Itoa(fifoPriority))
	}
	// stdbuf: it must not keep back what it prints.
	args = append(args, "stdbuf", "-oL", path, "--lcores", fmt.Sprintf("0@%d,1@%d", other, cpu), "--no-pci", "--no-telemetry",
		"--file-prefix", fmt.Sprintf("sluice-bench-peer-%d", os.Getpid()), "--vdev=net_ring0", "--vdev=net_ring1", "-m", "96")
	if huge {
		args = append(args, "--in-memory")
	} else {
		args = append(args, "--no-huge", "--no-shconf")
	}
	args = append(args, "--", "-i", "--nb-cores=1", fmt.Sprintf("--burst=%d", port.RxBurst), "--record-core-cycles", "--total-num-mbufs=8192")
	t := &testpmd{cmd: exec.Command(args[0], args[1:]...), lines: make(chan string, 1024)}
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.cmd.Stderr = t.cmd.Stdout
	if err := t.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	go func() {
		defer close(t.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			t.lines <- s.Text()
		}
	}()
	return t, nil
}

var cyclesLine = regexp.MustCompile(`CPU cycles/packet=([0-9.]+)`)

// sample has it forward in a mode for a time and returns its cycles per packet, receiving and sending included.
func (t *testpmd) sample(mode string, span time.Duration) (float64, error) {
	if _, err := fmt.Fprintf(t.in, "set fwd %s\nstart tx_first %d\n", mode, port.RxBurst); err != nil {
		return 0, fmt.Errorf("testpmd has ended: %w", err)
	}
	if _, err := t.await("packet forwarding packets/burst"); err != nil {
		return 0, err
	}
	time.Sleep(span)
	if _, err := fmt.Fprintln(t.in, "stop"); err != nil {
		return 0, fmt.Errorf("testpmd has ended: %w", err)
	}
	line, err := t.await("CPU cycles/packet=")
	if err != nil {
		return 0, err
	}
	return parseCycles(line)
}

func parseCycles(line string) (float64, error) {
	m := cyclesLine.FindStringSubmatch(line)
	if m == nil {
		return 0, fmt.Errorf("testpmd printed no cycles per packet but %q", line)
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil || v <= 0 {
		return 0, fmt.Errorf("testpmd printed %q", line)
	}
	return v, nil
}

// await reads lines until one holds a text; what came before is told if it does not come within 20 s.
func (t *testpmd) await(text string) (string, error) {
	var last string
	timeout := time.After(20 * time.Second)
	for {
		select {
		case line, ok := <-t.lines:
			if !ok {
				return "", fmt.Errorf("testpmd has ended; it said last %q", last)
			}
			if strings.Contains(line, text) {
				return line, nil
			}
			if line != "" {
				last = line
			}
		case <-timeout:
			return "", fmt.Errorf("testpmd does not print %q; it said last %q", text, last)
		}
	}
}

// close ends it, by force if it does not end itself.
func (t *testpmd) close() {
	fmt.Fprintln(t.in, "quit")
	t.in.Close()
	dead := time.AfterFunc(10*time.Second, func() { t.cmd.Process.Kill() })
	defer dead.Stop()
	for range t.lines {
	}
	t.cmd.Wait()
}
