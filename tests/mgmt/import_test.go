package mgmt

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// exitCode is that of a command line given to OpenSSH.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// TestOpenSSHImport: the exit code says whether all of a file was right, what is kept word for word survives management's end, and a
// file is taken over while another operator changes something.
func TestOpenSSHImport(t *testing.T) {
	before := running(t)
	put(t, "right.conf", "# of a device\nadd server imported1 10.2.9.1\nadd service imported2 imported1 HTTP 80 -CKA YES\n")
	put(t, "wrong.conf", "add server imported3 10.2.9.300\nadd server imported4 10.2.9.4\n")
	out, err := lab.Basic().Shell("import ns.conf right.conf")
	if exitCode(err) != 0 || !strings.Contains(out, "2 lines: 1 applied, 1 stored, 0 rejected\n") || !strings.HasSuffix(out, " Done\n") {
		t.Errorf("a file without wrong lines: %v\n%s", err, out)
	}
	out, err = lab.Basic().Shell("import ns.conf wrong.conf")
	if exitCode(err) != 1 || !strings.Contains(out, "line 1: rejected: ") || !strings.Contains(out, "2 lines: 1 applied, 0 stored, 1 rejected\n") || strings.Contains(out, " Done\n") {
		t.Errorf("a file with a wrong line: %v\n%s", err, out)
	}
	refused(t, "import ns.conf missing.conf", "there is no such file")
	refused(t, "import ns.conf ../mgmt.yaml", "only files in ")
	refused(t, "import ns.conf", "Required argument missing [file]")

	done := make(chan error, 1)
	go func() {
		_, err := lab.Basic().Shell("add server imported5 10.2.9.5")
		done <- err
	}()
	if _, err := lab.Basic().Shell("import ns.conf right.conf"); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	journaled(t, "imported5")
	killMgmt(t)
	for _, want := range []string{"add server imported1 10.2.9.1", "add server imported4 10.2.9.4", "add server imported5 10.2.9.5",
		"\n# stored, not in force:\n", "\nadd service imported2 imported1 HTTP 80 -CKA YES\n"} {
		if got := shell(t, "show ns runningConfig"); !strings.Contains(got, want) {
			t.Errorf("after management was killed %q is gone:\n%s", want, got)
		}
	}
	if n := strings.Count(shell(t, "show ns line"), "-CKA YES"); n != 1 {
		t.Errorf("the line is kept %d times", n)
	}
	for _, line := range []string{"rm ns line 1", "rm server imported1", "rm server imported4", "rm server imported5"} {
		shell(t, line)
	}
	if after := running(t); after != before {
		t.Errorf("what was imported leaves something behind:\n%s", after)
	}
}
