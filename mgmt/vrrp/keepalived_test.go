package vrrp

import (
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// keepalived is Debian's, as another node of vrID 51 with the same address.
type keepalived struct {
	host    *host
	conf    string
	process *exec.Cmd
}

// configured are lines of its vrrp_instance beyond those that all have.
func (h *host) keepalived(version, priority int, lines ...string) *keepalived {
	h.lan.t.Helper()
	conf := filepath.Join(h.lan.t.TempDir(), "keepalived.conf")
	text := fmt.Sprintf(`global_defs {
  router_id sluice
  script_user root
  vrrp_garp_master_delay 1
  vrrp_priority -20
}
vrrp_instance V {
  state BACKUP
  interface tw0
  virtual_router_id 51
  priority %d
  version %d
  %s
  virtual_ipaddress {
    %s/32
  }
}
`, priority, version, strings.Join(lines, "\n  "), vip)
	must(h.lan.t, os.WriteFile(conf, []byte(text), 0o600))
	return &keepalived{host: h, conf: conf}
}

func (k *keepalived) start() {
	t := k.host.lan.t
	t.Helper()
	path, err := exec.LookPath("keepalived")
	if err != nil {
		t.Fatalf("%v: make deps installs it", err)
	}
	dir := filepath.Dir(k.conf)
	k.process = exec.Command(path, "-P", "-n", "-l", "-D", "-f", k.conf, "-p", dir+"/pid", "-r", dir+"/vrrp.pid")
	k.process.Stdout, k.process.Stderr = t.Output(), t.Output()
	// Its child is in its group, and both are to be gone at the end, that of the thread if the test dies.
	k.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started, over := make(chan error), make(chan struct{})
	go within(k.host.ns, func() {
		started <- k.process.Start()
		<-over
	})
	must(t, <-started)
	t.Cleanup(func() { k.kill(); close(over) })
}

// kill has it die without a word. What it leaves behind is cleared away, as the death of a node would.
func (k *keepalived) kill() {
	if k.process.ProcessState != nil {
		return
	}
	_ = syscall.Kill(-k.process.Process.Pid, syscall.SIGKILL)
	_ = k.process.Wait()
	_ = os.Remove(filepath.Dir(k.conf) + "/pid")
	_ = os.Remove(filepath.Dir(k.conf) + "/vrrp.pid")
	if d, err := k.host.nl.LinkByName("tw0"); err == nil {
		if a, err := netlink.ParseAddr(vip.String() + "/32"); err == nil {
			_ = k.host.nl.AddrDel(d, a)
		}
	}
}

// end has it end in good order.
func (k *keepalived) end() {
	k.host.lan.t.Helper()
	must(k.host.lan.t, k.process.Process.Signal(syscall.SIGTERM))
	_ = k.process.Wait()
}

func (k *keepalived) master() bool { return k.host.has(vip) }

func (k *keepalived) becomes(master bool) {
	k.host.lan.t.Helper()
	eventually(k.host.lan.t, fmt.Sprintf("keepalived's mastership is %v", master), func() bool { return k.master() == master })
}

// protocolVersion is one of the two, with an interval that both sides have.
type protocolVersion struct {
	number   int
	interval time.Duration
	line     string // of keepalived
}

var versions = []protocolVersion{{2, time.Second, "advert_int 1"}, {3, 500 * time.Millisecond, "advert_int 0.5"}}

func (v protocolVersion) intend(h *host, priority uint8, change func(*Intent)) Intent {
	return h.intend(func(in *Intent) {
		in.Version, in.Hello, in.Priority = uint8(v.number), v.interval, priority
		if change != nil {
			change(in)
		}
	})
}

// down is the master-down time of a priority here.
func (v protocolVersion) down(priority uint8) time.Duration {
	unit := v.interval
	if v.number == 2 {
		unit = time.Second
	}
	return 3*v.interval + unit*time.Duration(256-int(priority))/256
}

// TestMain lets the rows run at once: they hardly use a CPU, and wait for clocks. Most of their system calls wait for a lock of
// the kernel, though, and each keeps one of Go's processors meanwhile, for which the speakers would have to wait.
func TestMain(m *testing.M) {
	flag.Parse()
	runtime.GOMAXPROCS(16)
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestKeepalived: the rows of both versions, each in a network of its own, at the same time. In each, h is ours and k is
// keepalived's host, of the lower address.
func TestKeepalived(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		run  func(t *testing.T, v protocolVersion, l *lan, h, k *host)
	}{
		{"its death, and its return with a higher priority", diesAndReturns},
		{"it gives up", givesUp},
		{"we give up, vanish and return with a higher priority", weGiveUpAndReturn},
		{"our priority sinks and rises", prioritySinksAndRises},
		{"we do not preempt", weDoNotPreempt},
		{"it does not preempt", itDoesNotPreempt},
		{"equal priority, we have the higher address", partitionWithHigherAddress},
		{"equal priority, we have the lower address", partitionWithLowerAddress},
		{"it owns the address", itOwnsTheAddress},
		{"adverts and gratuitous ARP are alike", framesAreAlike},
		{"it speaks the other version", itSpeaksTheOtherVersion},
	} {
		for _, v := range versions {
			t.Run(fmt.Sprintf("version %d/%s", v.number, row.name), func(t *testing.T) {
				t.Parallel()
				l := newLAN(t)
				row.run(t, v, l, l.host(9), l.host(5))
			})
		}
	}
}

func diesAndReturns(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	it := k.keepalived(v.number, 150, v.line)
	it.start()
	it.becomes(true)
	we := h.speak(v.intend(h, 100, nil))
	eventually(t, "we know our master", func() bool { s := we.state(); return s.MasterAddress == k.addr.Addr() && s.MasterPriority == 150 })
	hardly(t, v.down(100)+v.interval, "we take over from one that is better", func() bool { return we.state().Role != Backup })
	died := time.Now()
	it.kill()
	we.becomes(Master)
	if took := we.state().Since.Sub(died); took < v.down(100)-v.interval {
		t.Errorf("we took over after %v; its silence must last %v", took, v.down(100))
	}
	returned := time.Now()
	it.start()
	we.becomes(Backup)
	if took := we.state().Since.Sub(returned); took < v.down(150)-v.interval {
		t.Errorf("it took over after %v; it listens for %v", took, v.down(150))
	}
	it.becomes(true)
	if c := we.count(51); len(c.Refused) != 0 || c.OtherVIPs != 0 {
		t.Errorf("counted %+v", c)
	}
}

func givesUp(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	it := k.keepalived(v.number, 150, v.line)
	it.start()
	it.becomes(true)
	we := h.speak(v.intend(h, 100, nil))
	eventually(t, "we know our master", func() bool { return we.state().MasterPriority == 150 })
	it.end()
	we.becomes(Master)
	if s := we.state(); s.Reason != "192.0.2.5 gave up" || we.count(51).Zero == 0 {
		t.Errorf("%+v, %+v", s, we.count(51))
	}
}

func weGiveUpAndReturn(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	in := v.intend(h, 150, nil)
	in.Checksum = ChecksumRFC5798
	we := h.speak(in)
	we.becomes(Master)
	it := k.keepalived(v.number, 100, v.line)
	it.start()
	hardly(t, v.down(100)+2*v.interval, "it takes over from one that is better", it.master)
	we.end()
	it.becomes(true)
	eventually(t, "our last advert is of priority 0", func() bool {
		list, _ := l.advertsOf(h)
		return len(list) > 0 && list[len(list)-1].priority == 0
	})
	we = h.speak(in)
	we.becomes(Master)
	it.becomes(false)
	if s := we.state(); !s.because("priority 150 is higher than 100 of 192.0.2.5") {
		t.Errorf("%+v", s)
	}
	h.part(true) // without a word
	it.becomes(true)
	h.part(false)
	it.becomes(false)
	we.becomes(Master)
}

func prioritySinksAndRises(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	in := v.intend(h, 200, nil)
	in.Checksum = ChecksumRFC5798
	we := h.speak(in)
	we.becomes(Master)
	it := k.keepalived(v.number, 100, v.line)
	it.start()
	hardly(t, v.down(100)+2*v.interval, "it takes over from one that is better", it.master)
	for _, row := range []struct {
		priority uint8
		role     Role
	}{{50, Backup}, {200, Master}, {0, Backup}, {101, Master}} {
		in.Priority = row.priority
		we.Update([]Intent{in})
		we.becomes(row.role)
		it.becomes(row.role != Master)
	}
}

func weDoNotPreempt(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	it := k.keepalived(v.number, 100, v.line)
	it.start()
	it.becomes(true)
	we := h.speak(v.intend(h, 150, func(in *Intent) { in.Preempt = false }))
	eventually(t, "we know our master", func() bool { return we.state().MasterPriority == 100 })
	hardly(t, v.down(150)+2*v.interval, "we take over", func() bool { return we.state().Role == Master })
	we.Update([]Intent{v.intend(h, 150, nil)})
	we.becomes(Master)
	it.becomes(false)
}

func itDoesNotPreempt(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	we := h.speak(v.intend(h, 100, func(in *Intent) { in.Checksum = ChecksumRFC5798 }))
	we.becomes(Master)
	it := k.keepalived(v.number, 150, v.line, "nopreempt")
	it.start()
	hardly(t, v.down(150)+2*v.interval, "it takes over", it.master)
	we.end()
	it.becomes(true)
}

// partition has both be master, apart from each other, and returns what heals it.
func partition(v protocolVersion, h, k *host) (we *speaking, it *keepalived, heal func()) {
	we = h.speak(v.intend(h, 100, func(in *Intent) { in.Checksum = ChecksumRFC5798 }))
	we.becomes(Master)
	h.part(true)
	it = k.keepalived(v.number, 100, v.line)
	it.start()
	it.becomes(true)
	return we, it, func() { h.part(false) }
}

func partitionWithHigherAddress(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	we, it, heal := partition(v, h, k)
	heal()
	it.becomes(false)
	if s := we.state(); s.because("192.0.2.5") {
		t.Errorf("%+v", s)
	}
	we.becomes(Master)
}

func partitionWithLowerAddress(t *testing.T, v protocolVersion, l *lan, _, k *host) {
	we, it, heal := partition(v, l.host(1), k)
	heal()
	yieldsWhileItLives(t, we, it, "192.0.2.5 has the same priority and the higher address")
}

// yieldsWhileItLives has us yield for a reason, and take over once the other is gone.
func yieldsWhileItLives(t *testing.T, we *speaking, it *keepalived, why string) {
	t.Helper()
	eventually(t, "we yield: "+why, func() bool {
		s := we.state()
		return s.Role == Backup && s.because(why)
	})
	it.becomes(true)
	it.kill()
	we.becomes(Master)
}

func itOwnsTheAddress(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	we := h.speak(v.intend(h, 254, func(in *Intent) { in.Checksum = ChecksumRFC5798 }))
	we.becomes(Master)
	it := k.keepalived(v.number, 255, v.line)
	it.start()
	yieldsWhileItLives(t, we, it, "192.0.2.5 has priority 255, which is higher than 254")
}

// framesAreAlike compares what both send, byte by byte.
func framesAreAlike(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	it := k.keepalived(v.number, 100, v.line)
	it.start()
	it.becomes(true)
	eventually(t, "it has told its address ten times", func() bool { return len(l.gratuitousOf(h.macOf(k))) >= garpRounds })
	it.end()
	we := h.speak(v.intend(h, 100, func(in *Intent) { in.Checksum = ChecksumRFC5798 }))
	we.becomes(Master)
	eventually(t, "we have told our address ten times", func() bool { return len(l.gratuitousOf(MAC(51))) >= garpRounds })
	we.end()
	eventually(t, "both have given up", func() bool {
		for _, end := range []*host{h, k} {
			list, _ := l.advertsOf(end)
			if !slices.ContainsFunc(list, func(a heard) bool { return a.priority == 0 }) {
				return false
			}
		}
		return true
	})
	ours, ourFrames := l.advertsOf(h)
	theirs, theirFrames := l.advertsOf(k)
	pick := func(list []heard, frames [][]byte, priority uint8) []byte {
		t.Helper()
		i := slices.IndexFunc(list, func(a heard) bool { return a.priority == priority })
		if i < 0 {
			t.Fatalf("no advert of priority %d was seen", priority)
		}
		return frames[i]
	}
	for _, priority := range []uint8{100, 0} {
		a, b := pick(ours, ourFrames, priority), pick(theirs, theirFrames, priority)
		if got, want := [6]byte(a[6:]), MAC(51); got != want {
			t.Errorf("our Ethernet source is %x", got)
		}
		// What may differ is the Ethernet source, the datagram's number and what follows from the sender's address. v3's sum
		// has that in its pseudo-header.
		for _, f := range []*[]byte{&a, &b} {
			c := slices.Clone(*f)
			copy(c[6:12], make([]byte, 6))
			copy(c[18:20], []byte{0, 0})
			copy(c[24:30], make([]byte, 6))
			if v.number == 3 {
				copy(c[40:42], []byte{0, 0})
			}
			*f = c[:min(len(c), etherLen+int(c[16])<<8+int(c[17]))]
		}
		if !bytes.Equal(a, b) {
			t.Errorf("priority %d: ours is\n%x\ntheirs is\n%x", priority, a, b)
		}
	}
	if v.number == 3 && theirs[0].checksum != ChecksumRFC5798 {
		t.Errorf("its checksum is that of %s", theirs[0].checksum)
	}
	a, b := l.gratuitousOf(MAC(51))[0].data[:42], slices.Clone(l.gratuitousOf(h.macOf(k))[0].data[:42])
	mac := MAC(51)
	copy(b[6:], mac[:])
	copy(b[22:], mac[:])
	copy(b[32:], make([]byte, 6)) // the target's hardware address means nothing in a request
	if !bytes.Equal(a, b) {
		t.Errorf("our gratuitous ARP is\n%x\ntheirs is\n%x", a, b)
	}
}

// macOf is the address of a host's device.
func (h *host) macOf(k *host) [6]byte { return [6]byte(k.device().Attrs().HardwareAddr) }

func itSpeaksTheOtherVersion(t *testing.T, v protocolVersion, l *lan, h, k *host) {
	it := k.keepalived(5-v.number, 200, "advert_int 1")
	it.start()
	it.becomes(true)
	v.interval = time.Second // keepalived does not advertise while such adverts come in more often than it would
	we := h.speak(v.intend(h, 100, nil))
	eventually(t, "its adverts are counted", func() bool { return we.count(51).Refused[Version] > 0 })
	we.becomes(Master) // both are: nothing that either says means anything to the other
	if c := we.count(51); c.Received != 0 {
		t.Errorf("counted %+v", c)
	}
}

// TestKeepalivedRefused: what version 2 demands of both sides alike.
func TestKeepalivedRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		lines []string
		want  Refusal
	}{
		{"another interval", []string{"advert_int 2"}, Interval},
		{"a password", []string{"advert_int 1", "authentication {", "auth_type PASS", "auth_pass secret", "}"}, Authentication},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			l := newLAN(t)
			h, k := l.host(9), l.host(5)
			it := k.keepalived(2, 200, row.lines...)
			it.start()
			it.becomes(true)
			we := h.speak(versions[0].intend(h, 100, nil))
			eventually(t, "its adverts are counted", func() bool { return we.count(51).Refused[row.want] > 0 })
			we.becomes(Master)
			if c := we.count(51); c.Received != 0 {
				t.Errorf("counted %+v", c)
			}
		})
	}
}

