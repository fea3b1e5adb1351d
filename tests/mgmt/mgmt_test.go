package mgmt

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// lab is the topology basic, up and configured once for all tests of this package.
var lab *topology.Lab

func TestMain(m *testing.M) {
	topology.Main(&lab, "basic@mgmt", func() error { return nil }, m.Run)
}

// shell runs one line, which must succeed.
func shell(t *testing.T, line string) string {
	t.Helper()
	out, err := lab.Basic().Shell(line)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// refused runs one line, which must be refused with these words.
func refused(t *testing.T, line string, want ...string) {
	t.Helper()
	out, err := lab.Basic().Shell(line)
	if err == nil {
		t.Fatalf("%s: accepted\n%s", line, out)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %v, want %q in it", line, err, w)
		}
	}
}

// running is the running configuration without its dates.
func running(t *testing.T) string {
	t.Helper()
	out, err := lab.Basic().Running()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func signal(t *testing.T, program string, sig syscall.Signal) {
	t.Helper()
	if err := lab.Basic().Signal(program, sig); err != nil {
		t.Fatal(err)
	}
}

// killMgmt kills management and waits until another one answers.
func killMgmt(t *testing.T) {
	t.Helper()
	old, err := lab.Basic().Pid("mgmt")
	if err != nil {
		t.Fatal(err)
	}
	signal(t, "mgmt", syscall.SIGKILL)
	err = topology.Eventually(30*time.Second, func() error {
		if pid, err := lab.Basic().Pid("mgmt"); err != nil || pid == old {
			return fmt.Errorf("management is not started again: %w", err)
		}
		_, err := lab.Basic().Shell("show version")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// put writes a file of the configuration directory.
func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(lab.Path("adc/config/"+name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rewrite replaces what matches in a file of the configuration directory.
func rewrite(t *testing.T, name, pattern, by string) {
	t.Helper()
	text, err := os.ReadFile(lab.Path("adc/config/" + name))
	if err != nil {
		t.Fatal(err)
	}
	put(t, name, regexp.MustCompile(pattern).ReplaceAllString(string(text), by))
}

// journaled waits until the journal holds a text.
func journaled(t *testing.T, text string) {
	t.Helper()
	err := topology.Eventually(30*time.Second, func() error {
		b, err := os.ReadFile(lab.Path("adc/config/running.xml"))
		if err == nil && !strings.Contains(string(b), text) {
			err = fmt.Errorf("the journal does not hold %q", text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func settle(t *testing.T) {
	t.Helper()
	if err := lab.Basic().Settled(30*time.Second, "web"); err != nil {
		t.Fatal(err)
	}
}

// client is a command on the client.
func client(args ...string) *exec.Cmd {
	return lab.Command("client", args...)
}
