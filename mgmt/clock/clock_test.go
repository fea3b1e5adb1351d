package clock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patient is how long what must come may take.
const patient = 60 * time.Second

// servers numbers the time servers of this run, each of which has an address of its own on loopback.
var servers atomic.Int32

// chronyServer is a real chronyd whose clock is wrong by some seconds: Debian's faketime makes it think so. Nobody's clock is set.
func chronyServer(t *testing.T, wrong int, more ...string) string {
	t.Helper()
	ip := fmt.Sprintf("127.%d.%d.%d", 100+servers.Add(1), os.Getpid()>>8&255, os.Getpid()&127+1)
	dir := t.TempDir()
	conf := strings.Join(append([]string{"local stratum 3", "allow 127.0.0.0/8", "bindaddress " + ip, "cmdport 0", "pidfile " + dir + "/pid", "bindcmdaddress /"}, more...), "\n") + "\n"
	if err := os.WriteFile(dir+"/conf", []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"chronyd", "-x", "-d", "-u", "root", "-f", dir + "/conf"}
	if wrong != 0 {
		args = append([]string{"faketime", "-f", fmt.Sprintf("%+ds", wrong)}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the server %s says\n%s", ip, &said)
		}
	})
	return ip
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// watching is a keeper that watches the clock and never sets it.
func watching(t *testing.T, dir string) (*Keeper, *journal) {
	t.Helper()
	j := &journal{}
	k := New(Options{Dir: filepath.Join(dir, "ntp"), Keys: filepath.Join(dir, "keys"), Log: slog.New(slog.NewTextHandler(j, nil)),
		Lookup: func(_ context.Context, name string) ([]netip.Addr, error) {
			ip, err := netip.ParseAddr(strings.TrimSuffix(name, ".test"))
			if err != nil {
				return nil, errors.New("the name does not exist")
			}
			return []netip.Addr{ip}, nil
		}})
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { k.Run(ctx); close(ended) }()
	t.Cleanup(func() {
		end()
		<-ended
		if t.Failed() {
			t.Logf("the keeper says\n%s", j)
		}
	})
	return k, j
}

// folder is one that the user of chronyd can get through, which those of tests are not.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "clock")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// until waits for something to hold of the status.
func until(t *testing.T, k *Keeper, what string, holds func(Status) bool) Status {
	t.Helper()
	var s Status
	for deadline := time.Now().Add(patient); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if s = k.Status(context.Background()); holds(s) {
			return s
		}
	}
	t.Fatalf("it does not come to this: %s: %+v", what, s)
	return s
}

func server(ip string) Server { return Server{Host: ip, Minpoll: 4, Maxpoll: 6} }

func follows(ip string) func(Status) bool {
	return func(s Status) bool { return s.Synchronized && s.Reference == ip }
}

