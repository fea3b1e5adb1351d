package console

import (
	"context"
	"errors"
	"fmt"
	"io"
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

	"github.com/creack/pty"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/image/firstboot"
	"sluice/image/notes"
	"sluice/image/record"
	"sluice/mgmt/aaa"
	"sluice/mgmt/sshd"
	"sluice/tests/apart"
	"sluice/tests/logins"
	"sluice/vendor-config/password"
	"sluice/vendor-config/schema"
)

const asConsole = "SLUICE_TEST_CONSOLE"

// TestMain: the test program is the console itself, on a terminal that a test has made.
func TestMain(m *testing.M) {
	dir := os.Getenv(asConsole)
	if dir == "" {
		apart.Main(m, apart.Mounts)
		return
	}
	door, err := os.ReadFile(filepath.Join(dir, "door"))
	if err == nil {
		err = Run(Options{Config: filepath.Join(dir, "config"), Data: filepath.Join(dir, "data"), Notes: filepath.Join(dir, "notes"), Door: string(door),
			KnownHosts: filepath.Join(dir, "run", "known_hosts"), Release: "Sluice of a test", Machine: paper{dir}, Patience: 300 * time.Millisecond, Delay: time.Millisecond})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// paper is a machine that writes down what it is told: what it does is shown in the image.
type paper struct{ dir string }

func (p paper) note(what string) error {
	f, err := os.OpenFile(filepath.Join(p.dir, "told"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, what)
		err = errors.Join(err, f.Close())
	}
	return err
}

func (p paper) Apply() error     { return p.note("apply") }
func (p paper) Restart() error   { return p.note("restart") }
func (p paper) Hold() error      { return p.note("hold") }
func (p paper) Reboot() error    { return p.note("reboot") }
func (p paper) PowerOff() error  { return p.note("poweroff") }
func (p paper) NewVolume() error { return p.note("new volume") }
func (p paper) Address() string  { return Fallback }
func (p paper) Wrong() []string  { return []string{"sluice-mgmt is failed \x1b[2J"} }
func (p paper) InMemory() bool   { _, err := os.Stat(filepath.Join(p.dir, "memory")); return err == nil }

// screen is the console with somebody before it.
type screen struct {
	*testing.T
	dir string
	tty *os.File

	mu   sync.Mutex
	seen string
	read int // of seen
}

// sit starts the console on a terminal.
func sit(t *testing.T, dir string) *screen {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(own)
	c.Env = append(os.Environ(), asConsole+"="+dir, "TERM=vt100")
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 33, Cols: 99})
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{T: t, dir: dir, tty: tty}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			s.mu.Lock()
			s.seen += string(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _ = c.Process.Signal(syscall.SIGKILL); _ = c.Wait(); tty.Close() })
	return s
}

// expect waits until something is shown behind what was seen before.
func (s *screen) expect(words ...string) {
	s.Helper()
	for _, w := range words {
		for end := time.Now().Add(60 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			s.mu.Lock()
			at := strings.Index(s.seen[s.read:], w)
			if at >= 0 {
				s.read += at + len(w)
			}
			all := s.seen
			s.mu.Unlock()
			if at >= 0 {
				break
			}
			if time.Now().After(end) {
				s.Fatalf("%q is not shown, but\n%s", w, all)
			}
		}
	}
}

// enter types a line once the question is shown.
func (s *screen) enter(question, line string) {
	s.Helper()
	s.expect(question)
	if strings.Contains(question, "assword") || strings.Contains(question, "again") { // the echo goes off after the question
		time.Sleep(100 * time.Millisecond)
	}
	if _, err := s.tty.WriteString(line + "\r"); err != nil {
		s.Fatal(err)
	}
}

func (s *screen) told() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "told"))
	return string(text)
}

