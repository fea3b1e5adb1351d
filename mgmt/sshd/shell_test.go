package sshd

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOpenSSHShell: the system's shell in an operator's terminal, with its keys, its size and Ctrl-C, and back.
func TestOpenSSHShell(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	o := newOpenSSH(t, nil)
	x := o.terminal(30, 90)
	x.expect("> ")
	x.send("shell\r")
	x.send("stty size; echo [ $TERM $SLUICE_OPERATOR ]\r")
	x.expect("30 90")
	x.expect("nsroot ]")
	x.send("sh -c 'echo be${X}gun; exec sleep 1000'\r")
	x.expect("begun")
	x.send("\x03")
	x.send("echo al''ive\r") // Ctrl-C was the shell's, not the session's
	x.expect("alive")
	x.send("\x04")
	x.expect(" Done")
	x.expect("> ")
	x.send("whoami\r")
	x.expect("UserName: nsroot")
	x.expect("> ")
	x.send("shell echo one''word; shell false\r") // in a session ; is the shell's
	x.expect("oneword")
	x.expect("ERROR: ")
	x.expect("> ")
	x.send("shell echo a b | grep -c a\r")
	x.expect("\n1\r\n Done")
	x.send("exit\r")
	x.code()
	o.expect("msg=command", "line=shell", "result=Done", "user=nsroot", "source=127.0.0.1")
}

// TestOpenSSHShellByExec: one command of the system without a terminal; a shell without one is refused.
func TestOpenSSHShellByExec(t *testing.T) {
	o := newOpenSSH(t, nil)
	for _, row := range []struct {
		line, out, errs string
		code            int
	}{
		{"shell echo out", "out\n Done\n", "", 0},
		{"shell 'echo a; exit 3'", "a\n", "ERROR: the command has ended with exit status 3\n", 1},
		{"shell", "", "ERROR: Operation not permitted [shell]: it needs a terminal: log in and give it there, or give it a command\n", 1},
	} {
		c := o.command(row.line)
		c.Args = append(c.Args[:1], append([]string{"-o", "LogLevel=ERROR"}, c.Args[1:]...)...)
		if out, errs, code := outcome(t, c, ""); out != row.out || errs != row.errs || code != row.code {
			t.Errorf("%s: %q, %q, %d", row.line, out, errs, code)
		}
	}
}

// TestOpenSSHShellEndsWithTheSession: a session that is killed, or whose client is gone, leaves no shell behind.
func TestOpenSSHShellEndsWithTheSession(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	o := newOpenSSH(t, nil)
	for i, end := range []func(*screen){
		func(*screen) { o.Kill(o.Logins()[0].ID, "killed by a test") },
		func(x *screen) { _ = x.cmd.Process.Kill() },
	} {
		file := filepath.Join(t.TempDir(), "pid"+strconv.Itoa(i))
		x := o.terminal(24, 80)
		x.expect("> ")
		x.send("shell\r")
		x.send("trap '' HUP; (trap '' HUP; echo $BASHPID > " + file + "; sleep 1000)\r")
		pid := 0
		eventually(t, "a shell", func() bool {
			b, _ := os.ReadFile(file)
			pid, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			return pid > 0
		})
		end(x)
		eventually(t, "the end of the shell", func() bool { return syscall.Kill(pid, 0) != nil })
		eventually(t, "the end of the session", func() bool { return len(o.Logins()) == 0 })
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not within 30 s: " + what)
		}
	}
}
