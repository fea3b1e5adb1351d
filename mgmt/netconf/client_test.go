package netconf

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gliderlabs/ssh"

	"sluice/vendor-config/schema"
)

// listen opens an SSH door with nothing behind it but NETCONF, and returns its port.
func (b *bench) listen() string {
	b.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	var n atomic.Uint32
	n.Store(uint32(b.clients))
	door := &ssh.Server{
		PasswordHandler: func(_ ssh.Context, password string) bool { return password == "secret" },
		SubsystemHandlers: map[string]ssh.SubsystemHandler{"netconf": func(ss ssh.Session) {
			b.server.Serve(ss.Context(), b.fake.peer(n.Add(1), ss.User()), ss)
			_ = ss.Exit(0)
		}},
	}
	go func() { _ = door.Serve(l) }()
	b.t.Cleanup(func() { door.Close() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// run runs a program to its end.
func (b *bench) run(args ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = b.t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+cmd.Dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.t.Fatalf("%v: %v\n%s\n%s", args, err, out, b.log)
	}
	return string(out)
}

// TestNcclient has Debian's python3-ncclient do what its users do; the script tells what it has not found as expected.
func TestNcclient(t *testing.T) {
	b := newBench(t)
	script, err := filepath.Abs("testdata/operations.py")
	if err != nil {
		t.Fatal(err)
	}
	out := b.run("/usr/bin/python3", script, b.listen())
	if !strings.HasSuffix(out, "all as expected\n") {
		t.Errorf("%s\n%s", out, b.log)
	}
	if names(b.fake.Running()) != "web1 web2" || names(b.fake.startup) != "web1 web2" {
		t.Errorf("running %s, startup %s", names(b.fake.Running()), names(b.fake.startup))
	}
}

// TestYangcli has yuma's yangcli, which loads the module from the server and checks what it gets by it.
func TestYangcli(t *testing.T) {
	b := newBench(t)
	c := b.login("nsroot")
	c.ok(editing("running", server("web1")+service2))
	cli := func(command string) string {
		return b.run("yangcli", "--server=127.0.0.1", "--ncport="+b.listen(), "--user=nsroot", "--password=secret", "--batch-mode", "--display-mode=xml", "--run-command="+command)
	}
	out := cli("sget-config source=running /sluice")
	for _, want := range []string{"<name>web1</name>", "<port>80</port>"} {
		if !strings.Contains(out, want) {
			t.Errorf("sget-config lacks %s:\n%s", want, out)
		}
	}
	// Its edits go to the candidate, which it commits and saves.
	out = cli("merge /sluice/server[name='web1']/comment value=by-yangcli")
	if now, modified := b.fake.Candidate(); !modified || schema.Get[schema.Server](now, "web1").Comment != "by-yangcli" {
		t.Errorf("the candidate is not changed:\n%s", out)
	}
	cli("save")
	if schema.Get[schema.Server](b.fake.Running(), "web1").Comment != "by-yangcli" || !b.fake.startup.Equal(b.fake.running) {
		t.Errorf("the change is not in force, or not saved:\n%s", b.log)
	}
}

const service2 = `<service><name>s</name><server>web1</server><service-type>TCP</service-type><port>80</port></service>`
