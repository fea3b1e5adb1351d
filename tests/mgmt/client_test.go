package mgmt

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// sluice runs our client on the operator's machine and returns what it prints and its exit code.
func sluice(t *testing.T, stdin string, args ...string) (out, errs string, code int) {
	t.Helper()
	a := lab.Basic()
	all := append([]string{"timeout", "60", filepath.Join(lab.Bin, "sluice"), "-i", lab.Path(a.Node + "/operator"),
		"-known-hosts", filepath.Join(t.TempDir(), "known"), "-accept-new", "nsroot@" + a.Addr}, args...)
	cmd := client(all...)
	var o, e bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &o, &e
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

const oneServer = `<config><sluice xmlns="urn:sluice:config"><server><name>pushed</name><ip-address>10.9.0.9</ip-address></server></sluice></config>`

// TestSluiceClient: files are pushed, compared and committed from another machine, with exit codes that scripts go by.
func TestSluiceClient(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.xml")
	if err := os.WriteFile(file, []byte(oneServer), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, stdin string
		args        []string
		code        int
		out, errs   string
	}{
		{"a command", "", []string{"show", "ns", "runningConfig"}, 0, "add lb vserver web", ""},
		{"a refused command", "", []string{"show lb vserver nothere"}, 1, "", "ERROR: No such resource [vserver, nothere]"},
		{"a script", "show server s1\nshow version\n", nil, 0, "Sluice", ""},
		{"nothing to commit", "", []string{"commit"}, 1, "", "there is no candidate"},
		{"a push", "", []string{"push", file}, 0, " Done", ""},
		{"the difference", "", []string{"diff", "config"}, 0, "add server pushed 10.9.0.9", ""},
		{"the check", "", []string{"validate"}, 0, " Done", ""},
		{"the commit", "", []string{"commit"}, 0, " Done", ""},
		{"a push from standard input", "set server pushed -comment x\n", []string{"push", "-", "merge"}, 0, " Done", ""},
		{"its difference", "", []string{"diff config; discard"}, 0, "set server pushed -comment x", ""},
		{"a bad file", "<config>", []string{"push", "-"}, 1, "", "ERROR: Invalid argument"},
		{"an empty file", "", []string{"push", "-"}, 1, "", "it is empty"},
		{"no such file", "", []string{"push", "nothere.xml"}, 255, "", "no such file"},
		{"the end", "", []string{"rm server pushed"}, 0, " Done", ""},
	} {
		out, errs, code := sluice(t, row.stdin, row.args...)
		if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) {
			t.Errorf("%s: code %d, %q, %q; want %d, %q, %q", row.name, code, out, errs, row.code, row.out, row.errs)
		}
	}
	cmd := exec.Command(filepath.Join(lab.Bin, "sluice"), "-known-hosts", filepath.Join(t.TempDir(), "known"), "nsroot@127.0.0.1:1", "show version")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 255 {
		t.Errorf("nobody there: %v", err)
	}
}

// TestCommitConfirmedOutlivesKill: management is killed while a commit waits to be confirmed; the next one undoes it.
func TestCommitConfirmedOutlivesKill(t *testing.T) {
	want := running(t)
	put(t, "unconfirmed.xml", oneServer)
	defer os.Remove(lab.Path("adc/config/unconfirmed.xml"))
	shell(t, "load config unconfirmed.xml")
	if out := shell(t, "commit confirmed 10"); !strings.Contains(out, "waits to be confirmed") {
		t.Fatal(out)
	}
	killMgmt(t)
	if !strings.Contains(running(t), "add server pushed") {
		t.Fatal("the commit is undone though its time has not come")
	}
	rewrite(t, "return.xml", `until="[^"]*"`, `until="1"`) // its time has passed for whoever reads it next
	killMgmt(t)
	err := topology.Eventually(2*time.Minute, func() error {
		if got, err := lab.Basic().Running(); err != nil || got != want {
			return errors.Join(err, errors.New("the commit is still in force:\n"+got))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if out := shell(t, "show ns config -history"); !strings.Contains(out, "was not confirmed") {
		t.Errorf("the history does not tell:\n%s", out)
	}
	shell(t, "save ns config")
}