// TestKeepalivedIntervalIsLearned: in version 3 a backup waits by its master's interval, on either side.
func TestKeepalivedIntervalIsLearned(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h, k := l.host(9), l.host(5)
	it := k.keepalived(3, 150, "advert_int 0.5")
	it.start()
	it.becomes(true)
	we := h.speak(h.intend(func(in *Intent) { in.Hello = 4 * time.Second; in.Dead = 20 * time.Second }))
	eventually(t, "we know its interval", func() bool { return we.state().MasterInterval == 500*time.Millisecond })
	it.kill()
	we.becomes(Master) // by our own interval it would be 14.4 s, which this does not rule out; the reason does
	var silence time.Duration
	if _, err := fmt.Sscanf(we.state().Reason, "192.0.2.5 was not heard for %s", (*duration)(&silence)); err != nil || silence < 1804*time.Millisecond || silence > 10*time.Second {
		t.Errorf("%v, %v: %s", silence, err, we.state().Reason)
	}
	eventually(t, "our interval is told", func() bool {
		list, _ := l.advertsOf(h)
		return len(list) > 0 && list[0].interval == 4*time.Second
	})
}

type duration time.Duration

func (d *duration) Scan(state fmt.ScanState, _ rune) error {
	word, err := state.Token(true, nil)
	if err != nil {
		return err
	}
	v, err := time.ParseDuration(string(word))
	*d = duration(v)
	return err
}

