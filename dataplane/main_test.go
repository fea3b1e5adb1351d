package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/api"
)

// TestMain lets the tests run the program itself: the test binary started with asProgram set is sluice-dataplane.
func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

const asProgram = "SLUICE_TEST_AS_PROGRAM"

func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

func TestProgramThatCannotStartSaysWhyInOneSentence(t *testing.T) {
	served := filepath.Join(t.TempDir(), "dp.sock")
	l, err := api.Listen(served)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lo := "ports: [{name: \"1/1\", device: lo, twin: lo0}]\n"
	socket := "socket: " + filepath.Join(t.TempDir(), "s") + "\n"
	same := "ports: [{name: \"1/1\", device: lo, twin: " + anyOther(t) + "}]\n"
	for text, want := range map[string]string{
		"flws: 3\n" + lo:                            "flws",
		"socket: " + served + "\n" + lo:             "another dataplane serves",
		"socket: /no/such/dir/s\n" + lo:             "management socket",
		socket + "lcore: 999\n" + same:              "may not use CPU 999",
		socket + "memory: 2\n" + same:               "too little memory",
		socket + "eal-args: [--no-such]\n" + same:   "check `eal-args`",
		socket + "eal-args: [--in-memory]\n" + same: "check `eal-args`",
	} {
		cmd := program(t, "-config", settingsFile(t, text))
		out, err := cmd.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if err == nil || cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("%q: exit status %v, want 1", text, cmd.ProcessState)
		}
		if len(lines) != 1 || !strings.Contains(lines[0], want) || !strings.Contains(lines[0], "the dataplane stops") {
			t.Errorf("%q: it says\n%s\nwant one line with %q", text, out, want)
		}
	}
}

// anyOther returns the name of an interface besides lo, or lo's if there is none: the program never opens it here.
func anyOther(t *testing.T) string {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Name != "lo" {
			return i.Name
		}
	}
	t.Fatal("this machine has no interface besides lo")
	return ""
}

func TestProgramEndsCleanlyWhileItWaits(t *testing.T) {
	cmd := program(t, "-config", settingsFile(t, "socket: "+filepath.Join(t.TempDir(), "s")+"\nports: [{name: \"1/1\", device: no-such0, twin: tw0}]\n"))
	var out logBuffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, "the program to name the missing device", func() bool { return strings.Contains(out.String(), "waits for device no-such0 of port 1/1") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ended with %v:\n%s", err, out.String())
		}
	case <-time.After(30 * time.Second):
		cmd.Process.Kill()
		t.Error("it did not end within 30 s after an interrupt")
	}
}

func TestProgramSaysItsVersion(t *testing.T) {
	out, err := program(t, "-version").Output()
	if err != nil || !strings.HasPrefix(string(out), "sluice-dataplane "+version) {
		t.Errorf("-version printed %q, %v", out, err)
	}
}
