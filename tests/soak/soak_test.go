package soak

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// Virtual addresses beside those of the topology basic.
const (
	webVIP     = topology.VIP
	udpVIP     = topology.UDPVIP
	onlyVIP    = "10.1.0.60" // one service, which flaps
	pairVIP    = "10.1.0.61"
	churnVIP   = "10.1.0.62" // its services come and go
	leastVIP   = "10.1.0.63"
	hashVIP    = "10.1.0.64"
	packetsVIP = "10.1.0.65"

	hashClients = 8 // further addresses of the client
)

func hashClient(i int) string { return fmt.Sprintf("10.1.0.%d", 101+i) }

var lab *topology.Lab

// TestMain is also the client: see runClient.
func TestMain(m *testing.M) {
	if sum := os.Getenv("SLUICE_SOAK_CLIENT"); sum != "" {
		if err := runClient(spell(), sum); err != nil {
			fmt.Fprintln(os.Stderr, "soak client:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	topology.Main(&lab, "workers@soak", func() error { return lab.Basic().Settled(30*time.Second, "web", "echo") }, m.Run)
}

// spell is how long traffic flows: SOAK, or 60 s.
func spell() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("SOAK")); err == nil {
		return d
	}
	return time.Minute
}

// script is what stands beside the configuration of basic. Idle flows end soon, so that one that is stuck shows.
func script() string {
	s := `set lb vserver web -cltTimeout 5
set lb vserver echo -cltTimeout 5
add lb vserver only HTTP ` + onlyVIP + ` 80 -lbMethod ROUNDROBIN -cltTimeout 5
bind lb vserver only web-s3
add lb vserver pair HTTP ` + pairVIP + ` 80 -lbMethod ROUNDROBIN -cltTimeout 5
bind lb vserver pair web-s1
bind lb vserver pair web-s2
add lb vserver churn HTTP ` + churnVIP + ` 80 -lbMethod LEASTCONNECTION -cltTimeout 5
add service churn-0 s1 HTTP 8080 -healthMonitor NO
bind lb vserver churn churn-0
add lb vserver least HTTP ` + leastVIP + ` 80 -lbMethod LEASTCONNECTION -cltTimeout 5
add lb vserver hash HTTP ` + hashVIP + ` 80 -lbMethod SOURCEIPHASH -cltTimeout 5
add lb vserver packets UDP ` + packetsVIP + ` 7 -lbMethod LEASTPACKETS -cltTimeout 5
`
	for _, n := range topology.Servers {
		s += fmt.Sprintf("bind lb vserver least web-%[1]s\nbind lb vserver hash web-%[1]s\nbind lb vserver packets echo-%[1]s\n", n)
	}
	return s
}

// window is a time in which requests of some kinds may fail, since a server was killed.
type window struct {
	kinds    string
	from, to time.Time
}

// soak is one run.
type soak struct {
	t       *testing.T
	a       *topology.Appliance
	commits int
	churned int       // services that churn has had
	down    time.Time // when s3 was killed, if it is dead

	mu      sync.Mutex
	windows []window
	watches sync.WaitGroup
}

func TestSoak(t *testing.T) {
	s := &soak{t: t, a: lab.Basic()}
	s.configure(script())
	if err := s.a.Settled(30*time.Second, "web", "echo", "least", "hash", "packets"); err != nil {
		t.Fatal(err)
	}
	for i := range hashClients {
		if out, err := exec.Command("ip", "-n", lab.NS("client"), "addr", "add", hashClient(i)+"/24", "dev", "c0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	sum := s.makeFile()
	before := s.atRest(5 * time.Second)
	wait := s.startClient(sum)
	end := time.Now().Add(spell())
	for n := 1; time.Now().Before(end); n++ {
		next := time.Now().Add(time.Second)
		s.second(n, time.Until(end))
		time.Sleep(time.Until(next))
	}
	s.allUp()
	r := wait()
	t.Logf("%v of traffic: answers %v, %d requests failed, %d commits", spell(), r.Good, len(r.Failures), s.commits)
	s.judge(r)
	s.account(before, s.atRest(60*time.Second))
}

// second does what happens in the n-th second: a commit, and now and then something dies. Nothing does shortly before the end.
func (s *soak) second(n int, left time.Duration) {
	switch {
	case n%20 == 5 && left > 20*time.Second:
		s.kill()
	case n%20 == 12 && !s.down.IsZero():
		s.revive()
	case n%30 == 19:
		s.killMgmt()
	}
	switch {
	case n%5 == 1:
		s.line("disable service web-s2 -graceFul YES") // without it connections end at once
	case n%5 == 3:
		s.line("enable service web-s2")
	case n%2 == 0:
		s.churn()
	default:
		s.line(fmt.Sprintf("set lb vserver web -cltTimeout %d", 5+rand.IntN(2)))
	}
}

// churn puts a new service in the place of the one before, whose flows still live.
func (s *soak) churn() {
	before := s.churned
	s.churned++
	s.line(fmt.Sprintf("add service churn-%d s1 HTTP %d -healthMonitor NO", s.churned, 8080+s.churned%2))
	s.line(fmt.Sprintf("bind lb vserver churn churn-%d", s.churned))
	s.line(fmt.Sprintf("unbind lb vserver churn churn-%d", before))
	s.line(fmt.Sprintf("rm service churn-%d", before))
}

// line is a commit.
func (s *soak) line(text string) {
	s.commits++
	s.t.Log(time.Now().Format(stamp), text)
	if out, err := s.a.Shell(text); err != nil {
		s.t.Errorf("%s: %v: %s", text, err, out)
	}
}

func (s *soak) configure(text string) {
	if out, err := s.a.Script(text); err != nil || strings.Contains(out, "ERROR") {
		s.t.Fatalf("the soak's configuration is refused: %v\n%s", err, out)
	}
}

// Who may fail when s3 is killed: until it is DOWN whoever may be balanced to it, until it is UP again who has no other server.
const (
	mayMeetS3 = "short least hash keep"
	needsS3   = "only"
	aMoment   = time.Second // for what is under way
)

// kill kills s3's web server and opens the windows in which requests may fail.
func (s *soak) kill() {
	began := time.Now()
	if err := lab.Stop("s3-nginx"); err != nil {
		s.t.Error(err)
	}
	s.open(mayMeetS3, began, "DOWN")
	s.down = began
}

// revive lets it live again.
func (s *soak) revive() {
	if err := lab.WebServer(2); err != nil {
		s.t.Error(err)
	}
	s.open(needsS3, s.down, "UP")
	s.down = time.Time{}
}

// open lets requests of some kinds fail from a time on until s3 is in a state.
func (s *soak) open(kinds string, from time.Time, state string) {
	s.watches.Go(func() {
		if err := s.a.State("web-s3", state, 20*time.Second); err != nil {
			s.t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.windows = append(s.windows, window{kinds, from.Add(-aMoment), time.Now().Add(aMoment)})
	})
}

func (s *soak) killMgmt() {
	err := s.a.Signal("mgmt", syscall.SIGKILL)
	if err == nil {
		time.Sleep(200 * time.Millisecond)
		err = s.a.Ready()
	}
	if err != nil {
		s.t.Error(err)
	}
}

// allUp ends every disturbance.
func (s *soak) allUp() {
	s.line("enable service web-s2")
	if !s.down.IsZero() {
		s.revive()
	}
	s.watches.Wait()
}

// makeFile writes the file to download.
func (s *soak) makeFile() string {
	b := make([]byte, 2<<20)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	if err := os.WriteFile(lab.Path("www/soak"), b, 0o644); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// startClient starts this binary in the client's namespace; the function that it returns waits for the report.
func (s *soak) startClient(sum string) func() *report {
	exe, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := lab.Command("client", "timeout", strconv.Itoa(int(spell().Seconds())+60), exe)
	cmd.Env = append(os.Environ(), "SLUICE_SOAK_CLIENT="+sum)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return func() *report {
		r := &report{}
		if err := errors.Join(cmd.Wait(), json.Unmarshal(out.Bytes(), r)); err != nil {
			s.t.Fatalf("the client: %v\n%s", err, out.String())
		}
		return r
	}
}
