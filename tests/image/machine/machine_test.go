package machine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestMain runs nothing unless `make test-image` asks for it: a machine takes more than the other tests have.
func TestMain(m *testing.M) {
	if os.Getenv("SLUICE_IMAGE") == "" {
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const patience = 5 * time.Minute

// sector is a whole system of one sector: it says "ready", answers each key with the next letter, and starts again after a q.
var sector = append([]byte{
	0x31, 0xc0, // xor ax, ax
	0x8e, 0xd8, // mov ds, ax
	0xfc,             // cld
	0xbe, 0x2f, 0x7c, // mov si, text
	0xba, 0xf8, 0x03, // mov dx, 3f8
	0xac,       // say: lodsb
	0x84, 0xc0, // test al, al
	0x74, 0x03, // jz hear
	0xee,       // out dx, al
	0xeb, 0xf8, // jmp say
	0xba, 0xfd, 0x03, // hear: mov dx, 3fd
	0xec,       // wait: in al, dx
	0xa8, 0x01, // test al, 1
	0x74, 0xfb, // jz wait
	0xba, 0xf8, 0x03, // mov dx, 3f8
	0xec,       // in al, dx
	0x3c, 0x71, // cmp al, 'q'
	0x74, 0x05, // je again
	0xfe, 0xc0, // inc al
	0xee,       // out dx, al
	0xeb, 0xeb, // jmp hear
	0xb0, 0xfe, // again: mov al, fe
	0xe6, 0x64, // out 64, al: the keyboard's controller resets the machine
	0xf4,       // hlt
	0xeb, 0xfd, // jmp to hlt
}, "ready\r\n\x00"...)

func tiny(t *testing.T) Config {
	t.Helper()
	dir := t.TempDir()
	raw := make([]byte, 1<<20)
	copy(raw, sector)
	raw[510], raw[511] = 0x55, 0xaa
	if err := os.WriteFile(filepath.Join(dir, "raw"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("qemu-img", "convert", "-O", "qcow2", dir+"/raw", dir+"/disk.qcow2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Relative names: those of Unix sockets are short.
	return Config{Dir: dir, Disk: "disk.qcow2", CPUs: 1, Memory: 64, Most: 2 * patience}
}

func start(t *testing.T, c Config) *Machine {
	t.Helper()
	m, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Kill)
	if _, err := m.Console.Wait(patience, "ready\r\n"); err != nil {
		log, _ := os.ReadFile(filepath.Join(c.Dir, "qemu.log"))
		t.Fatalf("%v\n%s", err, log)
	}
	return m
}

func TestConsoleAndMonitor(t *testing.T) {
	m := start(t, tiny(t))
	if err := m.Console.Type("abc"); err != nil {
		t.Fatal(err)
	}
	if which, err := m.Console.Wait(patience, "never", "bcd"); err != nil || which != "bcd" {
		t.Errorf("%q, %v", which, err)
	}
	if out, err := m.Tell("query-status", nil); err != nil || !strings.Contains(string(out), "running") {
		t.Errorf("%s, %v", out, err)
	}
	if _, err := m.Tell("no-such-thing", nil); err == nil || !strings.Contains(err.Error(), "no-such-thing") {
		t.Errorf("an unknown command: %v", err)
	}
	if _, err := m.Console.Wait(10*time.Millisecond, "never"); err == nil || !strings.Contains(err.Error(), "bcd") {
		t.Errorf("what is never said: %v", err)
	}
	if err := m.Console.Type("q"); err != nil { // a warm start of the same machine
		t.Fatal(err)
	}
	if _, err := m.Console.Wait(patience, "ready\r\n"); err != nil {
		t.Error(err)
	}
	m.Kill()
	m.Kill()
	if m.Running() {
		t.Error("it runs after a power cut")
	}
	if _, err := m.Console.Wait(patience, "never"); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a console of a machine that has gone: %v", err)
	}
	if _, err := m.Tell("query-status", nil); err == nil {
		t.Error("a monitor of a machine that has gone answers")
	}
}

func TestEnds(t *testing.T) {
	t.Run("by itself", func(t *testing.T) {
		c := tiny(t)
		c.Once = true
		m := start(t, c)
		if err := m.Console.Type("q"); err != nil {
			t.Fatal(err)
		}
		if err := m.Ended(patience); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(c.Dir + "/serial.log"); err != nil || !strings.Contains(string(b), "ready") {
			t.Errorf("%v: %s", err, b)
		}
	})
	t.Run("after its time", func(t *testing.T) {
		c := tiny(t)
		c.Most = time.Second
		m, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Kill()
		select {
		case <-m.ended:
		case <-time.After(patience):
			t.Error("it still runs")
		}
	})
	t.Run("with wrong arguments", func(t *testing.T) {
		c := tiny(t)
		c.CPU = "none-such"
		m, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Kill()
		if err := m.Ended(patience); err == nil {
			t.Error("it has started")
		}
	})
	// A program that is killed leaves no machine.
	t.Run("with its parent", func(t *testing.T) {
		if dir := os.Getenv("SLUICE_ORPHAN"); dir != "" {
			m, err := Start(Config{Dir: dir, Disk: "disk.qcow2", CPUs: 1, Memory: 64})
			if err == nil {
				err = os.WriteFile(dir+"/new", fmt.Append(nil, m.cmd.Process.Pid), 0o600)
			}
			if err == nil {
				err = os.Rename(dir+"/new", dir+"/pid")
			}
			t.Fatal(err, m.Ended(patience))
		}
		dir := tiny(t).Dir
		parent := exec.Command(os.Args[0], "-test.run", "^TestEnds$/^with_its_parent$")
		parent.Env = append(os.Environ(), "SLUICE_ORPHAN="+dir)
		if err := parent.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		until(t, func() bool {
			b, err := os.ReadFile(dir + "/pid")
			if err == nil {
				pid, err = strconv.Atoi(string(b))
			}
			return err == nil
		})
		parent.Process.Kill()
		parent.Wait()
		until(t, func() bool { return syscall.Kill(pid, 0) != nil })
	})
}

func until(t *testing.T, probe func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !probe(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not in time")
		}
	}
}
