package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestNSIP: operators reach an appliance by its management port whether the dataplane lives or not, and one with a single NIC
// through its dataplane.
func TestNSIP(t *testing.T) {
	settled := func() error { return lab.Managed().Settled(30*time.Second, "web") }
	if err := topology.Beside(&lab, "nsip", settled, func() {
		t.Run("moves", nsipMoves)
		t.Run("without a dataplane", nsipWithoutDataplane)
		t.Run("metrics", metricsOfRunning)
		t.Run("syslog", syslogOfRunning)
		t.Run("single NIC", nsipSingle)
	}); err != nil {
		t.Fatal(err)
	}
}

const newNSIP = "192.168.77.9"

// managedAt is the appliance with a management port, by its new address.
func managedAt(ip string) *topology.Appliance {
	a := lab.Managed()
	a.Addr = ip
	return a
}

// reach waits until the shell at the appliance answers.
func reach(t *testing.T, a *topology.Appliance) {
	t.Helper()
	if err := a.Answers(); err != nil {
		t.Fatal(err)
	}
}

// move gives the appliance another NSIP. The answer is lost with the address.
func move(a *topology.Appliance, to string) {
	ssh := []string{"ssh", "-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2"}
	_ = a.OpenSSH(ssh, "set ns config -IPAddress "+to+" -netmask 255.255.255.0").Run()
}

// nsipMoves: the address that the machine came with stays until an NSIP is configured, which then is the only one; it holds at once.
func nsipMoves(t *testing.T) {
	first := lab.Managed()
	if out, err := first.Shell("show ns config"); err != nil || !strings.Contains(out, "NetScaler IP: none") || !strings.Contains(out, "Management port: 0/1 (mg0)") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := first.Shell("add ns ip 192.168.77.5 255.255.255.0"); err == nil || !strings.Contains(err.Error(), "on no port") {
		t.Errorf("a SNIP among the operators: %v", err)
	}
	move(first, newNSIP)
	a := managedAt(newNSIP)
	reach(t, a)
	if out, err := exec.Command("ip", "-n", lab.NS("adc"), "-4", "-o", "addr", "show", "dev", "mg0").Output(); err != nil || strings.Count(string(out), "inet ") != 1 || !strings.Contains(string(out), newNSIP+"/24") {
		t.Errorf("addresses of the management port: %v\n%s", err, out)
	}
	// An operator behind a router, to whom the dataplane's way would be another.
	for _, line := range []string{"add route 0.0.0.0 0.0.0.0 10.1.0.11", "add route 172.16.0.0 255.255.0.0 " + topology.OpsIP, "set ns hostName lb1", "save ns config"} {
		if _, err := a.Shell(line); err != nil {
			t.Error(err)
		}
	}
	if out, err := a.OpenSSH([]string{"ssh", "-b", topology.OpsFar}, "show route").CombinedOutput(); err != nil || !strings.Contains(string(out), "172.16.0.0") {
		t.Errorf("from behind a router: %v\n%s", err, out)
	}
	kill(t, a, "mgmt")
	reach(t, a)
	if out, err := a.Shell("show ns config"); err != nil || !strings.Contains(out, "NetScaler IP: "+newNSIP+"  (mask: 255.255.255.0)") {
		t.Errorf("after a restart: %v\n%s", err, out)
	}
	if out, err := a.Shell("show ns hostName"); err != nil || !strings.Contains(out, "Hostname: lb1") {
		t.Errorf("after a restart: %v\n%s", err, out)
	}
	// Nobody gets there by a port of the dataplane.
	if err := lab.Run("client", "ip", "route", "replace", "192.168.77.0/24", "via", "10.1.0.5"); err != nil {
		t.Fatal(err)
	}
	if out, err := lab.Command("client", "nc", "-z", "-w", "2", newNSIP, "22").CombinedOutput(); err == nil {
		t.Errorf("a client reaches the NSIP by a port of the dataplane: %s", out)
	}
}

// nsipWithoutDataplane: the dataplane is dead and stays so. A session that was open goes on, others begin, changes are made.
func nsipWithoutDataplane(t *testing.T) {
	a := managedAt(newNSIP)
	session := a.OpenSSH([]string{"ssh"})
	in, err := session.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	session.Stdout = &out
	if err := session.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "show ns hostName")
	if err := lab.Stop("adc-dataplane"); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "add server dead 10.1.0.77")
	in.Close()
	if err := session.Wait(); err != nil {
		t.Errorf("the open session: %v", err)
	}
	if got := out.String(); !strings.Contains(got, "Hostname: lb1") || !strings.Contains(got, "not connected") && !strings.Contains(got, "not answered") {
		t.Errorf("the open session prints\n%s", got)
	}
	if text, err := a.Shell("show server dead"); err != nil || !strings.Contains(text, "10.1.0.77") {
		t.Errorf("a new session: %v\n%s", err, text)
	}
	if err := a.Supervise("dataplane"); err != nil {
		t.Fatal(err)
	}
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
	if err := a.Settled(30*time.Second, "web"); err != nil {
		t.Fatal(err)
	}
	if err := topology.Eventually(30*time.Second, func() error { return lab.Run("client", "curl", "-sS", "-m", "2", "http://"+topology.NSIPVIP+"/") }); err != nil {
		t.Error(err)
	}
}

