package telemetry

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

const (
	// LevelCritical is for what an operator must act on.
	LevelCritical = slog.LevelError + 4
	// LevelNotice is for what is normal and worth knowing.
	LevelNotice = slog.LevelInfo + 2
)

// severityOf is a level as a severity of RFC 5424 section 6.2.1.
func severityOf(l slog.Level) int {
	switch {
	case l >= LevelCritical:
		return 2
	case l >= slog.LevelError:
		return 3
	case l >= slog.LevelWarn:
		return 4
	case l >= LevelNotice:
		return 5
	case l >= slog.LevelInfo:
		return 6
	}
	return 7
}

// longest is the size of a message in bytes: what receivers should take (RFC 5424 section 6.1). The rest is cut off.
const longest = 2048

// Log hands log messages to a handler of this machine and to syslog servers. The servers can be changed at any time; one that is slow or
// gone never holds up who logs.
type Log struct {
	local slog.Handler
	host  atomic.Value // string: what the appliance is called
	dial  Dial

	mu      sync.Mutex // one change at a time
	servers atomic.Pointer[[]*server]
}

// NewLog returns a log without servers. dial is how servers are reached.
func NewLog(local slog.Handler, dial Dial) *Log {
	l := &Log{local: local, dial: dial}
	l.host.Store("")
	l.servers.Store(&[]*server{})
	return l
}

// Name says what the appliance is called in messages.
func (l *Log) Name(host string) { l.host.Store(host) }

// Handler is the log as a handler of slog.
func (l *Log) Handler() slog.Handler { return &handler{log: l, local: l.local} }

// Set replaces the servers. Those that stay the same keep their connection and what waits for them.
func (l *Log) Set(targets []Target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := *l.servers.Load()
	var next []*server
	for _, t := range targets {
		var s *server
		for _, o := range old {
			if o.target == t {
				s = o
			}
		}
		if s == nil {
			s = newServer(t, slog.New(l.local), l.dial)
		}
		next = append(next, s)
	}
	l.servers.Store(&next)
	for _, o := range old {
		kept := false
		for _, s := range next {
			kept = kept || s == o
		}
		if !kept {
			o.close()
		}
	}
}

// Close takes leave of the servers: what waits is still sent to those that are there, for a second at most.
func (l *Log) Close() {
	deadline := time.Now().Add(time.Second)
	for _, s := range *l.servers.Load() {
		for s.waiting() > 0 && s.connected() && time.Now().Before(deadline) {
			time.Sleep(10 * time.Millisecond)
		}
	}
	l.Set(nil)
}

// Status tells how each server is doing, by the target's name.
func (l *Log) Status() map[string]Status {
	all := map[string]Status{}
	for _, s := range *l.servers.Load() {
		all[s.target.Name] = s.status()
	}
	return all
}

// handler is the log with the attributes that a logger was given.
type handler struct {
	log    *Log
	local  slog.Handler
	attrs  []slog.Attr
	prefix string // of groups
}

// Enabled tells whether anybody wants messages of the level.
func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	if h.local.Enabled(ctx, level) {
		return true
	}
	for _, s := range *h.log.servers.Load() {
		if s.target.wants(severityOf(level)) {
			return true
		}
	}
	return false
}

// Handle tells everybody who wants it.
func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	var err error
	if h.local.Enabled(ctx, r.Level) {
		err = h.local.Handle(ctx, r)
	}
	severity, text := severityOf(r.Level), ""
	for _, s := range *h.log.servers.Load() {
		if !s.target.wants(severity) {
			continue
		}
		if text == "" {
			text = h.text(r)
		}
		s.put(entry{severity: severity, at: r.Time, host: h.log.host.Load().(string), text: text})
	}
	return err
}

// WithAttrs is the handler with further attributes in each message.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	n := *h
	n.local = h.local.WithAttrs(attrs)
	n.attrs = append(h.attrs[:len(h.attrs):len(h.attrs)], prefixed(h.prefix, attrs)...)
	return &n
}

// WithGroup is the handler that puts the name before those of further attributes.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	n := *h
	n.local, n.prefix = h.local.WithGroup(name), h.prefix+name+"."
	return &n
}

func prefixed(prefix string, attrs []slog.Attr) []slog.Attr {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = slog.Attr{Key: prefix + a.Key, Value: a.Value}
	}
	return out
}

// text is the message with its attributes, on one line.
func (h *handler) text(r slog.Record) string {
	var b strings.Builder
	b.WriteString(strings.Map(plain, r.Message))
	add := func(a slog.Attr) bool {
		if v := a.Value.Resolve(); !a.Equal(slog.Attr{}) {
			b.WriteString(" " + a.Key + "=" + quoted(v.String()))
		}
		return b.Len() < longest
	}
	for _, a := range h.attrs {
		add(a)
	}
	r.Attrs(func(a slog.Attr) bool { return add(slog.Attr{Key: h.prefix + a.Key, Value: a.Value}) })
	return b.String()
}

func plain(r rune) rune {
	if r < ' ' || r == 0x7f || r == utf8.RuneError {
		return ' '
	}
	return r
}

// quoted is a value that cannot be taken for anything else.
func quoted(s string) string {
	if s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '=' || r == 0x7f }) {
		return s
	}
	return strconv.Quote(s)
}

// entry is a message that waits for a server.
type entry struct {
	severity int
	at       time.Time
	host     string
	text     string
}

var pid = strconv.Itoa(os.Getpid())

// format writes a message as RFC 5424 has it. The number lets the receiver see what it has missed (section 7.3.1).
func (e *entry) format(facility int, sequence uint32) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<%d>1 %s %s sluice %s - [meta sequenceId=\"%d\"] ", facility*8+e.severity,
		e.at.UTC().Format("2006-01-02T15:04:05.000000Z"), field(e.host, 255), pid, sequence)
	b.WriteString("\xef\xbb\xbf") // it is UTF-8 that follows (section 6.4)
	b.WriteString(strings.ToValidUTF8(e.text, " "))
	if b.Len() <= longest {
		return b.Bytes()
	}
	end := longest
	for end > 0 && !utf8.RuneStart(b.Bytes()[end]) {
		end--
	}
	return b.Bytes()[:end]
}

// field is a word of the header: printable ASCII without spaces, or "-" for none (section 6).
func field(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
	if s == "" {
		return "-"
	}
	return s[:min(len(s), most)]
}
