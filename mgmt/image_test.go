package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/image/slot"
	"sluice/tests/slots"
)

// slotDesk is a desk on a machine with slots, and the images folder.
func slotDesk(t *testing.T, m *slots.Machine, dir string) *desk {
	t.Helper()
	images := filepath.Join(m.Dir, "images")
	if err := os.MkdirAll(images, 0o755); err != nil {
		t.Fatal(err)
	}
	slotsOf[t.Name()] = m.Disk
	defer delete(slotsOf, t.Name())
	d := newDesk(t, dir)
	d.o.images.key, d.o.images.dir = m.KeyFile(), images
	d.o.images.power = func(action string) error { m.Put("power", action); return nil }
	return d
}

// install gives the command as a session without a terminal does.
func (d *desk) install(from string) string {
	d.t.Helper()
	op, err := grammar.Parse("install image " + from)
	if err != nil {
		d.t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.o.Stream(context.Background(), "nsroot", op, &out, false); err != nil {
		fmt.Fprintf(&out, "ERROR: %v\n", err)
	}
	return out.String()
}

func (d *desk) installs(from, want string) {
	d.t.Helper()
	if text := d.install(from); !strings.Contains(text, want) {
		d.t.Errorf("install image %s: %q, want %q", from, text, want)
	}
}

// reboots is the end of this run of the machine and the start of the next one.
func (d *desk) reboots(m *slots.Machine, dir, version string) *desk {
	d.t.Helper()
	d.flush()
	d.kill()
	m.Boot()
	m.Release(version)
	return slotDesk(d.t, m, dir)
}

// TestUpgradeByTheShell: installed, tried, kept, and back again, each slot with its configuration.
func TestUpgradeByTheShell(t *testing.T) {
	m, dir := slots.New(t), t.TempDir()
	d := slotDesk(t, m, dir)
	d.is("show image", "Slot A:\tRunning, Started next\n\tVersion: 1.0\tCommit: -\tFlavour: vm\nSlot B:\tIdle\n\tEmpty\n")
	d.do("add server s1 10.1.0.11")
	d.do("save ns config")
	m.Put("images/sluice.bundle", string(m.Bundle("1.1")))
	text := d.install("/images/sluice.bundle")
	for _, want := range []string{"The image is 1.1 of flavour vm, and its signature is right: it is written to slot B.\n", "It is written, and was found right on the disk.\n",
		"Warning: The next start tries slot B with 1.1, once; it is kept if it comes up well, else slot A comes back. Give reboot to start it.\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
	if strings.Contains(text, "not saved") {
		t.Error(text)
	}
	d.do("add server s2 10.1.0.12")
	d.is("set image -boot B", "The running configuration holds changes that are not saved")
	d.is("show image", "Slot B:\tTried at the next start\n\tVersion: 1.1")
	d.is("reboot -f", "")
	d = d.reboots(m, dir, "1.1")
	d.is("show image", "Slot B:\tRunning, On trial\n")
	d.is("show ns runningConfig", "server s1")
	d.installs("sluice.bundle", "Slot B is being tried")
	d.is("set image -boot A", "Slot B is being tried")
	keep(t, m)
	d.is("show image", "Outcome: Kept")
	d.do("add server s3 10.1.0.13")
	d.do("save ns config")
	d.is("set image -boot A", "Slot A goes on with its own configuration, as it was left on ")
	d = d.reboots(m, dir, "1.0")
	d.is("show ns runningConfig", "server s1")
	d.lacks("show ns runningConfig", "server s3")
	keep(t, m)
	d.is("show image", "Slot B:\tIdle")
	m.Put("images/next.bundle", string(m.Bundle("1.2")))
	d.installs("next.bundle", "The configuration that slot B was left with is system backup slot_B_")
	d.is("show system backup", "slot_B_")
	d.is("set image -boot A", "") // thought better of it
	d.is("show image", "Outcome: Taken back before the start")
	if at := m.Boot(); at != slot.A {
		t.Errorf("%s is started", at)
	}
}

// keep is what sluice-boot health does with a slot that has come up.
func keep(t *testing.T, m *slots.Machine) {
	t.Helper()
	tr, err := m.Trial()
	if err == nil {
		err = m.Keep(tr)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestUpgradeThatReturnsIsTold in show image, in the log and at the login.
func TestUpgradeThatReturnsIsTold(t *testing.T) {
	m, dir := slots.New(t), t.TempDir()
	d := slotDesk(t, m, dir)
	m.Put("images/b", string(m.Bundle("1.1")))
	d.install("b")
	d = d.reboots(m, dir, "1.1")
	tr, err := m.Trial()
	if err == nil {
		err = m.GiveUp(tr, "the dataplane is not connected")
	}
	if err != nil {
		t.Fatal(err)
	}
	d = d.reboots(m, dir, "1.0")
	const told = "slot B with 1.1 was tried and is not kept: the dataplane is not connected"
	d.is("show image", "Outcome: Not kept, slot A came back: the dataplane is not connected")
	if greeting := d.o.greeting(); !strings.Contains(greeting, told) || !strings.Contains(d.log.String(), told) {
		t.Errorf("%q\n%s", greeting, d.log)
	}
}

func TestInstallImageRefused(t *testing.T) {
	m, dir := slots.New(t), t.TempDir()
	d := slotDesk(t, m, dir)
	good := m.Bundle("1.1")
	other := slots.New(t)
	m.Put("images/other", string(other.Bundle("1.1")))
	m.Put("images/short", string(good[:len(good)-6000]))
	m.Put("images/junk", "junk")
	m.Put("secret", "x")
	for name, to := range map[string]string{"out": "../secret", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(m.Dir, "images", name)); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/good":
			w.Write(good)
		case "/elsewhere":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/endless":
			http.Redirect(w, r, "/endless", http.StatusFound)
		case "/cut": // its length is not known before
			w.(http.Flusher).Flush()
			w.Write(good[:len(good)-6000])
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for _, row := range []struct{ from, want string }{
		{"nosuch", "ERROR: No such resource [source, nosuch]"},
		{"../secret", "ERROR: Invalid value [source, ../secret]: bundles lie below /images"},
		{"out", "leads out of /images"},
		{"loop", "ERROR: Operation not permitted [loop]"},
		{".", "bundles lie below /images"},
		{"other", "ERROR: Invalid argument [source, other]: its signature is not of the key that this appliance trusts"},
		{"short", "ERROR: Invalid argument [source, short]: it has "},
		{"junk", "it is no bundle"},
		{"ftp://x/y", "it is a file below /images, or http://... or https://..."},
		{"http://", "it is no URL"},
		{"http://u:p4ss@x/y", "a URL with a password would stand in the log"},
		{server.URL + "/nosuch?token=t0k", "the server answers \"404 Not Found\""},
		{server.URL + "/elsewhere", "unsupported protocol scheme"},
		{server.URL + "/endless", "it leads elsewhere"},
		{server.URL + "/cut", "The image is not installed, slot B is empty and slot A stays what is started: it is cut off"},
		{"http://127.0.0.1:1/x", "connection refused"},
	} {
		text := d.install(row.from)
		if !strings.Contains(text, row.want) {
			t.Errorf("%s: %q, want %q", row.from, text, row.want)
		}
		if strings.Contains(text+d.log.String(), "p4ss") || strings.Contains(text+d.log.String(), "t0k") {
			t.Errorf("%s: a secret is told: %s", row.from, text)
		}
		if s, err := m.State(); err != nil || s.Tried != "" || s.Images[slot.B].Manifest != nil {
			t.Errorf("%s: %+v, %v", row.from, s, err)
		}
	}
	d.is("set image -boot B", "There is no whole image in slot B: install one first")
	d.installs(server.URL+"/good", "The next start tries slot B with 1.1")
	d.o.images.key = filepath.Join(m.Dir, "nokey")
	d.installs("other", "ERROR: Operation not permitted [install image]: this appliance was built without a key")
}

// TestInstallIsEnded by the operator: what is being fetched ends, and the slot counts as empty.
func TestInstallIsEnded(t *testing.T) {
	m := slots.New(t)
	d := slotDesk(t, m, t.TempDir())
	good := m.Bundle("1.1")
	ctx, end := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(good[:len(good)-6000])
		w.(http.Flusher).Flush()
		end()
		<-r.Context().Done()
	}))
	defer server.Close()
	op, err := grammar.Parse("install image " + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.o.Stream(ctx, "nsroot", op, &out, true); err == nil {
		t.Error(out.String())
	}
	d.is("show image", "Slot B:\tIdle\n\tEmpty")
}

// TestMachineWithoutSlots: the commands say so in one sentence, and the machine is left alone.
func TestMachineWithoutSlots(t *testing.T) {
	d := newDesk(t, t.TempDir())
	d.o.images.power = func(action string) error { t.Errorf("the machine is to %s", action); return nil }
	for _, line := range []string{"show image", "set image -boot B"} {
		d.is(line, "ERROR: This machine was not started from an appliance image, so that it has no slots")
	}
	d.installs("x", "ERROR: This machine was not started from an appliance image, so that it has no slots")
	for _, line := range []string{"reboot -f", "shutdown -f", "reboot -warm -f"} {
		d.is(line, "this machine was not started from an appliance image, and has its own means")
	}
}

func TestRebootAndShutdown(t *testing.T) {
	m := slots.New(t)
	d := slotDesk(t, m, t.TempDir())
	for line, want := range map[string]string{"reboot -f": "reboot", "reboot -warm -f": "restart", "shutdown -f": "poweroff"} {
		d.is(line, "")
		if got := content(t, m.Dir, "power"); got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
	d.o.guard = allBut("reboot")
	d.is("reboot -f", "ERROR: Not authorized")
}

// TestHealthIsTold for who decides about a slot on trial.
func TestHealthIsTold(t *testing.T) {
	d := newDesk(t, t.TempDir())
	name, last := filepath.Join(t.TempDir(), "health.json"), ""
	if err := d.o.writeHealth(t.Context(), name, "0.0.0.0:22", &last); err != nil {
		t.Fatal(err)
	}
	if text := content(t, filepath.Dir(name), "health.json"); text != `{"dataplane":false,"configuration":true,"problems":0,"ssh":"0.0.0.0:22"}` {
		t.Error(text)
	}
}
