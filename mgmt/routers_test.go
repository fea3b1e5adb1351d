package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/mgmt/engine"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

// TestForce: a virtual router is kept backup until it is let go, over restarts of management.
func TestForce(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.is("add vrID 5", "Warning")
	d.is("add vrID 6", "Warning")
	held := func(want ...uint8) {
		t.Helper()
		h := d.o.engine.State().Held
		for _, id := range want {
			if !h[id] {
				t.Errorf("vrID %d is not kept backup", id)
			}
		}
		if len(h) != len(want) {
			t.Errorf("kept backup are %v, want %v", h, want)
		}
	}
	done := func(line string) {
		t.Helper()
		if got := d.do(line); got != "" {
			t.Errorf("%s: %q", line, got)
		}
	}
	for _, row := range []struct{ line, want string }{
		{"force vrID 7 -backup", "ERROR: No such resource [id, 7]"},
		{"force vrID 5", "ERROR: Required argument missing [-backup, -release]: give one of the two"},
		{"force vrID 5 -backup -release", "ERROR: Required argument missing [-backup, -release]: give one of the two"},
		{"force vrID 5 -release", "ERROR: Operation not permitted [release]: vrID 5 is not kept backup"},
	} {
		if got := d.do(row.line); got != row.want {
			t.Errorf("%s: %q, want %q", row.line, got, row.want)
		}
	}
	held()
	done("force vrID 5 -backup")
	done("force vrID 5 -backup") // which it is already
	done("force vrID 6 -backup")
	held(5, 6)
	done("force vrID 6 -release")
	held(5)
	for _, want := range []string{`msg="force vrID" user=nsroot source=192.0.2.7 line="force vrID 5 -backup" result=Done`,
		`line="force vrID 7 -backup" result="ERROR: No such resource [id, 7]"`} {
		if !strings.Contains(d.log.String(), want) {
			t.Errorf("%s is not in the log:\n%s", want, d.log)
		}
	}
	d.kill()
	d = newDesk(t, dir)
	held(5)
	if want := `level=WARN msg="management was restarted and goes on to keep a virtual router backup" object="vrID 5"`; !strings.Contains(d.log.String(), want) {
		t.Errorf("%s is not in the log:\n%s", want, d.log)
	}
	done("force vrID 5 -release")
	d.kill()
	d = newDesk(t, dir)
	held()
}

// ear is a dataplane that listens: it has roles, and takes leases for them.
type ear struct {
	engine.Dataplane

	mu     sync.Mutex
	has    api.Stats
	roles  api.Roles
	leases int // for mastership
}

func (e *ear) Apply(_ context.Context, t *api.Tables) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.has.StartedUnixMilli = 1
	if t.Config != nil {
		e.has.ConfigVersion = t.Config.Version
	}
	if t.Health != nil {
		e.has.HealthVersion = t.Health.Version
	}
	if t.FIB != nil {
		e.has.FIBVersion = t.FIB.Version
	}
	if t.Neighbors != nil {
		e.has.NeighborsVersion = t.Neighbors.Version
	}
	if t.Roles != nil {
		e.roles, e.has.RolesVersion = *t.Roles, t.Roles.Version
	}
	return nil
}

func (e *ear) Stats(context.Context) (*api.Stats, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.has
	return &s, nil
}

func (e *ear) Lease(_ context.Context, l *api.Lease) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if l.Roles != e.roles.Version {
		return errors.New("other roles")
	}
	if e.leads() {
		e.leases++
	}
	return nil
}

func (e *ear) Events(context.Context) (<-chan api.Event, error) { return make(chan api.Event), nil }
func (e *ear) Close() error                                     { return nil }

// leads says whether it is master. The caller holds mu.
func (e *ear) leads() bool { return len(e.roles.List) == 1 && e.roles.List[0].Master }

func (e *ear) now() (master bool, leases int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.leads(), e.leases
}

// inOwnNetwork runs the test alone in a process with a network of its own, and reports whether this is that process.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	const mark = "SLUICE_TEST_OWN_NETWORK"
	if os.Getenv(mark) == t.Name() {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestHandOver: management that ends in good order gives mastership up by an advertisement of priority 0, leaves the dataplane a
// backup, and renews no lease any more.
func TestHandOver(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	for _, line := range []string{"link add tw0 type veth peer name far", "addr add 10.1.0.5/24 dev tw0", "link set tw0 up", "link set far up"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, unix.ETH_P_ALL<<8)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	var priorities []byte // of the advertisements that have left
	hear := func() []byte {
		var b [2048]byte
		for {
			n, from, err := unix.Recvfrom(fd, b[:], 0)
			if err != nil {
				return priorities
			}
			if ll := from.(*unix.SockaddrLinklayer); ll.Pkttype != unix.PACKET_OUTGOING && n > 36 && b[23] == 112 && b[35] == 9 {
				priorities = append(priorities, b[36])
			}
		}
	}
	log := &bytes.Buffer{}
	a := &appliance{log: slog.New(slog.NewTextHandler(log, nil)), now: time.Now}
	if a.speaker, err = vrrp.New(vrrp.Options{Changed: a.changed, Log: a.log}); err != nil {
		t.Fatal(err)
	}
	kernel, plane := &stillKernel{}, &ear{}
	dial := func(context.Context) (engine.Dataplane, error) { return plane, nil }
	a.engine = engine.New(engine.Options{Ports: []compile.Port{{Name: "1/1", Twin: "tw0"}}, Host: kernel, Prober: kernel, Log: a.log, Speaker: a.speaker, Dial: dial})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	end := a.speak(a.speaker, dial, &running)
	running.Go(func() { a.engine.Run(ctx) })
	c := schema.New()
	for _, line := range []string{"add ns ip 10.1.0.5 255.255.255.0", "add vrID 9 -priority 210", "add ns ip 10.1.0.50 255.255.255.255 -type VIP -vrID 9", "set vrIDParam -helloInterval 200 -deadInterval 1"} {
		if err := parsed(t, line).Apply(c); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	if _, err := a.engine.Boot(c); err != nil {
		t.Fatal(err)
	}
	await := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not within 30 s: %s; advertisements %d", what, hear())
			}
		}
	}
	await("the dataplane is master, and its lease is renewed", func() bool { master, n := plane.now(); return master && n >= 3 })
	await("the appliance says so", func() bool { return bytes.Contains(hear(), []byte{210}) })
	end()
	if master, _ := plane.now(); master {
		t.Error("the dataplane is left a master")
	}
	_, before := plane.now()
	await("mastership is given up", func() bool { p := hear(); return p[len(p)-1] == 0 })
	if p := hear(); bytes.Count(p, []byte{0}) != 1 {
		t.Errorf("the advertisements had the priorities %d", p)
	}
	cancel()
	running.Wait()
	if _, n := plane.now(); n != before {
		t.Error("the lease was renewed afterwards")
	}
	if want := `object="vrID 9" port=1/1 state=INIT reason="management ends"`; !strings.Contains(log.String(), want) {
		t.Errorf("%s is not in the log:\n%s", want, log)
	}
}