// metricsOfRunning: what Prometheus fetches of an appliance at work is as its linter wants it, and counts.
func metricsOfRunning(t *testing.T) {
	for range 3 {
		if err := lab.Run("client", "curl", "-sS", "-m", "30", "-o", "/dev/null", "http://"+topology.NSIPVIP+"/"); err != nil {
			t.Error(err)
		}
	}
	_ = lab.Run("client", "nc", "-z", "-w", "1", topology.NSIPVIP, "81") // no vserver
	text, err := lab.Command("ops", "curl", "-sS", "-m", "30", "http://"+newNSIP+":9100/metrics").Output()
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(string(text))
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("promtool: %v\n%s", err, out)
	}
	for _, want := range []string{`sluice_vserver_state{state="UP",vserver="web"} 1`, `sluice_service_up{service="web-s1"} 1`, "sluice_dataplane_up 1", `sluice_port_up{port="1/1"} 1`, `host="lb1"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is missing", want)
		}
	}
	for _, zero := range []string{`sluice_vserver_flows_total{vserver="web"} 0`, `sluice_packets_total{reason="drop-no-vserver"} 0`} {
		if strings.Contains(string(text), zero+"\n") {
			t.Errorf("not counted: %s", zero)
		}
	}
}

// syslogOfRunning: a real receiver on the operators' network gets who did what, and goes on to when management has started again.
func syslogOfRunning(t *testing.T) {
	dir := lab.Path("rsyslog")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf("global(workDirectory=%q)\nmodule(load=\"imtcp\")\ntemplate(name=\"seen\" type=\"string\" string=\"%%hostname%%|%%msg%%\\n\")\n"+
		"ruleset(name=\"all\") { action(type=\"omfile\" file=\"%s/seen\" template=\"seen\") }\ninput(type=\"imtcp\" port=\"514\" ruleset=\"all\")\n", dir, dir)
	if err := os.WriteFile(dir+"/conf", []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := lab.Start("ops", "ops-rsyslog", "rsyslogd", "-n", "-f", dir+"/conf", "-i", dir+"/pid"); err != nil {
		t.Fatal(err)
	}
	a := managedAt(newNSIP)
	for _, line := range []string{"add audit syslogAction ops " + topology.OpsIP + " -logLevel ALL -transport TCP", "add audit syslogPolicy ops ns_true ops",
		"bind audit syslogGlobal -policyName ops -priority 1", "add server logged 10.1.0.88"} {
		if _, err := a.Shell(line); err != nil {
			t.Fatal(err)
		}
	}
	comes := func(want string) {
		t.Helper()
		if err := topology.Eventually(30*time.Second, func() error {
			if b, _ := os.ReadFile(dir + "/seen"); !strings.Contains(string(b), want) {
				return fmt.Errorf("the receiver has not got %s:\n%s", want, b)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	comes(`user=nsroot source=` + topology.OpsIP)
	comes(`line="add server logged 10.1.0.88"`)
	if out, err := a.Shell("show audit syslogAction ops"); err != nil || !strings.Contains(out, "State: UP") || !strings.Contains(out, "lost: 0") {
		t.Errorf("%v\n%s", err, out)
	}
	kill(t, a, "mgmt")
	reach(t, a)
	comes("management was restarted")
	if b, _ := os.ReadFile(dir + "/seen"); !strings.Contains(string(b), "lb1|") {
		t.Errorf("no message bears the host name:\n%.1000s", b)
	}
}

// nsipSingle: one NIC for everything. Operators come through the dataplane, and are there again when it has come back.
func nsipSingle(t *testing.T) {
	a := lab.Single()
	if _, err := a.Script(topology.SingleScript()); err != nil {
		t.Fatal(err)
	}
	if err := a.Settled(30*time.Second, "web"); err != nil {
		t.Fatal(err)
	}
	if err := lab.Run("client", "curl", "-sS", "-m", "30", "http://10.1.0.60/"); err != nil {
		t.Error(err)
	}
	kill(t, a, "dataplane")
	reach(t, a)
	move(a, "10.1.0.21")
	a.Addr = "10.1.0.21"
	reach(t, a)
	if err := lab.Run("client", "nc", "-z", "-w", "2", topology.SingleNSIP, "22"); err == nil {
		t.Error("the old NSIP still answers")
	}
}
