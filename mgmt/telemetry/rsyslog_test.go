package telemetry

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/tests/programs"
)

// receiver is an rsyslogd of its own that writes what it understands into a file.
type receiver struct {
	t    *testing.T
	dir  string
	port int
	kind string
	stop func()
}

const rsyslogConf = `global(workDirectory="%[1]s" defaultNetstreamDriverCAFile="%[1]s/cert.pem" defaultNetstreamDriverCertFile="%[1]s/cert.pem" defaultNetstreamDriverKeyFile="%[1]s/key.pem")
template(name="seen" type="string" string="%%pri%%|%%timestamp:::date-rfc3339%%|%%hostname%%|%%app-name%%|%%procid%%|%%structured-data%%|%%msg%%\n")
module(load="%[2]s" %[3]s)
ruleset(name="all") { action(type="omfile" file="%[1]s/seen" template="seen" asyncWriting="off") }
input(type="%[2]s" address="127.0.0.1" port="%[4]d" ruleset="all")
`

// newReceiver starts rsyslogd for UDP, TCP or TLS.
func newReceiver(t *testing.T, kind string) *receiver {
	t.Helper()
	dir, err := os.MkdirTemp("", "rsyslog") // rsyslogd bounds the length of paths
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	programs.Certificate(t, dir)
	network, module, extra := "tcp", "imtcp", ""
	switch kind {
	case "UDP":
		network, module = "udp", "imudp"
	case "TLS":
		extra = `StreamDriver.Name="gtls" StreamDriver.Mode="1" StreamDriver.Authmode="anon"`
	}
	r := &receiver{t: t, dir: dir, kind: kind, port: programs.FreePort(t, network)}
	conf := fmt.Sprintf(rsyslogConf, dir, module, extra, r.port)
	if err := os.WriteFile(filepath.Join(dir, "conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	r.start()
	return r
}

func (r *receiver) start() {
	r.t.Helper()
	r.stop = programs.Start(r.t, "rsyslogd", "-n", "-f", filepath.Join(r.dir, "conf"), "-i", filepath.Join(r.dir, "pid"))
	if r.kind == "UDP" { // datagrams to nobody are lost: wait until it is there
		r.until("the socket", func() bool {
			list, _ := os.ReadFile("/proc/net/udp")
			return strings.Contains(string(list), fmt.Sprintf("0100007F:%04X", r.port))
		})
	}
}

func (r *receiver) seen() string {
	b, _ := os.ReadFile(filepath.Join(r.dir, "seen"))
	return string(b)
}

func (r *receiver) until(what string, is func() bool) {
	r.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("in 30 s not: %s. Seen:\n%s", what, r.seen())
		}
	}
}

func (r *receiver) target(wanted uint8) Target {
	t := Target{Name: "t", Server: "127.0.0.1", Port: uint16(r.port), Transport: r.kind, Facility: 19, Wanted: wanted}
	if r.kind == "TLS" {
		t.CA = filepath.Join(r.dir, "cert.pem")
	}
	return t
}

func newTestLog(t *testing.T, targets ...Target) (*Log, *slog.Logger) {
	l := NewLog(slog.NewTextHandler(io.Discard, nil), new(net.Dialer).DialContext)
	l.Name("lb1")
	l.Set(targets)
	t.Cleanup(func() { l.Set(nil) })
	return l, slog.New(l.Handler())
}

// TestRsyslog: a real receiver understands every part of a message by every transport.
func TestRsyslog(t *testing.T) {
	for _, kind := range []string{"UDP", "TCP", "TLS"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, kind)
			l, log := newTestLog(t, r.target(0xff&^(1<<6)))
			log = log.With("user", "nsroot").WithGroup("op")
			log.Warn("change refused", "line", `set x "ü" `+"\n<0>1 - forged", "result", "")
			log.Info("this is not wanted")
			log.Error("fault")
			log.Log(context.Background(), LevelCritical, "critical")
			log.Debug("detail")
			long := strings.Repeat("é", longest)
			log.Error(long)
			r.until("five messages", func() bool { return strings.Count(r.seen(), "\n") >= 5 })
			lines := strings.Split(r.seen(), "\n")
			form := regexp.MustCompile(`^(\d+)\|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(?:\+00:00|Z)\|lb1\|sluice\|\d+\|\[meta sequenceId="(\d)"\]\|(?:\x{feff})?(.*)$`)
			for i, want := range []string{"156|" + `change refused user=nsroot op.line="set x \"ü\" \n<0>1 - forged" op.result=""`, "155|fault user=nsroot", "154|critical user=nsroot", "159|detail user=nsroot"} {
				m := form.FindStringSubmatch(lines[i])
				if m == nil || m[2] != fmt.Sprint(i+1) || m[1]+"|"+m[3] != want {
					t.Errorf("line %d is\n%s\nwant\n%s", i+1, lines[i], want)
				}
			}
			if m := form.FindStringSubmatch(lines[4]); m == nil || len(m[3]) < 1500 || len(m[3]) > longest || strings.Trim(m[3], "é") != "" {
				t.Errorf("the long message: %.100s", lines[4])
			}
			if s := l.Status()["t"]; !s.Connected || s.Sent != 5 || s.Lost != 0 || s.Problem != "" {
				t.Errorf("status %+v", s)
			}
		})
	}
}

