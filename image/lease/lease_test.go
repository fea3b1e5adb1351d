package lease

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/tests/apart"
)

// TestMain: cards and addresses are out of sight of other programs.
func TestMain(m *testing.M) { apart.Main(m, apart.Network) }

// diary is a log that is read while it is written.
type diary struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (d *diary) Write(b []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all.Write(b)
}

func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all.String()
}

// bed is a management port with a cable to a peer.
type bed struct {
	*testing.T
	*Port
	peer *apart.Peer
	log  *diary
	end  context.CancelFunc
	kept chan error
}

func newBed(t *testing.T) *bed {
	dir := t.TempDir()
	log := &diary{}
	b := &bed{T: t, log: log, kept: make(chan error, 1), Port: &Port{Device: "mgmt0", Fallback: netip.MustParsePrefix("192.168.100.1/16"),
		State: filepath.Join(dir, "run", "dhcp"), Resolv: filepath.Join(dir, "resolv.conf"), Log: log}}
	b.peer = apart.Cable(t, "mgmt0", "host0", "10.9.1.1/24")
	return b
}

// serve runs Debian's dnsmasq at the other end.
func (b *bed) serve(lease string) {
	b.Helper()
	dir := b.TempDir()
	c := b.peer.Command("dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--port=0", "--interface=host0", "--bind-interfaces", "--dhcp-authoritative", "--user=root",
		"--dhcp-leasefile="+filepath.Join(dir, "leases"), "--dhcp-range=10.9.1.50,10.9.1.59,255.255.255.0,"+lease, "--dhcp-option=option:router,10.9.1.1", "--dhcp-option=option:dns-server,10.9.1.2")
	c.Stdout, c.Stderr, c.WaitDelay = b.Output(), b.Output(), time.Second // a process that it has left behind has them as well
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
}

// keep begins to keep an address.
func (b *bed) keep() {
	ctx, cancel := context.WithCancel(b.Context())
	b.end = cancel
	go func() { b.kept <- b.Keep(ctx) }()
	b.Cleanup(cancel)
}

// until waits for what must come true.
func (b *bed) until(what string, ok func() bool) {
	b.Helper()
	for end := time.Now().Add(90 * time.Second); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			have, err := b.addresses()
			b.Fatalf("%s: it has not come; the port has %v %v; the log:\n%s", what, have, err, b.log)
		}
	}
}

func (b *bed) has(prefix string) bool {
	have, err := b.addresses()
	return err == nil && len(have) == 1 && strings.HasPrefix(have[0].String(), prefix)
}

func TestAddressByDHCP(t *testing.T) {
	b := newBed(t)
	b.serve("1h")
	b.keep()
	b.until("an address", func() bool { return b.has("10.9.1.5") && strings.Contains(b.log.String(), "by DHCP") })
	if have, _ := b.addresses(); have[0].Bits() != 24 || b.told() != have[0] {
		t.Errorf("%v, told %v", have, b.told())
	}
	if dns, err := os.ReadFile(b.Resolv); err != nil || string(dns) != "nameserver 10.9.1.2\n" {
		t.Errorf("%q %v", dns, err)
	}
	if routes := apart.Run(t, "ip", "route"); !strings.Contains(routes, "default via 10.9.1.1 dev mgmt0 proto dhcp metric 1024") {
		t.Errorf("routes\n%s", routes)
	}
	// Somebody configures an NSIP: management makes it the only address, and has readied the port for that.
	if err := os.WriteFile("/proc/sys/net/ipv4/conf/mgmt0/promote_secondaries", []byte("1"), 0); err != nil {
		t.Fatal(err)
	}
	apart.Run(t, "ip", "addr", "add", "10.9.1.9/24", "dev", "mgmt0")
	have, _ := b.addresses()
	apart.Run(t, "ip", "addr", "del", have[slices.IndexFunc(have, func(p netip.Prefix) bool { return p.Addr() != netip.MustParseAddr("10.9.1.9") })].String(), "dev", "mgmt0")
	if err := <-b.kept; !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	if !b.has("10.9.1.9/24") || b.told().IsValid() {
		t.Errorf("told %v", b.told())
	}
	// The next start finds it and leaves it alone.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := b.Keep(ctx); !errors.Is(err, ErrTaken) || !b.has("10.9.1.9/24") {
		t.Error(err)
	}
}

// TestNobodyAnswers: the address of a new machine, until a server is there.
func TestNobodyAnswers(t *testing.T) {
	b := newBed(t)
	b.keep()
	b.until("the fallback", func() bool { return b.has("192.168.100.1/16") && b.told() == b.Fallback })
	b.end()
	if err := <-b.kept; err != nil {
		t.Error(err)
	}
	b.serve("1h")
	b.keep() // as after a restart of the service: the fallback is known as ours
	b.until("an address", func() bool { return b.has("10.9.1.5") })
}

// TestRenewal: a lease of two minutes, the shortest of that server, is asked for again at half of its time, and the kernel knows it.
func TestRenewal(t *testing.T) {
	if testing.Short() || os.Getenv("FULL") == "" {
		return // FULL=1: it takes more than a minute
	}
	b := newBed(t)
	b.serve("2m")
	b.keep()
	b.until("an address", func() bool { return b.has("10.9.1.5") })
	life := func() bool {
		return strings.Contains(apart.Run(t, "ip", "addr", "show", "dev", "mgmt0"), "valid_lft 1")
	} // 100 s and more
	b.until("its time runs", func() bool { return !life() })
	b.until("it is renewed", life)
}

func TestNoCard(t *testing.T) {
	p := &Port{Device: "none0", Log: t.Output()}
	if err := p.Keep(t.Context()); err == nil || !strings.Contains(err.Error(), "none0") {
		t.Error(err)
	}
}
