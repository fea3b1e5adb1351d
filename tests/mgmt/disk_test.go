package mgmt

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// small puts an empty file system of 64 KiB over management's configuration directory. It gives its path for us, who
// see another set of mounts.
func small(t *testing.T) (dir string) {
	t.Helper()
	supervisor, err := lab.Pid("adc-mgmt")
	if err != nil {
		t.Fatal(err)
	}
	pid := strconv.Itoa(supervisor)
	dir = lab.Path("adc/config")
	mount := func(args ...string) {
		if out, err := exec.Command("nsenter", append([]string{"-t", pid, "-m", "-r"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
	}
	mount("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", dir)
	t.Cleanup(func() {
		mount("umount", "-l", dir)
		killMgmt(t)
		settle(t)
	})
	return "/proc/" + pid + "/root" + dir
}

// TestDiskFull: a change is still taken, a save is refused in one sentence and harms nothing, and all is told.
func TestDiskFull(t *testing.T) {
	dir := small(t)
	killMgmt(t)
	if got := running(t); strings.Contains(got, "add ") {
		t.Fatalf("the directory is not empty: %s", got)
	}
	if _, err := lab.Basic().Script(topology.BasicScript() + "save ns config\n"); err != nil {
		t.Fatal(err)
	}
	fill := dir + "/fill"
	_ = os.WriteFile(fill, make([]byte, 1<<20), 0o600) // as far as it goes
	shell(t, "add server more 10.9.9.9")
	refused(t, "save ns config", "ERROR: The configuration is not saved, the earlier startup configuration is unchanged", "no space left")
	told := func(want bool) {
		t.Helper()
		err := topology.Eventually(30*time.Second, func() error {
			if v := shell(t, "show version"); strings.Contains(v, "would not survive a restart of management") != want {
				return fmt.Errorf("the journal's trouble is to be told: %t:\n%s", want, v)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	told(true)
	killMgmt(t)
	if got := running(t); !strings.Contains(got, "add lb vserver web ") {
		t.Errorf("what was saved is lost:\n%s", got)
	}
	shell(t, "add server later 10.9.9.8")
	told(true)
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	told(false)
	shell(t, "save ns config")
}
