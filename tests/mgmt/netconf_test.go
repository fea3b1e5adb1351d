package mgmt

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/tests/lab/topology"
)

// manager is a step of testdata/netconf.py, which has python3-ncclient work on the appliance as a user, from the client.
func manager(user, password, step string) *exec.Cmd {
	return client("timeout", "120", "/usr/bin/python3", "testdata/netconf.py", lab.Basic().Addr, user, password, step)
}

func netconf(t *testing.T, user, password, step string) {
	t.Helper()
	if out, err := manager(user, password, step).CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "as expected\n") {
		t.Fatalf("%s: %v\n%s", step, err, out)
	}
}

// TestNcclientOnTheAppliance: what NETCONF changes is what the shell shows, a lock of NETCONF holds in the shell, and a commit
// that was confirmed by its token is there after management was killed in between.
func TestNcclientOnTheAppliance(t *testing.T) {
	before := running(t)
	netconf(t, "nsroot", topology.Password, "commit")
	for _, want := range []string{"add server nc1 10.2.0.201", "add service nc-s1 nc1 TCP 81", "bind lb vserver nc-v nc-s1"} {
		if got := running(t); !strings.Contains(got, want) {
			t.Errorf("the shell does not show %s:\n%s", want, got)
		}
	}
	shell(t, "set server nc1 -comment shell")
	netconf(t, "nsroot", topology.Password, "moved")
	shell(t, "discard ns config")

	locked := manager("nsroot", topology.Password, "lock")
	stdin, err := locked.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := locked.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := locked.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	if line, err := out.ReadString('\n'); err != nil || line != "locked\n" {
		t.Fatalf("%q %v", line, err)
	}
	refused(t, "add server nc2 10.2.0.202", "the running configuration is locked by nsroot in NETCONF session")
	refused(t, "save ns config", "the startup configuration is locked")
	io.WriteString(stdin, "\n")
	rest, _ := io.ReadAll(out)
	if err := locked.Wait(); err != nil || string(rest) != "as expected\n" {
		t.Fatalf("%v %s", err, rest)
	}
	shell(t, "add server nc2 10.2.0.202")

	netconf(t, "nsroot", topology.Password, "confirmed")
	killMgmt(t)
	if got := running(t); !strings.Contains(got, "add server nc3 ") {
		t.Errorf("the commit is undone before its time:\n%s", got)
	}
	netconf(t, "nsroot", topology.Password, "confirm")
	netconf(t, "nsroot", topology.Password, "remove")
	if got := running(t); got != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, got)
	}
}

// TestNcclientOfAReader: who may only read by his command policies reads, and changes nothing.
func TestNcclientOfAReader(t *testing.T) {
	shell(t, "add system user nc-reader Reader-secret-1")
	defer shell(t, "rm system user nc-reader")
	shell(t, "bind system user nc-reader read-only 1")
	netconf(t, "nc-reader", "Reader-secret-1", "reader")
}

// TestYangcliOnTheAppliance: yuma's client loads the module from the appliance and reads by it.
func TestYangcliOnTheAppliance(t *testing.T) {
	cmd := client("timeout", "60", "yangcli", "--server="+lab.Basic().Addr, "--ncport=22", "--user=nsroot",
		"--password="+topology.Password, "--batch-mode", "--display-mode=xml", "--run-command=sget-config source=running /sluice")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "<name>web-s1</name>") || strings.Contains(string(out), "Error") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestYanglintAcceptsTheStartupFile: what the appliance has saved is valid under the modules.
func TestYanglintAcceptsTheStartupFile(t *testing.T) {
	shell(t, "save ns config")
	text, err := os.ReadFile(lab.Path("adc/config/startup.xml"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<config")
	_, rest, _ = strings.Cut(rest, ">") // yanglint reads what stands in <config>
	rest, _, ok := strings.Cut(rest, "</config>")
	if !ok || !strings.Contains(rest, "<service>") {
		t.Fatalf("%s", text)
	}
	file := filepath.Join(t.TempDir(), "startup.xml")
	if err := os.WriteFile(file, []byte(rest), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("yanglint", "-t", "config", "sluice.yang", "sluice-held.yang", file)
	cmd.Dir = "../../vendor-config/yang"
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s\n%s", err, out, rest)
	}
}
