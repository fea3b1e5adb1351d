package sshd

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestLegacy(t *testing.T) {
	for command, want := range map[string]bool{"scp -t /config": true, "scp -p -r -t -- x": true, "/usr/bin/scp -vf x": true, "scp": false, "scp get /config": false,
		"scp x -t": false, "scp -- -t": false, "show ns ip": false, "scpx -t": false, "": false} {
		if got := legacy(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

// TestOpenSSHLegacyScp: scp -O reads one sentence with the way out, whichever way it copies, and nothing is copied.
func TestOpenSSHLegacyScp(t *testing.T) {
	o := newOpenSSH(t, nil)
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	if err := os.WriteFile(from, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(o.addr)
	for _, x := range [][]string{{from, "nsroot@" + host + ":/config/x"}, {"nsroot@" + host + ":/config/x", to}, {"-r", dir, "nsroot@" + host + ":/config/"}} {
		like := o.command().Args // the options that log in, without the user and the host
		args := []string{"-O", "-P", port}
		for i, a := range like[:len(like)-3] {
			if i > 0 && a != "-p" && like[i-1] != "-p" {
				args = append(args, a)
			}
		}
		c := exec.Command("scp", append(args, x...)...)
		c.Env = append(os.Environ(), "SSH_AUTH_SOCK=")
		if out, errs, code := outcome(t, c, ""); strings.TrimSpace(out+errs) != legacyAnswer || code != 1 {
			t.Errorf("%v: %q %q %d", x, out, errs, code)
		}
	}
	if _, err := os.Stat(to); err == nil {
		t.Error("a file is there")
	}
	o.expect("msg=exec", "scp -t /config/x")
	if lines := o.appliance.lines(); lines != "" {
		t.Errorf("commands: %s", lines)
	}
}
