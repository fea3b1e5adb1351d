package resolve

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"sluice/mgmt/compile"
)

// zone is a name server on a loopback address: what it answers to each name.
type zone struct {
	mu    sync.Mutex
	asked map[string]int
	reply map[string]func(m *dns.Msg, udp bool) // by name; nil value: no answer at all
	port  string
}

func records(lines ...string) func(*dns.Msg, bool) {
	return func(m *dns.Msg, _ bool) {
		for _, l := range lines {
			rr, err := dns.NewRR(l)
			if err != nil {
				panic(err)
			}
			m.Answer = append(m.Answer, rr)
		}
	}
}

func rcode(code int) func(*dns.Msg, bool) { return func(m *dns.Msg, _ bool) { m.Rcode = code } }

// serve starts a name server on addr and the port, or any port if that is empty.
func serve(t *testing.T, addr, port string, reply map[string]func(*dns.Msg, bool)) *zone {
	t.Helper()
	z := &zone{asked: map[string]int{}, reply: reply}
	pc, err := net.ListenPacket("udp", net.JoinHostPort(addr, port))
	if err != nil {
		t.Fatal(err)
	}
	_, z.port, _ = net.SplitHostPort(pc.LocalAddr().String())
	l, err := net.Listen("tcp", net.JoinHostPort(addr, z.port))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*dns.Server{{PacketConn: pc, Handler: z.handler(true)}, {Listener: l, Handler: z.handler(false)}} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go s.ActivateAndServe()
		<-started
		t.Cleanup(func() { s.Shutdown() })
	}
	return z
}

func (z *zone) handler(udp bool) dns.HandlerFunc {
	return func(w dns.ResponseWriter, q *dns.Msg) {
		name := strings.ToLower(q.Question[0].Name)
		z.mu.Lock()
		z.asked[name]++
		answer, known := z.reply[name]
		z.mu.Unlock()
		m := new(dns.Msg)
		m.SetReply(q)
		switch {
		case !known:
			m.Rcode = dns.RcodeNameError
		case answer == nil:
			return
		default:
			answer(m, udp)
		}
		w.WriteMsg(m)
	}
}

func (z *zone) set(name string, answer func(*dns.Msg, bool)) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.reply[name] = answer
}

// resolvConf writes a file; dns.ClientConfigFromFile knows no port, so the servers of these tests listen on 53 of addresses of
// their own, or the file is made for the port by the caller.
func resolvConf(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "resolv.conf")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestLookup(t *testing.T) {
	many := []string{}
	for i := range 200 {
		many = append(many, fmt.Sprintf("many.test. 30 A 10.3.0.%d", i+1))
	}
	serve(t, "127.0.53.1", "53", map[string]func(*dns.Msg, bool){
		"www.test.":       records("www.test. 60 A 10.2.0.11", "www.test. 50 A 10.2.0.12"),
		"alias.test.":     records("alias.test. 7 CNAME www.test.", "www.test. 60 A 10.2.0.11"),
		"v6.test.":        records("v6.test. 60 CNAME x.test."),
		"odd.test.":       records("odd.test. 60 A 127.0.0.1", "odd.test. 60 A 0.0.0.0", "odd.test. 60 A 224.0.0.1"),
		"short.lan.test.": records("short.lan.test. 60 A 10.2.0.13"),
		"many.test.": func(m *dns.Msg, udp bool) {
			if m.Truncated = udp; !udp {
				records(many...)(m, udp)
			}
		},
		"broken.test.": rcode(dns.RcodeServerFailure),
		"other.test.": func(m *dns.Msg, _ bool) {
			m.Question[0].Name = "www.test."
			records("www.test. 60 A 10.2.0.99")(m, true)
		},
		"old.test.": func(m *dns.Msg, udp bool) {
			if m.Rcode = dns.RcodeFormatError; !udp {
				m.Rcode = dns.RcodeSuccess
				records("old.test. 60 A 10.2.0.14")(m, udp)
			}
		},
	})
	serve(t, "127.0.53.2", "53", map[string]func(*dns.Msg, bool){"broken.test.": records("broken.test. 60 A 10.2.0.15"), "silent.test.": nil})
	one := resolvConf(t, "nameserver 127.0.53.1\nsearch lan.test\noptions timeout:1 attempts:1\n")
	both := resolvConf(t, "nameserver 127.0.53.1\nnameserver 127.0.53.2\noptions timeout:1 attempts:1\n")
	dead := resolvConf(t, "nameserver 127.0.53.3\nnameserver 127.0.53.1\noptions timeout:1 attempts:1\n")
	silent := resolvConf(t, "nameserver 127.0.53.2\noptions timeout:1 attempts:1\n")
	for _, row := range []struct {
		file, name, want string
		ttl              time.Duration
	}{
		{one, "www.test", "[10.2.0.11 10.2.0.12]", 50 * time.Second},
		{one, "WWW.test.", "[10.2.0.11 10.2.0.12]", 50 * time.Second},
		{one, "alias.test", "[10.2.0.11]", 7 * time.Second},
		{one, "short", "[10.2.0.13]", time.Minute},
		{one, "old.test", "[10.2.0.14]", time.Minute},
		{one, "v6.test", "the name has no IPv4 address", 0},
		{one, "odd.test", "the name has no IPv4 address", 0},
		{one, "none.test", "the name does not exist", 0},
		{one, "broken.test", "name server 127.0.53.1 answers SERVFAIL", 0},
		{one, "other.test", "name server 127.0.53.1 does not answer: it answers another question", 0},
		{both, "broken.test", "[10.2.0.15]", time.Minute},
		{dead, "www.test", "[10.2.0.11 10.2.0.12]", 50 * time.Second},
		{silent, "silent.test", "name server 127.0.53.2 does not answer: timeout", 0},
		{resolvConf(t, "search test\n"), "www.test", "names no name server", 0},
		{"/nowhere/resolv.conf", "www.test", "cannot be read from /nowhere/resolv.conf", 0},
	} {
		found, ttl, err := New(row.file, nil).lookup(context.Background(), row.name)
		got := fmt.Sprint(found)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, row.want) || err == nil && ttl != row.ttl {
			t.Errorf("%s: %s for %v, want %s for %v", row.name, got, ttl, row.want, row.ttl)
		}
	}
	if found, _, err := New(one, nil).lookup(context.Background(), "many.test"); err != nil || len(found) != 200 {
		t.Errorf("an answer that is cut off: %d addresses, %v", len(found), err)
	}
}

