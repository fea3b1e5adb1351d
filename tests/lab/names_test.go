package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// names writes the zone lab.test, of one host www with addresses or without, and has the name server take it.
func names(t *testing.T, serial int, addresses ...string) {
	t.Helper()
	zone := fmt.Sprintf("$ORIGIN lab.test.\n$TTL 1\n@ SOA ns hostmaster %d 1 1 1 1\n@ NS ns\nns A 10.2.0.13\n", serial)
	for _, a := range addresses {
		zone += "www A " + a + "\n"
	}
	if err := os.MkdirAll(lab.Path("names"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, "names/lab.test", zone)
	if pid, err := lab.Pid("names-knot"); err == nil {
		if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(lab.Path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// resolver is the name server that management is told of by its resolv.conf.
func resolver(t *testing.T, ip string) {
	t.Helper()
	write(t, "adc/resolv.conf", "nameserver "+ip+"\noptions timeout:1 attempts:1\n")
}

// knot starts the name server of the zone at 10.2.0.13, which ends with the test.
func knot(t *testing.T) {
	t.Helper()
	if err := lab.NameServer("s3", "names", "lab.test"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lab.Stop("names-knot") })
}

// servedBy waits until a server alone answers at the vserver of the name, and no request fails.
func servedBy(t *testing.T, by string) {
	t.Helper()
	err := topology.Eventually(30*time.Second, func() error {
		if r := tool(t, "load", "-n", "5", "-timeout", "2s", "http://"+topology.VIP+":8091/"); r.Failed != 0 || r.By[by] != 5 {
			return fmt.Errorf("%d failed %v, served by %v, not by %s", r.Failed, r.Errors, r.By, by)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tells waits until the shell tells what is wanted of a server or a group.
func tells(t *testing.T, of, want string) {
	t.Helper()
	if err := lab.Basic().Shows("show "+of, want, 30*time.Second); err != nil {
		t.Fatal(err)
	}
}

// TestServerByName: a server is where a real name server says, and where it last was when that says nothing any more, also
// over a restart of management.
func TestServerByName(t *testing.T) {
	mustSettle(t)
	resolver(t, "10.2.0.13")
	names(t, 1, "10.2.0.11")
	knot(t)
	shell(t, "add server byname www.lab.test; add service web-name byname HTTP 80; bind service web-name -monitorName web-check")
	shell(t, "add lb vserver named HTTP "+topology.VIP+" 8091; bind lb vserver named web-name")
	defer shell(t, "rm lb vserver named; rm service web-name; rm server byname")
	servedBy(t, "s1")
	names(t, 2, "10.2.0.12")
	servedBy(t, "s2")
	names(t, 3)
	tells(t, "server byname", "Does not resolve: the name does not exist; the last address stays in use")
	servedBy(t, "s2")
	if err := lab.Stop("names-knot"); err != nil {
		t.Fatal(err)
	}
	kill(t, lab.Basic(), "mgmt")
	if err := lab.Basic().Ready(); err != nil {
		t.Fatal(err)
	}
	tells(t, "server byname", "Does not resolve: name server 10.2.0.13 does not answer")
	servedBy(t, "s2")
	names(t, 4, "10.2.0.11")
	knot(t)
	servedBy(t, "s1")
	if out := shell(t, "show server byname"); strings.Contains(out, "Does not resolve") {
		t.Errorf("it resolves again:\n%s", out)
	}
}

// TestNameServers: a name server of the configuration is asked in the place of the file's, and when it is taken away the file's
// again.
func TestNameServers(t *testing.T) {
	mustSettle(t)
	resolver(t, "10.2.0.99")
	names(t, 21, "10.2.0.11")
	knot(t)
	shell(t, "add server byname www.lab.test")
	defer shell(t, "rm server byname")
	tells(t, "server byname", "name server 10.2.0.99 does not answer")
	shell(t, "add dns nameServer 10.2.0.13")
	tells(t, "server byname", "IPAddress: 10.2.0.11")
	if out := shell(t, "show dns nameServer"); !strings.Contains(out, "1)\t10.2.0.13 - State: ENABLED") {
		t.Errorf("show dns nameServer:\n%s", out)
	}
	shell(t, "disable dns nameServer 10.2.0.13")
	tells(t, "server byname", "name server 10.2.0.99 does not answer")
	shell(t, "rm dns nameServer 10.2.0.13")
}

// TestGroupScales: a group has a member for each address that a real name server knows for a name; those that it does not know any
// more get no connection, and while it does not know the name, and over a restart, the last ones stay.
func TestGroupScales(t *testing.T) {
	mustSettle(t)
	resolver(t, "10.2.0.13")
	names(t, 11, "10.2.0.11", "10.2.0.12")
	knot(t)
	shell(t, "add server byname www.lab.test; add serviceGroup scales HTTP -autoScale DNS; bind serviceGroup scales byname 80; bind serviceGroup scales -monitorName web-check")
	shell(t, "add lb vserver named HTTP "+topology.VIP+" 8091 -lbMethod ROUNDROBIN; bind lb vserver named scales")
	defer shell(t, "rm lb vserver named; rm serviceGroup scales; rm server byname")
	by := func(want string) {
		t.Helper()
		if err := topology.Eventually(30*time.Second, func() error {
			r := tool(t, "load", "-n", "12", "-timeout", "2s", "http://"+topology.VIP+":8091/")
			if got := fmt.Sprint(r.By); r.Failed != 0 || got != want {
				return fmt.Errorf("%d failed %v, served by %s, want %s\n%s", r.Failed, r.Errors, got, want, shell(t, "show serviceGroup scales"))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	by("map[s1:6 s2:6]")
	names(t, 12, "10.2.0.11", "10.2.0.12", "10.2.0.13")
	by("map[s1:4 s2:4 s3:4]")
	names(t, 13, "10.2.0.13", "10.2.0.11")
	by("map[s1:6 s3:6]")
	names(t, 14)
	tells(t, "serviceGroup scales", "Does not resolve: the name does not exist; the last addresses stay in use")
	kill(t, lab.Basic(), "mgmt")
	if err := lab.Basic().Ready(); err != nil {
		t.Fatal(err)
	}
	by("map[s1:6 s3:6]")
}
