package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sluice/mgmt/store"
	"sluice/tests/lab/topology"
	"sluice/vendor-config/schema"
)

// site is the lab's appliance: the real programs in network namespaces.
type site struct {
	lab *topology.Lab
	adc *topology.Appliance
}

func openSite() (*site, error) {
	root, err := repository()
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(root, "bin")
	if _, err := os.Stat(filepath.Join(bin, "sluice-mgmt")); err != nil {
		return nil, fmt.Errorf("the programs are not built: run make build: %w", err)
	}
	lab, err := topology.New(fmt.Sprintf("basic@bench%d", os.Getpid()%10000), bin)
	if err != nil {
		return nil, err
	}
	if err := lab.Up(); err != nil {
		return nil, err
	}
	return &site{lab, lab.Basic()}, nil
}

func (s *site) close() error { return s.lab.Down() }

// start has management begin with a configuration.
func (s *site) start(c *schema.Config) error {
	if err := s.lab.Stop("adc-mgmt"); err != nil {
		return err
	}
	st, err := store.Open(s.lab.Path("adc/config"))
	if err != nil {
		return err
	}
	if err := st.Save(c, store.Meta{By: "bench", At: time.Now()}); err != nil {
		return err
	}
	if err := s.adc.Supervise("mgmt"); err != nil {
		return err
	}
	return topology.Eventually(60*time.Second, func() error {
		out, err := s.adc.Shell("show lb vserver v1")
		if err == nil && !strings.Contains(out, fmt.Sprintf("%d (Active)", bound)) {
			err = fmt.Errorf("vserver v1 is not as configured:\n%s", out)
		}
		return err
	})
}

// used is the CPU time of management and of the dataplane since they began.
func (s *site) used() (all [2]time.Duration, err error) {
	for i, program := range []string{"mgmt", "dataplane"} {
		pid, err := s.adc.Pid(program)
		if err != nil {
			return all, err
		}
		tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
		if err != nil || len(tasks) == 0 {
			return all, fmt.Errorf("%s does not run: %w", program, err)
		}
		for _, t := range tasks {
			text, err := os.ReadFile(t)
			if err != nil {
				continue // a thread that has ended since
			}
			var ns int64
			if _, err := fmt.Sscan(string(text), &ns); err != nil {
				return all, err
			}
			all[i] += time.Duration(ns)
		}
	}
	return all, nil
}

// terminal is an operator who is logged in over OpenSSH and types one line after the other.
type terminal struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func (s *site) login() (*terminal, error) {
	t := &terminal{cmd: s.adc.OpenSSH([]string{"ssh", "-T"})}
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.cmd.Stderr = t.cmd.Stdout
	t.out = bufio.NewReader(out)
	return t, t.cmd.Start()
}

// do gives a line and waits for its end.
func (t *terminal) do(line string) (time.Duration, error) {
	start := time.Now()
	if _, err := io.WriteString(t.in, line+"\n"); err != nil {
		return 0, err
	}
	for {
		answer, err := t.out.ReadString('\n')
		switch {
		case err != nil:
			return 0, fmt.Errorf("%s: the shell is gone: %w", line, err)
		case strings.HasPrefix(answer, "ERROR"), strings.HasPrefix(answer, "Warning"):
			return 0, fmt.Errorf("%s: %s", line, strings.TrimSpace(answer))
		case answer == " Done\n":
			return time.Since(start), nil
		}
	}
}

func (t *terminal) close() error { return errors.Join(t.in.Close(), t.cmd.Wait()) }

// measureCommits times lines of every kind in a running configuration of so many vservers.
func measureCommits(vservers, rounds int) (all []*timing, err error) {
	c, err := configuration(script(vservers))
	if err != nil {
		return nil, err
	}
	s, err := openSite()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.start(c); err != nil {
		return nil, err
	}
	t, err := s.login()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for _, k := range kinds(vservers) {
		w := &timing{what: k.name}
		all = append(all, w)
		before, err := s.used()
		if err != nil {
			return nil, err
		}
		rounds := 2 * ((rounds + 1) / 2) // as many that undo as that do
		for n := range rounds {
			d, err := t.do(k.line(n))
			if err != nil {
				return nil, err
			}
			w.add(d)
			time.Sleep(50 * time.Millisecond) // commits come one by one, not as fast as they can
		}
		after, err := s.used()
		if err != nil {
			return nil, err
		}
		for i := range w.cpu {
			w.cpu[i] = float64(after[i]-before[i]) / 1e6 / float64(rounds)
		}
	}
	return all, nil
}

// paste gives a whole script at once, as an operator pastes it, and returns how long it took.
func (s *site) paste(lines []string) (time.Duration, error) {
	start := time.Now()
	cmd := s.adc.OpenSSH([]string{"ssh", "-T"})
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("a script of %d lines: %w: %.500s", len(lines), err, out)
	}
	if n := strings.Count(string(out), " Done\n"); n != len(lines) {
		return 0, fmt.Errorf("of %d lines %d were done", len(lines), n)
	}
	return time.Since(start), nil
}

// measureLoad times the pasting of the scene of so many vservers into an empty appliance, in halves, which tell whether a line costs
// more the more there is; and of changes to it until there are so many lines.
func measureLoad(vservers, most int) (all []*timing, total time.Duration, err error) {
	s, err := openSite()
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	lines := script(vservers)
	half := len(lines) / 2
	var changes []string
	for n := range most - len(lines) {
		changes = append(changes, fmt.Sprintf("set service s%d -svrTimeout %d", n%(vservers*bound), 200+n/(vservers*bound)))
	}
	for _, part := range []struct {
		what  string
		lines []string
	}{{"the first half of what there is to add", lines[:half]}, {"the second half", lines[half:]}, {"changes to it", changes}} {
		took, err := s.paste(part.lines)
		if err != nil {
			return nil, 0, err
		}
		t := &timing{what: fmt.Sprintf("%s, %d lines", part.what, len(part.lines))}
		t.samples = []float64{float64(took) / 1e6 / float64(len(part.lines))}
		all = append(all, t)
		total += took
	}
	return all, total, nil
}
