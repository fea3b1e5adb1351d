package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// boxed is a container of the image that `make container` has built, in the node box; a folder of ours is its /config.
type boxed struct {
	*topology.Appliance
	config string
	name   string // of buildah's container
	root   string // its root file system
}

// newBox makes a container whose /config holds the operator's key and what the caller writes there.
func newBox(t *testing.T) *boxed {
	t.Helper()
	b := &boxed{Appliance: lab.Box(), config: lab.Path("box/config"), name: lab.NS("box")}
	key, hash, err := b.Credentials()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(b.config, 0o700); err != nil {
		t.Fatal(err)
	}
	// The client may know the VIP at the machine of the test before: a VIP of no virtual router is not announced by who begins to
	// serve it, and until the client asks anew, after about a minute, it finds nobody.
	if err := run("ip", "-n", lab.NS("client"), "neigh", "flush", "all"); err != nil {
		t.Fatal(err)
	}
	b.put(t, "authorized_keys", key+"\n")
	b.put(t, "nsroot.hash", hash+"\n")
	exec.Command("buildah", "rm", b.name).Run() // of a run that was killed
	if out, err := exec.Command("buildah", "from", "--pull-never", "--name", b.name, "localhost/sluice:dev").CombinedOutput(); err != nil {
		t.Fatalf("make container first: %v: %s", err, out)
	}
	root, err := exec.Command("buildah", "mount", b.name).Output()
	if err != nil {
		t.Fatal(err)
	}
	b.root = strings.TrimSpace(string(root))
	t.Cleanup(func() {
		b.stop(t)
		if out, err := exec.Command("buildah", "rm", b.name).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	return b
}

func (b *boxed) put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(b.config+"/"+file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const boxProgram = "box-container"

// rights are those that engines give by themselves, and NET_ADMIN.
const rights = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,+setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap,+net_admin"

// inside mounts what an engine does and becomes the container's first process: $1 is its root, $2 its /config, $3 what else is done.
const inside = `set -e
mount -t proc proc "$1/proc"; mount -t sysfs -o ro sysfs "$1/sys"; mount --rbind /dev "$1/dev"; mount --bind "$2" "$1/config"; eval "$3"
exec setpriv --bounding-set ` + rights + ` chroot "$1" /usr/bin/sluice-container`

// start starts the container with no more rights than image/README.md says it needs, in namespaces of its own for processes and
// mounts. Of the environment it has what is given.
func (b *boxed) start(t *testing.T, also string, environment ...string) {
	t.Helper()
	args := append([]string{"env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, environment...)
	args = append(args, "unshare", "--mount", "--pid", "--fork", "--kill-child=TERM", "sh", "-c", inside, "sh", b.root, b.config, also)
	if err := lab.Start("box", boxProgram, args...); err != nil {
		t.Fatal(err)
	}
}

func (b *boxed) stop(t *testing.T) {
	t.Helper()
	if _, err := lab.Pid(boxProgram); err == nil {
		if err := lab.Stop(boxProgram); err != nil {
			t.Error(err)
		}
	}
}

func (b *boxed) log() string {
	text, _ := os.ReadFile(lab.Path(boxProgram + ".log"))
	return string(text)
}

// served gets the VIP n times and fails unless each answer is a server's.
func served(t *testing.T, n int) {
	t.Helper()
	for range n {
		out, err := lab.Command("client", "curl", "-sS", "-m", "30", "http://"+topology.VIP+"/").CombinedOutput()
		if err != nil || !strings.HasPrefix(string(out), "s") {
			t.Fatalf("curl: %v: %s", err, out)
		}
	}
}

// TestContainer: a container that is given a file of commands balances to real servers; so does one with the startup.xml that the
// first has saved. Management and dataplane are kept running, and nothing is left when it is stopped.
func TestContainer(t *testing.T) {
	b := newBox(t)
	b.put(t, "ns.conf", topology.BasicScript())
	b.start(t, "")
	up := func() {
		t.Helper()
		if err := b.Ready(); err != nil {
			t.Fatalf("%v\n%s", err, b.log())
		}
		if err := b.Settled(patience, "web", "echo"); err != nil {
			t.Fatalf("%v\n%s", err, b.log())
		}
		served(t, 9)
	}
	up()
	if !strings.Contains(b.log(), "10.2.0.99/24") {
		t.Errorf("nobody is told what became of the engine's address:\n%s", b.log())
	}
	if out, err := b.Shell("save ns config"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, program := range []string{"sluice-dataplane", "sluice-mgmt"} {
		b.kill(t, program)
	}
	up()
	b.stop(t)
	if out, err := exec.Command("ip", "netns", "pids", lab.NS("box")).Output(); err != nil || len(out) > 0 {
		t.Errorf("still there: %s, %v", out, err)
	}
	if err := os.Remove(b.config + "/ns.conf"); err != nil {
		t.Fatal(err)
	}
	b.start(t, "") // by startup.xml
	up()
}

// kill kills a program of the container and waits for another one in its place.
func (b *boxed) kill(t *testing.T, program string) {
	t.Helper()
	first := b.pid(t, program)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := topology.Eventually(patience, func() error {
		if b.pid(t, program) == first {
			return fmt.Errorf("%s is not started again", program)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// pid is the process of a program in the container's network, 0 while there is none.
func (b *boxed) pid(t *testing.T, program string) int {
	t.Helper()
	var found int
	out, err := exec.Command("ip", "netns", "pids", lab.NS("box")).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range strings.Fields(string(out)) {
		if name, err := os.ReadFile("/proc/" + f + "/comm"); err == nil && strings.HasPrefix(program, strings.TrimSpace(string(name))) { // comm holds 15 bytes
			fmt.Sscan(f, &found)
		}
	}
	return found
}

// TestContainerSaysWhatItLacks: bad wishes end it at once, with a sentence.
func TestContainerSaysWhatItLacks(t *testing.T) {
	b := newBox(t)
	for _, r := range []struct{ also, environment, want string }{
		{"", "SLUICE_PORTS=eth7", "no device eth7"},
		{"", "SLUICE_MEMORY=-1", "SLUICE_MEMORY"},
		{`mount -t tmpfs none "$1/dev"`, "A=1", "--device /dev/net/tun"},
		{`mount -o bind,ro "$1/proc/sys" "$1/proc/sys"`, "A=1", "systempaths=unconfined"},
	} {
		b.start(t, r.also, r.environment)
		if err := topology.Eventually(patience, func() error {
			if !strings.Contains(b.log(), r.want) {
				return fmt.Errorf("%s %s: it does not say %q:\n%s", r.also, r.environment, r.want, b.log())
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		b.stop(t)
	}
}

// patience is for whatever must happen in a container or a virtual machine that is emulated on a busy machine.
const patience = 10 * time.Minute
