package main

import (
	"bytes"
	"crypto/ed25519"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/image/bundle"
	"sluice/image/slot"
	"sluice/tests/slots"
)

// trial is a machine on which slot B runs on trial.
type trial struct {
	*testing.T
	*slots.Machine
	judge
	said      bytes.Buffer
	restarted bool
}

func onTrial(tt *testing.T) *trial {
	tt.Helper()
	t := &trial{T: tt, Machine: slots.New(tt)}
	t.judge = judge{disk: t.Disk, say: &t.said, file: filepath.Join(t.Dir, "health.json"), wait: 300 * time.Millisecond, hold: 50 * time.Millisecond, poll: 5 * time.Millisecond,
		restart: func() error { t.restarted = true; return nil }}
	b, err := bundle.Open(bytes.NewReader(t.Bundle("1.1")), t.Key.Public().(ed25519.PublicKey))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = t.Install(b); err == nil {
		_, err = t.Switch(slot.B, "nsroot", time.Now(), 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	if at := t.Boot(); at != slot.B {
		t.Fatalf("%s is started", at)
	}
	return t
}

// greeter is a server that says that; it tells where.
func (t *trial) greeter(hello string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(hello))
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestTrialIsKept(tt *testing.T) {
	t := onTrial(tt)
	at := t.greeter("SSH-2.0-x\r\n")
	t.wait = time.Minute
	go func() {
		for _, text := range []string{`{"dataplane":false}`, `{`, `{"dataplane":true,"configuration":true,"problems":2,"ssh":"` + at + `"}`} {
			time.Sleep(20 * time.Millisecond)
			_ = os.WriteFile(t.file, []byte(text), 0o600)
		}
	}()
	if err := t.run(); err != nil || t.restarted {
		t.Fatal(err, t.restarted, t.said.String())
	}
	if last, err := t.disk.Trial(); err != nil || last.Outcome != slot.Kept {
		t.Error(last, err)
	}
	if current, err := t.disk.Current(slot.B); err != nil || !current || !strings.Contains(t.said.String(), "slot B with 1.1 has come up and is kept") {
		t.Error(current, err, t.said.String())
	}
	t.said.Reset()
	if err := t.run(); err != nil || t.said.Len() > 0 { // a later start
		t.Error(err, t.said.String())
	}
}

func TestTrialIsGivenUp(tt *testing.T) {
	for want, text := range map[string]string{
		"management is not up":                       "",
		"the dataplane is not connected":             `{"configuration":true,"ssh":"SSH"}`,
		"the startup configuration is not in force":  `{"dataplane":true,"ssh":"SSH"}`,
		"3 lines of the startup configuration":       `{"dataplane":true,"configuration":true,"problems":3,"ssh":"SSH"}`,
		"SSH does not answer: another server":        `{"dataplane":true,"configuration":true,"ssh":"HTTP"}`,
		"SSH does not answer: dial tcp 127.0.0.1:1:": `{"dataplane":true,"configuration":true,"ssh":"0.0.0.0:1"}`,
	} {
		tt.Run(want, func(tt *testing.T) {
			t := onTrial(tt)
			text = strings.NewReplacer("SSH", t.greeter("SSH-2.0-x\r\n"), "HTTP", t.greeter("HTTP/1.1 400\r\n")).Replace(text)
			t.Put("health.json", text)
			if err := t.run(); err != nil || !t.restarted {
				t.Fatal(err, t.said.String())
			}
			if !strings.Contains(t.said.String(), "slot B with 1.1 is not kept: after 300ms "+want) {
				t.Error(t.said.String())
			}
			t.Boot()
			t.said.Reset()
			if err := t.run(); err != nil || !strings.Contains(t.said.String(), "slot B with 1.1 was tried and is not kept: after 300ms "+want) || !strings.Contains(t.said.String(), "Slot A with 1.0 runs again") {
				t.Error(err, t.said.String())
			}
			if current, err := t.disk.Current(slot.A); err != nil || !current {
				t.Error(current, err)
			}
			t.said.Reset()
			if err := t.run(); err != nil || t.said.Len() > 0 { // said once is enough
				t.Error(err, t.said.String())
			}
		})
	}
}

// TestTrialThatComesAndGoes is not kept.
func TestTrialThatComesAndGoes(tt *testing.T) {
	t := onTrial(tt)
	t.hold = time.Minute
	t.wait = 20 * time.Millisecond
	t.Put("health.json", `{"dataplane":true,"configuration":true,"ssh":"`+t.greeter("SSH-2.0-x\r\n")+`"}`)
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = os.Remove(t.file)
	}()
	if err := t.run(); err != nil || !t.restarted {
		t.Error(err, t.said.String())
	}
}

// TestTrialThatCannotBeRead is told, and nothing is done.
func TestTrialThatCannotBeRead(tt *testing.T) {
	t := onTrial(tt)
	t.Put("config/slots/trial.json", "{")
	if err := t.run(); err != nil || t.restarted || !strings.Contains(t.said.String(), "cannot be read") {
		t.Error(err, t.restarted, t.said.String())
	}
	if at := t.Boot(); at != slot.A {
		t.Errorf("%s is started after it", at)
	}
}

// TestNothingOnTrial: on every other start there is nothing to say, nor on a machine without slots.
func TestNothingOnTrial(tt *testing.T) {
	var said bytes.Buffer
	j := judge{disk: slot.New(tt.TempDir()), say: &said, restart: func() error { tt.Error("it is restarted"); return nil }}
	if err := j.run(); err != nil || said.Len() > 0 {
		tt.Error(err, said.String())
	}
}
