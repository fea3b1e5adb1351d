package sshd

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// TestTwoHundredLoginsAtOnce: as many as may are let in, the others are sent away and nobody is kept waiting, and afterwards the
// door is as it was.
func TestTwoHundredLoginsAtOnce(t *testing.T) {
	d := start(t, func(o *Options) { o.Limits.Failures = 1000 })
	var in, out atomic.Int32
	var all sync.WaitGroup
	for n := range 200 {
		all.Go(func() {
			password := rootPassword
			if n%4 == 3 {
				password = "wrong-secret"
			}
			c, err := gossh.Dial("tcp", d.addr, &gossh.ClientConfig{User: "nsroot", Auth: []gossh.AuthMethod{gossh.Password(password)},
				HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 30 * time.Second})
			if err != nil {
				out.Add(1)
				return
			}
			defer c.Close()
			if password != rootPassword {
				t.Error("a wrong password opens the door in the crowd")
			}
			in.Add(1)
		})
	}
	all.Wait()
	if in.Load() == 0 || in.Load()+out.Load() != 200 {
		t.Errorf("%d in, %d out", in.Load(), out.Load())
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		d.doorman.mu.Lock()
		left, waiting := d.doorman.all, d.doorman.waiting
		d.doorman.mu.Unlock()
		if left == 0 && waiting == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections and %d strangers are still counted", left, waiting)
		}
	}
	if out, _, code := run(t, d.login(), "show version", ""); code != 0 || out != " Done\n" {
		t.Errorf("afterwards: %q %d", out, code)
	}
}