// TestKeepalivedChecksum: keepalived 2.2 has the pseudo-header in its sum, and takes no advert without. With "auto" we find out.
func TestKeepalivedChecksum(t *testing.T) {
	t.Parallel()
	v := versions[1]
	for _, row := range []struct {
		form Checksum
		ends bool // one master in the end
	}{{ChecksumAuto, true}, {ChecksumRFC5798, true}, {ChecksumRFC9568, false}} {
		t.Run(row.form.String(), func(t *testing.T) {
			t.Parallel()
			l := newLAN(t)
			h, k := l.host(9), l.host(5)
			we := h.speak(v.intend(h, 150, func(in *Intent) { in.Checksum = row.form }))
			we.becomes(Master)
			it := k.keepalived(3, 100, v.line)
			it.start()
			if row.form != ChecksumRFC5798 {
				// It does not believe us, and says so: first by adverts, then it takes the address, then it tells of that. To ask
				// whether it has the address before it told of it would be to ask too early.
				eventually(t, "it tells its address", func() bool { return len(l.gratuitousOf(h.macOf(k))) > 0 })
			}
			if !row.ends {
				it.becomes(true)
				hardly(t, 3*time.Second, "it yields", func() bool { return !it.master() })
				return
			}
			it.becomes(false)
			hardly(t, 3*time.Second, "it takes over from one that is better", it.master)
			if s := we.state(); s.because("192.0.2.5 has") {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestKeepalivedWithVirtualMAC: with use_vmac its adverts leave with the virtual MAC as ours do, and we know who is master
// by the address.
func TestKeepalivedWithVirtualMAC(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h, k := l.host(9), l.host(5)
	it := k.keepalived(3, 150, versions[1].line, "use_vmac vrrp.51")
	it.start()
	we := h.speak(versions[1].intend(h, 100, nil))
	eventually(t, "we know our master", func() bool {
		s := we.state()
		return s.Role == Backup && s.MasterMAC == MAC(51) && s.MasterAddress == k.addr.Addr()
	})
	eventually(t, "it has told its address ten times", func() bool { return len(l.gratuitousOf(MAC(51))) >= garpRounds })
	eventually(t, "an advert of it is seen", func() bool { a, _ := l.advertsOf(k); return len(a) > 0 })
	if a, _ := l.advertsOf(k); a[0].mac != MAC(51) {
		t.Errorf("its adverts come from %+v", a)
	}
	it.kill()
	we.becomes(Master)
}

// TestKeepalivedOtherAddresses: adverts with other addresses are heeded, but not without a word.
func TestKeepalivedOtherAddresses(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h, k := l.host(9), l.host(5)
	it := k.keepalived(3, 150, versions[1].line)
	it.start()
	we := h.speak(versions[1].intend(h, 100, func(in *Intent) { in.VIPs = []netip.Addr{vip, vip.Next()} }))
	eventually(t, "its other addresses are counted", func() bool { return we.count(51).OtherVIPs > 0 })
	eventually(t, "it is our master", func() bool { return we.state().MasterAddress == k.addr.Addr() })
}