// box is the folders of a machine; nobody listens at its door.
func box(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{"config", "data"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "door", l.Addr().String())
	l.Close()
	return dir
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// owned is a box that has a password.
func owned(t *testing.T) string {
	t.Helper()
	dir := box(t)
	r := &record.Record{Users: []record.User{{Name: Root, PasswordHash: logins.Hash("S3cret")}}}
	if err := r.Write(filepath.Join(dir, "config", "boot.yaml")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// backend is an appliance that can tell who asks and how wide his terminal is.
type backend struct{}

func (backend) Do(user string, op *grammar.Op) (string, error) { return user + " has asked\n", nil }
func (backend) Config() *schema.Config                         { return schema.New() }

// open opens management's door to a box, with nsroot's password.
func open(t *testing.T, dir string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	accounts, err := aaa.New([]aaa.Account{{Name: Root, PasswordHash: logins.Hash("S3cret")}}, schema.New, log)
	if err != nil {
		t.Fatal(err)
	}
	door, err := sshd.New(sshd.Options{Accounts: accounts, HostKey: filepath.Join(dir, "config", "ssh_host_key"), Host: func() string { return "adc1" }, Log: log,
		Backend: func(sshd.Login) shell.Backend { return backend{} }})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", get(t, dir, "door"))
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = door.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = door.Close(ctx)
	})
}

func TestWizard(t *testing.T) {
	dir := box(t)
	if err := notes.Put(filepath.Join(dir, "notes"), "disks", []string{"the disk was damaged"}); err != nil {
		t.Fatal(err)
	}
	s := sit(t, dir)
	s.expect("Sluice of a test", "! the disk was damaged", "no password yet", "has the address 192.168.100.1/16 now")
	s.enter("or dhcp [192.168.100.1/16]: ", "300.1.1.1/24")
	s.enter("is no address", "10.9.1.5")
	s.enter("Mask of its subnet [255.255.255.0]: ", "")
	s.enter("Default gateway, or none [none]: ", "10.9.2.1")
	s.enter("is none of the other addresses in 10.9.1.0/24", "10.9.1.1")
	s.enter("Host name [sluice]: ", "a_b")
	s.enter("is no host name", "adc1")
	s.enter("Password of nsroot: ", "nsroot")
	s.enter("known to everybody", "S3cret word")
	s.enter("again: ", "other")
	s.expect("not the same")
	s.enter("Password of nsroot: ", "S3cret word")
	s.enter("again: ", "S3cret word")
	s.enter("Address 10.9.1.5/24, gateway 10.9.1.1, host name adc1. Is that right? (yes or no) [yes]: ", "maybe")
	s.enter("give yes or no", "no")
	s.enter("or dhcp [192.168.100.1/16]: ", "10.9.1.5/24") // from the beginning
	s.enter("Default gateway, or none [none]: ", "")
	s.enter("Host name [sluice]: ", "")
	s.enter("Password of nsroot: ", "S3cret word")
	s.enter("again: ", "S3cret word")
	s.enter("Is that right?", "")
	s.expect("Management takes it over", "Management does not answer.", "! sluice-mgmt is failed ?[2J")
	if s.told() != "apply\n" {
		t.Errorf("told %q", s.told())
	}
	if text := get(t, dir, "config/ns.conf"); text != "# First boot: console.\nset ns config -IPAddress 10.9.1.5 -netmask 255.255.255.0\nset ns hostName sluice\n" {
		t.Errorf("ns.conf %q", text)
	}
	r, err := record.Read(filepath.Join(dir, "config", "boot.yaml"))
	if err != nil || len(r.Users) != 1 {
		t.Fatal(err)
	}
	if h, err := password.Parse(r.Users[0].PasswordHash); err != nil || !h.Fits("S3cret word") {
		t.Error("the password is another")
	}
	if s.mu.Lock(); strings.Contains(s.seen, "S3cret") {
		t.Errorf("the password is shown:\n%s", s.seen)
	}
	s.mu.Unlock()
}

// TestWizardBesideAConfiguration asks for the password alone, and touches nothing else.
func TestWizardBesideAConfiguration(t *testing.T) {
	for name, text := range map[string]string{"startup.xml": "<config/>", "ns.conf": "set ns config -IPAddress 10.0.0.5 -netmask 255.255.255.0\n"} {
		dir := box(t)
		put(t, dir, "config/"+name, text)
		s := sit(t, dir)
		s.enter("Password of nsroot: ", "S3cret word")
		s.enter("again: ", "S3cret word")
		s.enter("The configuration stays as it is. Is that right?", "")
		s.expect("Management takes it over")
		if got := get(t, dir, "config/"+name); !strings.HasPrefix(got, text) {
			t.Errorf("%s is %q", name, got)
		}
	}
}

// TestTwoWizards: the first one that is through counts.
func TestTwoWizards(t *testing.T) {
	dir := box(t)
	put(t, dir, "config/startup.xml", "<config/>")
	one, two := sit(t, dir), sit(t, dir)
	for _, s := range []*screen{one, two} {
		s.enter("Password of nsroot: ", "S3cret word")
		s.enter("again: ", "S3cret word")
		s.expect("Is that right?")
	}
	one.enter("[yes]: ", "")
	one.expect("Management takes it over")
	two.enter("[yes]: ", "")
	two.expect("set up from another console meanwhile")
}

func TestLogin(t *testing.T) {
	dir := owned(t)
	open(t, dir)
	s := sit(t, dir)
	s.enter("login: ", "ns root")
	s.enter("no name of a user", Root)
	s.enter("Password: ", "wrong")
	s.expect("Login incorrect")
	s.enter("login: ", "nobody")
	s.enter("Password: ", "S3cret")
	s.expect("Login incorrect")
	s.enter("login: ", Root)
	s.enter("Password: ", "S3cret")
	s.enter("> ", "show version")
	s.expect("nsroot has asked", "Done")
	s.enter("> ", "exit")
	s.expect("Sluice of a test")
	s.enter("login: ", "")
	s.expect("login: ")
	if s.mu.Lock(); strings.Contains(s.seen, "S3cret") {
		t.Errorf("the password is shown:\n%s", s.seen)
	}
	s.mu.Unlock()
}

// TestAnotherDoor: whoever listens in management's place and has not its key gets no password.
func TestAnotherDoor(t *testing.T) {
	dir, other := owned(t), owned(t)
	put(t, other, "door", get(t, dir, "door"))
	open(t, other) // its key is of another machine
	signer, _, private := logins.Key(t)
	_ = signer
	put(t, dir, "config/ssh_host_key", string(private))
	s := sit(t, dir)
	s.enter("login: ", Root)
	s.expect("management lets nobody in just now", "another one than in")
	if s.mu.Lock(); strings.Contains(s.seen, "Password: ") {
		t.Errorf("it is asked for a password:\n%s", s.seen)
	}
	s.mu.Unlock()
}

func TestMenu(t *testing.T) {
	dir := owned(t)
	put(t, dir, "config/startup.xml", "new")
	put(t, dir, "config/startup.xml.0", "old")
	put(t, dir, "config/startup.xml.rescued-1", "kept")
	s := sit(t, dir)
	s.expect("Management does not answer.", "start with the previous configuration, saved at ")
	s.enter("Choose: ", "2")
	s.expect("restart.")
	s.enter("Choose: ", "3")
	s.expect("kept as startup.xml.rescued-2")
	s.expect("Management does not answer.")
	if a, b := get(t, dir, "config/startup.xml"), get(t, dir, "config/startup.xml.rescued-2"); a != "old" || b != "new" {
		t.Errorf("%q %q", a, b)
	}
	s.enter("Choose: ", "3") // there is no earlier one any more: factory reset
	s.enter("Type factory reset to go on", "factory rest")
	s.expect("Nothing is changed.")
	s.enter("Choose: ", "9")
	s.expect("one of the numbers")
	s.enter("Choose: ", "4")
	s.expect("does not answer")
	if want := "restart\nhold\nrestart\nreboot\n"; s.told() != want {
		t.Errorf("told %q, want %q", s.told(), want)
	}
	put(t, dir, "data/core", "x")
	s.enter("Choose: ", "3")
	s.enter("Type factory reset to go on", "factory reset")
	s.expect("The machine restarts.", "no password yet")
	for _, d := range []string{"config", "data"} {
		if left, err := os.ReadDir(filepath.Join(dir, d)); err != nil || len(left) > 0 {
			t.Errorf("left in %s: %v %v", d, left, err)
		}
	}
}

// TestMenuByName: who has lost the password gets at the reset, and at nothing that changes a configuration that is in use.
func TestMenuByName(t *testing.T) {
	dir := owned(t)
	put(t, dir, "config/startup.xml.0", "old")
	open(t, dir)
	s := sit(t, dir)
	s.enter("login: ", rescue)
	s.expect("1  look again\r\n", "2  factory reset", "3  restart the machine", "4  switch")
	s.enter("Choose: ", "4")
	s.expect("login: ")
	if s.told() != "poweroff\n" {
		t.Errorf("told %q", s.told())
	}
}

func TestMenuForADamagedPartition(t *testing.T) {
	dir := owned(t)
	put(t, dir, "memory", "")
	s := sit(t, dir)
	s.enter("Choose: ", "3")
	s.enter("Type make it anew to go on", "make it anew")
	s.expect("does not answer")
	if s.told() != "new volume\nreboot\n" {
		t.Errorf("told %q", s.told())
	}
}

// TestKeysThatEndPrograms end none here, and a line without end is none.
func TestKeysThatEndPrograms(t *testing.T) {
	s := sit(t, owned(t))
	s.expect("Choose: ")
	_, _ = s.tty.WriteString("\x03\x1c\x1a" + strings.Repeat("x", 5000) + "\r")
	s.expect("one of the numbers", "Choose: ")
}

func TestPreviousOfACutSave(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "startup.xml", "now")
	if err := os.Link(filepath.Join(dir, "startup.xml"), filepath.Join(dir, "startup.xml.0")); err != nil {
		t.Fatal(err)
	}
	if _, err := Previous(dir); err == nil {
		t.Error("the present configuration is an earlier one")
	}
	put(t, dir, "startup.xml.1", "before")
	if aside, err := Previous(dir); err != nil || get(t, dir, "startup.xml") != "before" || get(t, dir, aside) != "now" || get(t, dir, "startup.xml.0") != "now" {
		t.Errorf("%s %v", aside, err)
	}
}