// TestRsyslogKilled: while a receiver is dead messages wait, and when it is back it gets them.
func TestRsyslogKilled(t *testing.T) {
	r := newReceiver(t, "TCP")
	l, log := newTestLog(t, r.target(0xff))
	log.Info("before")
	r.until("before", func() bool { return strings.Contains(r.seen(), "before") })
	r.stop()
	r.until("the loss of the connection", func() bool { return l.Status()["t"].Problem != "" })
	for i := range 100 {
		log.Info("while it was dead", "n", i)
	}
	r.start()
	r.until("what waited", func() bool { return strings.Count(r.seen(), "while it was dead") == 100 })
	if s := l.Status()["t"]; s.Lost != 0 || !s.Connected {
		t.Errorf("status %+v", s)
	}
}

// TestServerThatDoesNotRead: who logs is not held up, what does not fit is counted, and the server is told so later.
func TestServerThatDoesNotRead(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	at := uint16(listener.Addr().(*net.TCPAddr).Port)
	l, log := newTestLog(t, Target{Name: "t", Server: "127.0.0.1", Port: at, Transport: "TCP", Facility: 16, Wanted: 0xff})
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1900)
	begin := time.Now()
	for n := 0; l.Status()["t"].Lost < 100; n++ {
		log.Info(text)
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("nothing is lost after %d messages: %+v", n, l.Status())
		}
	}
	found := make(chan bool, 1)
	go func() {
		var all strings.Builder
		for b := make([]byte, 64<<10); ; {
			n, err := conn.Read(b)
			all.Write(b[:n])
			if strings.Contains(all.String(), "were lost, since too many waited for it count=") {
				found <- true
				return
			}
			if err != nil { // it was given up meanwhile: the next connection
				if conn, err = listener.Accept(); err != nil {
					return
				}
			}
		}
	}()
	for deadline := time.After(60 * time.Second); ; {
		log.Info("more")
		select {
		case <-found:
			return
		case <-deadline:
			t.Fatalf("the loss is not told: %+v", l.Status())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestWrongCertificate: a server that cannot prove who it is gets nothing, and the status says why.
func TestWrongCertificate(t *testing.T) {
	r := newReceiver(t, "TLS")
	other := t.TempDir()
	programs.Certificate(t, other)
	strange, wrongName, named := r.target(0xff), r.target(0xff), r.target(0xff)
	strange.Name, strange.CA = "strange", filepath.Join(other, "cert.pem")
	wrongName.Name, wrongName.CertName = "wrongName", "elsewhere.example.com"
	named.Name, named.CertName = "named", "logs.example.com"
	missing := r.target(0xff)
	missing.Name, missing.CA = "missing", filepath.Join(other, "none.pem")
	nonsense := r.target(0xff)
	nonsense.Name, nonsense.CA = "nonsense", filepath.Join(r.dir, "conf")
	l, log := newTestLog(t, strange, wrongName, named, missing, nonsense)
	log.Info("secret")
	r.until("the one that is right", func() bool { return strings.Contains(r.seen(), "secret") })
	for name, want := range map[string]string{"strange": "unknown authority", "wrongName": "elsewhere.example.com", "missing": "no such file", "nonsense": "no certificate in PEM form"} {
		r.until(name, func() bool { return strings.Contains(l.Status()[name].Problem, want) })
		if l.Status()[name].Sent != 0 {
			t.Errorf("%s has got messages", name)
		}
	}
	if n := strings.Count(r.seen(), "secret"); n != 1 {
		t.Errorf("%d messages have come", n)
	}
}
