package mgmt

import (
	"bufio"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// collector is a session on a terminal that reads as oxidized does: whatever comes, until the prompt stands on a line of its own.
type collector struct {
	t    *testing.T
	in   io.Writer
	out  chan string
	cmd  *exec.Cmd
	text string
}

// prompt is the one by which oxidized knows that a NetScaler is ready.
var prompt = regexp.MustCompile(`(?m)^[\w.-]*>\s?$`)

func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{t: t, cmd: lab.Basic().OpenSSH([]string{"timeout", "120", "ssh", "-tt"}), out: make(chan string, 1000)}
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.out)
		for r := bufio.NewReader(out); ; {
			b := make([]byte, 4096)
			n, err := r.Read(b)
			c.out <- string(b[:n])
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { c.cmd.Process.Kill(); c.cmd.Wait() })
	return c
}

// until reads on until the prompt has come, and returns what has.
func (c *collector) until() string {
	c.t.Helper()
	patience := time.After(30 * time.Second)
	for !prompt.MatchString(strings.ReplaceAll(c.text, "\r\n", "\n")) {
		select {
		case more, open := <-c.out:
			if c.text += more; !open {
				c.t.Fatalf("the session has ended after %q", c.text)
			}
		case <-patience:
			c.t.Fatalf("no prompt is found in %q", c.text)
		}
	}
	text := strings.ReplaceAll(c.text, "\r\n", "\n")
	c.text = ""
	return text
}

// TestOxidizedSequence: the commands that oxidized's NetScaler model gives, read by its rules: of each answer the first line, which is
// the echo, and the last two, which are Done and the prompt, are dropped. "Name:" in an answer about partitions would make it switch to
// each. What administrators look at beside these commands is read by the same rules.
func TestOxidizedSequence(t *testing.T) {
	shell(t, "save ns config")
	c := collect(t)
	c.until()
	for _, row := range []struct{ line, begins, has string }{
		{"show version", "\tSluice ", "Build"},
		{"show hardware", "\tPlatform: ", "Kernel: "},
		{"show partition", "\tPartition: default", "the whole appliance\n"},
		{"show ns feature", "\tFeature ", " LB                   ON\n"},
		{"show ns mode", "\tMode ", " USNIP                ON\n"},
		{"show ha node", "1)\tNode ID:      0\n", "Master State: Primary\n"},
		{"show ns ns.conf", "#Sluice ", "\nadd lb vserver web HTTP 10.1.0.50 80"},
	} {
		io.WriteString(c.in, row.line+"\n")
		lines := strings.SplitAfter(strings.TrimSuffix(c.until(), "\n"), "\n")
		if len(lines) < 3 || lines[0] != row.line+"\n" && lines[0] != "> "+row.line+"\n" || lines[len(lines)-2] != " Done\n" {
			t.Errorf("%s: the answer has another frame than oxidized takes off: %q", row.line, lines)
			continue
		}
		text := strings.Join(lines[1:len(lines)-2], "")
		if !strings.HasPrefix(text, row.begins) || !strings.Contains(text, row.has) || strings.Contains(text, "\x1b") || strings.Contains(text, "Name:") {
			t.Errorf("%s: %q, want %q at its beginning and %q in it", row.line, text, row.begins, row.has)
		}
	}
	io.WriteString(c.in, "exit\n")
	ended := make(chan error, 1)
	go func() { ended <- c.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("exit: %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Error("exit does not end the session")
	}
}