// TestKeepThatWasCutOff: commands that were written before the power went are not there twice once the record is written, too.
func TestKeepThatWasCutOff(t *testing.T) {
	dir := t.TempDir()
	a := &firstboot.Answers{Source: "x", Commands: []string{"add server a 10.0.0.1"}}
	put(t, dir, "ns.conf", a.Configuration())
	if err := Keep(dir, &record.Record{}, a); err != nil || get(t, dir, "ns.conf") != a.Configuration() {
		t.Errorf("%v %q", err, get(t, dir, "ns.conf"))
	}
	if err := Keep(dir, &record.Record{}, &firstboot.Answers{Source: "console", Hostname: "b"}); err != nil || !strings.HasPrefix(get(t, dir, "ns.conf"), a.Configuration()+"# First boot: console.\nset ns hostName b\n") {
		t.Errorf("%v %q", err, get(t, dir, "ns.conf"))
	}
}

// TestKeepOnAFullDisk: without room nothing is half done, and the record is the last to be written.
func TestKeepOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	f, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(f, strings.NewReader(strings.Repeat("x", 1<<20)))
	f.Close()
	r := &record.Record{}
	if err := Keep(dir, r, &firstboot.Answers{Source: "x", Password: "S3cret word"}); err == nil {
		t.Error("it is kept without room")
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}
