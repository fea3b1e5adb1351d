package seeds

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// keepalived is a fourth node for VIP1, at the router: what both say passes the workers and the twins.
func keepalived(t *testing.T) {
	if err := lab.Plays(1, 1, "MASTER"); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		priority int
		ours     string // where NS1 stands beside it
	}{{250, "BACKUP"}, {1, "MASTER"}} {
		conf := lab.Path("keepalived.conf")
		must(t, os.WriteFile(conf, []byte(fmt.Sprintf(`global_defs {
  router_id fourth
}
vrrp_instance V {
  interface r1
  virtual_router_id 1
  priority %d
  version 3
  advert_int 0.2
  virtual_ipaddress {
    %s/32
  }
}
`, row.priority, topology.VRRPVIP(1))), 0o600))
		k := lab.Command("router", "keepalived", "-P", "-n", "-l", "-f", conf, "-p", lab.Path("keepalived.pid"), "-r", lab.Path("keepalived-vrrp.pid"))
		k.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		k.Stderr = t.Output()
		must(t, k.Start())
		defer func() { _ = syscall.Kill(-k.Process.Pid, syscall.SIGKILL) }()
		must(t, lab.Plays(1, 1, row.ours))
		has := func(want bool) {
			t.Helper()
			must(t, topology.Eventually(30*time.Second, func() error {
				out := in(t, "router", "ip -4 -o addr show dev r1 to "+topology.VRRPVIP(1))
				if (out != "") != want {
					return fmt.Errorf("keepalived of priority %d has VIP1: %v", row.priority, out != "")
				}
				return nil
			}))
		}
		if row.ours == "MASTER" {
			time.Sleep(2 * time.Second) // in which it would take over thrice
			must(t, lab.Plays(1, 1, "MASTER"))
		}
		has(row.ours == "BACKUP")
		end(k)
		must(t, lab.Plays(1, 1, "MASTER"))
		has(false)
	}
	must(t, lab.VRRPSettled())
	get(t, 1)
}

// end has a program end in good order.
func end(c *exec.Cmd) {
	_ = c.Process.Signal(syscall.SIGTERM)
	_ = c.Wait()
}
