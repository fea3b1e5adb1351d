package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// lab is the topology basic, up and configured once for all tests of this file's package.
var lab *topology.Lab

// TestMain: T=basic@TAG takes a lab of its own, beside others.
func TestMain(m *testing.M) {
	topology.Main(&lab, "basic", settled, m.Run)
}

// full tells whether the long rows run too.
func full() bool { return os.Getenv("FULL") != "" }

// settled waits until every service of basic is UP.
func settled() error { return lab.Basic().Settled(30*time.Second, "web", "echo") }

func mustSettle(t *testing.T) {
	t.Helper()
	if err := settled(); err != nil {
		t.Fatal(err)
	}
}

// shell runs a line that must succeed.
func shell(t *testing.T, line string) string {
	t.Helper()
	out, err := lab.Basic().Shell(line)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// client runs a command in the client's namespace.
func client(args ...string) *exec.Cmd {
	return lab.Command("client", args...)
}

// tool is a program of the lab, run in the client's namespace, whose output is a loadResult.
func tool(t *testing.T, args ...string) loadResult {
	t.Helper()
	return started(t, args...)()
}

func get(t *testing.T, n int, more ...string) loadResult {
	t.Helper()
	return tool(t, append(append([]string{"load", "-n", fmt.Sprint(n)}, more...), "http://"+topology.VIP+"/")...)
}

// background starts load and returns a function that waits for its result.
func background(t *testing.T, args ...string) func() loadResult {
	t.Helper()
	return started(t, append([]string{"load"}, args...)...)
}

// started starts what tool runs and returns a function that waits for its result.
func started(t *testing.T, args ...string) func() loadResult {
	t.Helper()
	cmd := client(append([]string{filepath.Join(lab.Bin, "sluice-lab")}, args...)...)
	cmd.Stderr = os.Stderr
	done := make(chan struct{})
	var out []byte
	var err error
	go func() { out, err = cmd.Output(); close(done) }()
	return func() loadResult {
		t.Helper()
		<-done
		var r loadResult
		if err == nil {
			err = json.Unmarshal(out, &r)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(cmd.Args, " "), err, out)
		}
		return r
	}
}

// logged are the lines of a server's access log, split into words: address, port, URI, status, bytes.
func logged(t *testing.T, server string) (lines [][]string) {
	t.Helper()
	b, err := os.ReadFile(lab.Path(server + "/access.log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		lines = append(lines, strings.Fields(line))
	}
	return lines
}

func forgetLogs(t *testing.T) {
	t.Helper()
	for _, s := range topology.Servers {
		if err := os.Truncate(lab.Path(s+"/access.log"), 0); err != nil {
			t.Fatal(err)
		}
	}
}
