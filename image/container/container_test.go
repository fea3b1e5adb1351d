package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

func TestChoose(t *testing.T) {
	rows := []struct {
		name  string
		found string
		wish  wish
		want  string // ports, then management; or words of the error
	}{
		{"one device is a port", "eth0", wish{}, "1/1=eth0 "},
		{"the first of several is for operators", "eth0 eth1 eth2", wish{}, "1/1=eth1 1/2=eth2 eth0"},
		{"ports by name", "eth0 eth1 eth2", wish{ports: []string{"eth2", "eth0"}}, "1/1=eth2 1/2=eth0 eth1"},
		{"management by name", "eth0 eth1", wish{management: "eth1"}, "1/1=eth0 eth1"},
		{"no management", "eth0 eth1", wish{management: "none"}, "1/1=eth0 1/2=eth1 "},
		{"one device, by name", "eth0", wish{ports: []string{"eth0"}}, "1/1=eth0 "},
		{"every device is a port", "eth0 eth1", wish{ports: []string{"eth0", "eth1"}}, "1/1=eth0 1/2=eth1 "},
		{"nothing", "", wish{}, "no network device"},
		{"only management", "eth0", wish{management: "eth0"}, "no port is left"},
		{"not there", "eth0 eth1", wish{ports: []string{"eth7"}}, "no device eth7"},
		{"twice", "eth0 eth1", wish{ports: []string{"eth1", "eth1"}}, "cannot be two ports"},
		{"port and management", "eth0 eth1", wish{ports: []string{"eth1"}, management: "eth1"}, "cannot be two ports"},
	}
	for _, r := range rows {
		p, err := choose(strings.Fields(r.found), r.wish)
		got := p.text() + " " + p.management
		if err != nil {
			got = err.Error()
		}
		if got != r.want && (err == nil || !strings.Contains(got, r.want)) {
			t.Errorf("%s: %q, want %q", r.name, got, r.want)
		}
	}
}

func TestWishes(t *testing.T) {
	env := map[string]string{"SLUICE_PORTS": "eth1, eth2", "SLUICE_FLOWS": "2048", "SLUICE_MEMORY": "lots"}
	w, err := wishes(func(name string) string { return env[name] })
	if err == nil || !strings.Contains(err.Error(), "SLUICE_MEMORY") {
		t.Errorf("accepted: %v", err)
	}
	if fmt.Sprint(w.ports) != "[eth1 eth2]" || w.flows != 2048 {
		t.Errorf("%+v", w)
	}
}

// TestSettings: no password stands in them that nobody has given, and only root reads them.
func TestSettings(t *testing.T) {
	config, out := t.TempDir(), t.TempDir()
	if u := logins(config); u != nil {
		t.Errorf("users out of nothing: %+v", u)
	}
	if err := os.WriteFile(filepath.Join(config, "nsroot.hash"), []byte("$argon2id$x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := settings(plan{ports: []string{"eth1"}, management: "eth0"}, wish{flows: 2048, memory: 64}, logins(config))
	if err == nil {
		err = f.write(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(out, "mgmt.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Users []map[string]string
		Ports []map[string]string
	}
	if err := yaml.Unmarshal(text, &got); err != nil || fmt.Sprint(got.Users) != "[map[name:nsroot password-hash:$argon2id$x]]" || fmt.Sprint(got.Ports) != "[map[device:eth1 name:1/1 twin:tw0]]" {
		t.Errorf("%v: %+v of\n%s", err, got, text)
	}
	if info, err := os.Stat(filepath.Join(out, "mgmt.yaml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// lockedBuffer is a log that a goroutine writes while the test reads.
type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.Lock()
	defer b.Unlock()
	return b.String()
}

// TestKeep: what ends is started again, what a program leaves behind is taken leave of, and at the end nothing is left, even of
// what does not want to.
func TestKeep(t *testing.T) {
	dir := t.TempDir()
	log := &lockedBuffer{}
	deaf := "trap '' TERM; echo $$ >" + dir + "/deaf; while :; do sleep 0.05; done"
	k := newKeeper(slog.New(slog.NewTextHandler(log, nil)), []program{
		{"brief", []string{"/bin/sh", "-c", "echo x >>" + dir + "/starts; (sleep 0.01 &) ; exit 3"}},
		{"deaf", []string{"/bin/sh", "-c", deaf}},
	})
	stop, done := make(chan os.Signal, 1), make(chan error, 1)
	go func() { done <- k.run(stop, 500*time.Millisecond) }()
	eventually(t, "three starts", func() bool {
		b, _ := os.ReadFile(dir + "/starts")
		return len(b) >= 6
	})
	eventually(t, "the deaf one", func() bool { _, err := os.Stat(dir + "/deaf"); return err == nil })
	stop <- syscall.SIGTERM
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it does not end")
	}
	b, err := os.ReadFile(dir + "/deaf")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	// Once killed, it stays a zombie of this process until it is waited for.
	eventually(t, "the end of the deaf one", func() bool {
		_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		return syscall.Kill(pid, 0) != nil
	})
	if !strings.Contains(log.text(), "status 3") || !strings.Contains(log.text(), "deaf") {
		t.Errorf("log:\n%s", log.text())
	}
	if err := newKeeper(slog.New(slog.DiscardHandler), []program{{"none", []string{"/no/such"}}}).run(stop, 0); err == nil || !strings.Contains(err.Error(), "none cannot be started") {
		t.Errorf("a program that is not there: %v", err)
	}
}

func eventually(t *testing.T, what string, probe func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !probe(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
