package transfer

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/cli/shell"
	"sluice/mgmt/aaa"
	"sluice/mgmt/sshd"
	"sluice/tests/logins"
	"sluice/vendor-config/schema"
)

// outside is what no client may see or change.
const outside = "a secret of the machine"

// rig is a door with SFTP, the folders behind it, and clients of OpenSSH.
type rig struct {
	t                 *testing.T
	config, dir, port string
	mu                sync.Mutex
	log               bytes.Buffer
}

func (r *rig) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(b)
}

func (r *rig) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, config: t.TempDir(), dir: t.TempDir()}
	_, line, private := logins.Key(t)
	r.file(filepath.Join(r.dir, "id"), string(private))
	r.file(filepath.Join(r.dir, "keys"), line)
	r.file(filepath.Join(r.dir, "machine"), outside)
	c := schema.New()
	user := schema.Of[schema.SystemUser]().Fresh().(*schema.SystemUser)
	user.Name = "norma"
	schema.Put(c, user)
	schema.Put(c, &schema.SystemUserKey{User: "norma", Key: strings.TrimSpace(line)})
	schema.Put(c, &schema.SystemUserPolicy{User: "norma", Policy: "network", Priority: 1})
	log := slog.New(slog.NewTextHandler(r, nil))
	accounts, err := aaa.New([]aaa.Account{{Name: "nsroot", AuthorizedKeys: filepath.Join(r.dir, "keys")}}, func() *schema.Config { return c }, log)
	if err != nil {
		t.Fatal(err)
	}
	door, err := sshd.New(sshd.Options{
		Accounts: accounts, HostKey: filepath.Join(r.config, "host_key"), Host: func() string { return "adc" }, Log: log,
		Backend: func(sshd.Login) shell.Backend { return nil },
		Subsystems: map[string]sshd.Subsystem{"sftp": Subsystem(Options{
			Folders: []Folder{{Name: "config", Also: []string{"nsconfig"}, Path: r.config, Hidden: []string{"host_key"}},
				{Name: "ssl", Path: filepath.Join(r.config, "ssl")}},
			May: func(l sshd.Login, command string) error { return accounts.MayDo(l.Person, command) }, Log: log,
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, r.port, _ = net.SplitHostPort(l.Addr().String())
	go door.Serve(l)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := door.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *rig) file(path, text string) {
	r.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "none: " + err.Error()
	}
	return string(b)
}

// run runs a program of OpenSSH with the options that both take.
func (r *rig) run(program, stdin string, args ...string) (out string, ok bool) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	all := append([]string{"-F", "none", "-P", r.port, "-i", filepath.Join(r.dir, "id"), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes",
		"-o", "StrictHostKeyChecking=accept-new", "-o", "UserKnownHostsFile=" + filepath.Join(r.dir, "known"), "-o", "LogLevel=ERROR"}, args...)
	c := exec.CommandContext(ctx, program, all...)
	c.Env = append(os.Environ(), "SSH_AUTH_SOCK=")
	c.Stdin = strings.NewReader(stdin)
	b, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		r.t.Fatalf("%s %v: %v: %s", program, args, err, b)
	}
	return string(b), err == nil
}

// sftp gives commands to `sftp -b`; it ends at the first that fails.
func (r *rig) sftp(user string, commands ...string) (string, bool) {
	r.t.Helper()
	return r.run("sftp", strings.Join(commands, "\n")+"\n", "-b", "-", user+"@127.0.0.1")
}

func (r *rig) scp(user string, from, to string) (string, bool) {
	r.t.Helper()
	fill := strings.NewReplacer("ADC:", user+"@127.0.0.1:")
	return r.run("scp", "", fill.Replace(from), fill.Replace(to))
}

func TestOpenSSHSftpAndScp(t *testing.T) {
	r := newRig(t)
	r.file(filepath.Join(r.config, "startup.xml"), "<config/>")
	big := strings.Repeat("0123456789abcdef", 200_000)
	r.file(filepath.Join(r.dir, "big"), big)
	got := filepath.Join(r.dir, "got")
	must := func(out string, ok bool) string {
		t.Helper()
		if !ok {
			t.Errorf("refused: %s\n%s", out, r.logged())
		}
		return out
	}
	must(r.scp("nsroot", "ADC:/config/startup.xml", got))
	if r.text(got) != "<config/>" {
		t.Errorf("fetched %q", r.text(got))
	}
	must(r.scp("nsroot", "ADC:/nsconfig/startup.xml", got))
	must(r.scp("nsroot", filepath.Join(r.dir, "big"), "ADC:/ssl/big.pem"))
	kept := filepath.Join(r.config, "ssl", "big.pem")
	if r.text(kept) != big {
		t.Errorf("%d bytes have arrived, %d were sent", len(r.text(kept)), len(big))
	}
	if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	out := must(r.sftp("nsroot", "ls -l", "cd /config", "pwd", "ls -l", "mkdir x", "put "+filepath.Join(r.dir, "big")+" x/one", "rename x/one x/two", "ls x",
		"get x/two "+got, "rm x/two", "rmdir x", "put "+got+" startup.xml"))
	if r.text(got) != big || r.text(filepath.Join(r.config, "startup.xml")) != big {
		t.Error("what was put and fetched is not the same")
	}
	for _, want := range []string{"config", "ssl", "startup.xml", "x/two"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(out, "host_key") || strings.Contains(out, "nsconfig") {
		t.Errorf("listed: %s", out)
	}
	if _, err := os.Stat(filepath.Join(r.config, "x")); err == nil {
		t.Error("the folder is still there")
	}
	for _, want := range []string{`line="scp get /config/startup.xml" result=Done`, `line="scp put /ssl/big.pem" result=Done`, `line="scp rm /config/x/two" result=Done`, "user=nsroot", "source=127.0.0.1"} {
		if !strings.Contains(r.logged(), want) {
			t.Errorf("%s is not in the log:\n%s", want, r.logged())
		}
	}
}

// TestOpenSSHPathEscapes: neither dots nor links lead out, whoever made the links, and what is hidden stays so.
func TestOpenSSHPathEscapes(t *testing.T) {
	r := newRig(t)
	secret := filepath.Join(r.dir, "machine")
	key := r.text(filepath.Join(r.config, "host_key"))
	for link, to := range map[string]string{"link": secret, "up": "../", "abs": "/etc", "key": "host_key", "rel": "../" + filepath.Base(r.dir) + "/machine"} {
		if err := os.Symlink(to, filepath.Join(r.config, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(r.config, "host_key"), filepath.Join(r.config, "hard")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(r.config, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(r.dir, "mine")
	r.file(mine, "overwritten")
	got := filepath.Join(r.dir, "got")
	for _, path := range []string{"/config/link", "/config/rel", "/config/abs/passwd", "/config/up/" + filepath.Base(r.dir) + "/machine", secret, "/etc/passwd",
		"/config/../../../../etc/passwd", "../../etc/passwd", "/config/host_key", "/config/./host_key", "/nsconfig/host_key", "/config/ssl/../host_key",
		"/config/key", "/config/hard", "/config/pipe", "/", "/config", "/nosuch/x"} {
		for _, commands := range [][]string{{"get " + path + " " + got}, {"put " + mine + " " + path}, {"rename " + path + " /ssl/stolen"}, {"put " + mine + " /config/tmp", "rename /config/tmp " + path},
			{"ln " + path + " /config/mine"}, {"ln -s " + path + " /config/mine"}, {"chmod 777 " + path, "get " + path + " " + got}} {
			if strings.HasPrefix(commands[0], "rename") && (strings.HasPrefix(path, "/config/") && !strings.Contains(path, "host_key")) || len(commands) == 2 && strings.HasPrefix(commands[1], "rename") {
				continue // a link by itself may be renamed: it leads nowhere from elsewhere either
			}
			os.Remove(got)
			out, ok := r.sftp("nsroot", commands...)
			if ok && !(strings.HasPrefix(commands[0], "put") && (path == "/" || path == "/config")) { // which is a file named mine in it
				t.Errorf("%v went through: %s", commands, out)
			}
			if text := r.text(got); strings.Contains(text, outside) || strings.Contains(text, "root:") || text == key {
				t.Fatalf("%v has fetched %s", commands, text)
			}
		}
	}
	if r.text(secret) != outside || r.text(filepath.Join(r.config, "host_key")) != key {
		t.Error("a file outside has been changed")
	}
	if out, _ := r.sftp("nsroot", "ls /config"); strings.Contains(out, "hard") || strings.Contains(out, "host_key") {
		t.Errorf("listed: %s", out)
	}
}

// TestOpenSSHTransfersNeedARole: who may not is told so, and it is written down.
func TestOpenSSHTransfersNeedARole(t *testing.T) {
	r := newRig(t)
	r.file(filepath.Join(r.config, "startup.xml"), "<config/>")
	mine := filepath.Join(r.dir, "mine")
	r.file(mine, "mine")
	for _, commands := range []string{"get /config/startup.xml " + mine, "put " + mine + " /config/x", "ls /config", "rm /config/startup.xml", "rename /config/startup.xml /config/y", "mkdir /config/z"} {
		if out, ok := r.sftp("norma", commands); ok {
			t.Errorf("%s: %s", commands, out)
		}
	}
	if all, _ := os.ReadDir(r.config); len(all) != 2 || r.text(mine) != "mine" {
		t.Errorf("changed: %v", all)
	}
	for _, want := range []string{"scp get /config/startup.xml", "scp put /config/x", "scp rm /config/startup.xml"} {
		if !strings.Contains(r.logged(), `msg="command refused" user=norma source=127.0.0.1 session=`) || !strings.Contains(r.logged(), want) {
			t.Errorf("%s is not in the log:\n%s", want, r.logged())
		}
	}
}