func pidOf(t *testing.T, k *Keeper) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(k.opt.Dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// TestChronySaysWhatItWouldSet: a real server is 100 seconds ahead of this machine. Its chronyd is followed, and finds the clock
// wrong by these seconds; it would step it, and may not. Another server, then none: chronyd is told, and ended.
func TestChronySaysWhatItWouldSet(t *testing.T) {
	t.Parallel()
	ahead, right := chronyServer(t, 100), chronyServer(t, 0)
	k, j := watching(t, folder(t))
	k.Set([]Server{server(ahead)})
	s := until(t, k, "the server is followed", follows(ahead))
	if math.Abs(s.Ahead+100) > 1 || s.Stratum != 4 || s.Adjust || s.Off || len(s.Sources) != 1 || s.Sources[0].Reach == 0 {
		t.Errorf("%+v", s)
	}
	until(t, k, "the clock would be stepped", func(Status) bool {
		return strings.Contains(j.String(), "System clock wrong by 100.0") && strings.Contains(j.String(), "Could not step system clock")
	})
	pid := pidOf(t, k)
	k.Set([]Server{server(right + ".test"), server("nowhere.test")})
	s = until(t, k, "the other server is followed", follows(right))
	if math.Abs(s.Ahead) > 1 || s.Unresolved["nowhere.test"] != "the name does not exist" || pidOf(t, k) != pid {
		t.Errorf("%+v, process %d, was %d", s, pidOf(t, k), pid)
	}
	k.Set(nil)
	until(t, k, "chronyd ends", func(s Status) bool { return s.Off && syscall.Kill(pid, 0) != nil })
}

// TestServersThatDisagree: of two that are a minute apart none is right, and the clock follows neither.
func TestServersThatDisagree(t *testing.T) {
	t.Parallel()
	a, b := chronyServer(t, 100), chronyServer(t, 160)
	k, _ := watching(t, folder(t))
	k.Set([]Server{server(a), server(b)})
	s := until(t, k, "both are known not to agree", func(s Status) bool {
		return len(s.Sources) == 2 && s.Sources[0].State == "x" && s.Sources[1].State == "x"
	})
	if s.Synchronized {
		t.Errorf("%+v", s)
	}
}

// TestSignedAnswers: a server with a key is followed if its answers bear it. Without the file of keys nothing begins, and the status
// says so; with another key the server is not believed.
func TestSignedAnswers(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	const key = "5 SHA256 HEX:00112233445566778899AABBCCDDEEFF00112233445566778899AABBCCDDEEFF\n"
	if err := os.WriteFile(dir+"/server.keys", []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	ip := chronyServer(t, 0, "keyfile "+dir+"/server.keys")
	k, _ := watching(t, dir)
	signed := server(ip)
	signed.Key = 5
	k.Set([]Server{signed})
	until(t, k, "there is no file of keys", func(s Status) bool { return strings.Contains(s.Problem, "put keys into the configuration directory") })
	if err := os.WriteFile(dir+"/keys", []byte(strings.ReplaceAll(key, "FF\n", "00\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, k, "answers come and are not believed", func(s Status) bool {
		return len(s.Sources) == 1 && s.Sources[0].State == "?" && !s.Synchronized
	})
	k.Set(nil)
	until(t, k, "it is off", func(s Status) bool { return s.Off })
	if err := os.WriteFile(dir+"/keys", []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	k.Set([]Server{signed})
	until(t, k, "the server is believed", follows(ip))
}

// TestChronydIsSupervised: killed, it comes again; what a management that was killed has left behind is ended by the next.
func TestChronydIsSupervised(t *testing.T) {
	t.Parallel()
	ip, dir := chronyServer(t, 0), folder(t)
	left := &daemon{opt: &Options{Dir: filepath.Join(dir, "ntp"), Log: slog.New(slog.DiscardHandler)}}
	if err := left.follow(context.Background(), "server "+ip+"\n", false); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patient); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(left.path("pid")); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	k, _ := watching(t, dir)
	k.Set([]Server{server(ip)})
	select {
	case <-left.ended():
	case <-time.After(patient):
		t.Fatal("the one that was left behind does not end")
	}
	until(t, k, "the server is followed", follows(ip))
	pid := pidOf(t, k)
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, k, "it is followed again", func(s Status) bool { return follows(ip)(s) && pidOf(t, k) != pid })
}

// TestOnlyAdjustSetsTheClock: chronyd is kept from the machine's clock unless the settings say that it is ours.
func TestOnlyAdjustSetsTheClock(t *testing.T) {
	for _, adjust := range []bool{false, true} {
		d := &daemon{opt: &Options{Dir: "/run/x", Adjust: adjust, Keys: "/config/ntp.keys"}}
		if slices.Contains(d.arguments("_chrony"), "-x") == adjust {
			t.Errorf("adjust %v: %v", adjust, d.arguments("_chrony"))
		}
		conf := d.settings(true)
		for _, line := range []string{"port 0\n", "cmdport 0\n", "makestep 1 3\n", "bindcmdaddress /run/x/socket\n", "keyfile /config/ntp.keys\n"} {
			if !strings.Contains(conf, line) {
				t.Errorf("no %q in\n%s", line, conf)
			}
		}
		if strings.Contains(conf, "rtcsync") != adjust {
			t.Error(conf)
		}
	}
}

// FuzzParse: whatever chronyd says, nothing worse than a refusal comes of it.
func FuzzParse(f *testing.F) {
	f.Add("0A630001,10.99.0.1,4,1796061783.4,0.0,-100.0,100.0,0.0,281.8,1000000.0,0.0001,6.1,2.0,Normal", "^,*,10.99.0.1,3,4,17,5,-100.0,-100.0,0.00008")
	f.Add("00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised", "^,?,10.99.0.1,0,4,0,4294967295,0.0,0.0,0.0")
	f.Add("", "^")
	f.Fuzz(func(t *testing.T, tracking, sources string) {
		rows := func(text string) (all [][]string) {
			for line := range strings.Lines(text) {
				all = append(all, strings.Split(strings.TrimSuffix(line, "\n"), ","))
			}
			return all
		}
		if s, err := parse(rows(tracking), rows(sources)); err == nil && len(s.Sources) != len(rows(sources)) {
			t.Errorf("%d servers of %d: %+v", len(s.Sources), len(rows(sources)), s)
		}
	})
}