// TestFollow: names are asked for again when their time is over, after a failure as said; what is taken away is asked for no more.
func TestFollow(t *testing.T) {
	z := serve(t, "127.0.53.4", "53", map[string]func(*dns.Msg, bool){"a.test.": records("a.test. 1 A 10.2.0.11")})
	answers := map[string]chan Answer{"a": make(chan Answer, 64), "b": make(chan Answer, 64)} // each name's in order, none lost
	r := New(resolvConf(t, "nameserver 127.0.53.4\noptions timeout:1 attempts:1\n"), func(a Answer) { answers[a.Server] <- a })
	defer r.Close()
	next := func(server string) Answer {
		t.Helper()
		select {
		case a := <-answers[server]:
			return a
		case <-time.After(30 * time.Second):
			t.Fatalf("no answer for %s in 30 s", server)
			return Answer{}
		}
	}
	a := compile.Query{Server: "a", Domain: "a.test", Retry: time.Second}
	r.Set([]compile.Query{a, {Server: "b", Domain: "b.test", Retry: time.Second}})
	if got := next("a"); !slices.Equal(got.Addresses, []netip.Addr{netip.MustParseAddr("10.2.0.11")}) || got.Failure != "" || got.Next.Sub(got.At) != time.Second {
		t.Errorf("first answer %+v", got)
	}
	if got := next("b"); got.Failure != "the name does not exist" || len(got.Addresses) != 0 {
		t.Errorf("a name that does not exist: %+v", got)
	}
	z.set("a.test.", records("a.test. 1 A 10.2.0.12"))
	z.set("b.test.", records("b.test. 3600 A 10.2.0.13"))
	for got := next("a"); got.Addresses[0] != netip.MustParseAddr("10.2.0.12"); got = next("a") {
	}
	for got := next("b"); got.Failure != ""; got = next("b") {
	}
	z.set("a.test.", rcode(dns.RcodeServerFailure))
	for got := next("a"); got.Failure != "name server 127.0.53.4 answers SERVFAIL"; got = next("a") {
	}
	r.Set(nil)
	r.Close()
	z.mu.Lock()
	before := z.asked["a.test."]
	z.mu.Unlock()
	time.Sleep(1500 * time.Millisecond)
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.asked["a.test."] != before {
		t.Error("a name is asked for after it was taken away")
	}
}

// TestConfiguredNameServers: those of the configuration are asked in the place of the file's, in turn, from the next question
// on; without them it is the file's again.
func TestConfiguredNameServers(t *testing.T) {
	serve(t, "127.0.53.5", "53", map[string]func(*dns.Msg, bool){"a.test.": records("a.test. 60 A 10.2.0.1"), "a.lan.test.": records("a.lan.test. 60 A 10.2.0.1")})
	serve(t, "127.0.53.6", "53", map[string]func(*dns.Msg, bool){"a.test.": rcode(dns.RcodeRefused)})
	serve(t, "127.0.53.7", "53", map[string]func(*dns.Msg, bool){"a.test.": records("a.test. 60 A 10.2.0.2")})
	r := New(resolvConf(t, "nameserver 127.0.53.5\nsearch lan.test\noptions timeout:1 attempts:1\n"), nil)
	at := func(hosts ...string) (all []netip.Addr) {
		for _, h := range hosts {
			all = append(all, netip.MustParseAddr(h))
		}
		return all
	}
	for _, row := range []struct {
		servers    []netip.Addr
		name, want string
	}{
		{nil, "a.test", "[10.2.0.1]"},
		{at("127.0.53.7"), "a.test", "[10.2.0.2]"},
		{at("127.0.53.6", "127.0.53.7"), "a.test", "[10.2.0.2]"},
		{at("127.0.53.6"), "a.test", "name server 127.0.53.6 answers REFUSED"},
		{at("127.0.53.8"), "a.test", "name server 127.0.53.8 does not answer"},
		{at("127.0.53.7"), "a", "the name does not exist"}, // the search list is the file's
		{nil, "a", "[10.2.0.1]"},
	} {
		r.Ask(row.servers)
		found, _, err := r.lookup(context.Background(), row.name)
		got := fmt.Sprint(found)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, row.want) {
			t.Errorf("%s of %v: %s, want %s", row.name, row.servers, got, row.want)
		}
	}
}

// FuzzAddresses: whatever a name server sends is taken for an answer or not, and nothing else happens.
func FuzzAddresses(f *testing.F) {
	m := new(dns.Msg)
	m.SetQuestion("www.test.", dns.TypeA)
	records("www.test. 60 A 10.2.0.11", "www.test. 60 CNAME x.")(m, true)
	packed, _ := m.Pack()
	f.Add(packed)
	f.Fuzz(func(t *testing.T, b []byte) {
		in := new(dns.Msg)
		if in.Unpack(b) != nil {
			return
		}
		found, ttl, err := addresses(in)
		if (err == nil) != (len(found) > 0) || ttl < 0 || ttl > latest {
			t.Errorf("%v %v %v", found, ttl, err)
		}
	})
}
