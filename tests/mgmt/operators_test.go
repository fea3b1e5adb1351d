package mgmt

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// TestTwentyAtOnce: twenty logins of one address in the same moment, all changing the same object: all are served.
func TestTwentyAtOnce(t *testing.T) {
	var all sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = lab.Basic().Shell(fmt.Sprintf("set service web-s1 -cltTimeout %d", 200+i))
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
	if got := running(t); !regexp.MustCompile(`add service web-s1 .*-cltTimeout 2[01]\d `).MatchString(got) {
		t.Errorf("none of the values is in force:\n%s", got)
	}
	shell(t, "set service web-s1 -cltTimeout 180")
}

// TestOperatorIsNotLockedOut: an address of the management network is not taken to a port, the operator's least of all.
func TestOperatorIsNotLockedOut(t *testing.T) {
	before := running(t)
	for _, line := range []string{"add ns ip 192.168.77.2 255.255.255.0", "add ns ip 192.168.77.2 255.255.255.255",
		"add ns ip 192.168.77.1 255.255.255.0"} {
		refused(t, line, "Operation not permitted [IPAddress, 192.168.77.", "192.168.77.1/24")
	}
	if after := running(t); after != before {
		t.Errorf("something has changed:\n%s", after)
	}
}

// TestDataplaneHangs: a change is taken and says that it waits; what only reads configuration is answered at once; and
// the change is in force when the dataplane goes on.
func TestDataplaneHangs(t *testing.T) {
	settle(t)
	signal(t, "dataplane", syscall.SIGSTOP)
	stopped := true
	goOn := func() {
		if stopped {
			signal(t, "dataplane", syscall.SIGCONT)
			stopped = false
		}
	}
	defer goOn()
	began := time.Now()
	shell(t, "show lb vserver web")
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("show takes %s", took)
	}
	if out := shell(t, "add lb vserver late HTTP 10.1.0.59 80"); !strings.Contains(out, "Warning: The dataplane") {
		t.Errorf("no warning: %s", out)
	}
	shell(t, "bind lb vserver late web-s1")
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("three commands take %s", took)
	}
	goOn()
	if err := topology.Eventually(30*time.Second, func() error {
		return client("curl", "-sf", "-m", "1", "http://10.1.0.59/").Run()
	}); err != nil {
		t.Errorf("the vserver does not answer: %v", err)
	}
	shell(t, "rm lb vserver late")
	shell(t, "rm ns ip 10.1.0.59")
}

// TestCountersAgreeWithServers: what stat tells of requests is what the servers have logged.
func TestCountersAgreeWithServers(t *testing.T) {
	settle(t)
	hits := func(what string) int {
		out := shell(t, "stat "+what)
		m := regexp.MustCompile(`(?m)^(?:Vserver|Service) hits +\S+ +(\d+)$`).FindStringSubmatch(out)
		if m == nil {
			t.Fatalf("no hits in\n%s", out)
		}
		n, _ := strconv.Atoi(m[1])
		return n
	}
	logged := func(s string) int {
		b, err := os.ReadFile(lab.Path(s + "/access.log"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(b), "\n")
	}
	shell(t, "set lb vserver web -weight 3 web-s2")
	before := map[string][2]int{}
	for _, s := range topology.Servers {
		before[s] = [2]int{hits("service web-" + s), logged(s)}
	}
	all := hits("lb vserver web")
	const n = 100
	if out, err := client(lab.Bin+"/sluice-lab", "load", "-n", strconv.Itoa(n), "-rate", "100", "http://10.1.0.50/").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	shell(t, "set lb vserver web -weight 1 web-s2")
	for i, want := range []int{20, 60, 20} {
		s := topology.Servers[i]
		h, l := hits("service web-"+s)-before[s][0], logged(s)-before[s][1]
		if h != want || l != want {
			t.Errorf("%s: %d hits are told and %d requests logged, want %d", s, h, l, want)
		}
	}
	if got := hits("lb vserver web") - all; got != n {
		t.Errorf("the vserver tells %d hits, want %d", got, n)
	}
}
