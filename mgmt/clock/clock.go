// Package clock keeps the machine's time by the time servers of the configuration: it runs chrony's chronyd, tells it whom to ask,
// and asks it how the clock stands.
package clock

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"sync"
	"time"
)

const (
	soon   = 2 * time.Second  // after a failure, and twice that after each further one
	late   = time.Minute      // at most
	again  = 5 * time.Minute  // names are asked for
	sooner = 20 * time.Second // when one has no answer yet
	glance = 10 * time.Second // at what chronyd says, for the log and for metrics
	asking = 10 * time.Second // for the address of a name
)

// Server is a time server.
type Server struct {
	Host             string // address or name
	Minpoll, Maxpoll uint8  // powers of two, in seconds
	Key              uint16 // 0: none
	Prefer           bool
}

// Options are what a keeper works with.
type Options struct {
	Dir    string // where chronyd has its files; made
	Keys   string // file of the keys that answers are signed by, in chrony's form
	Adjust bool   // the machine's clock is set; else it is only watched, and said by how much it would be
	Lookup func(ctx context.Context, domain string) ([]netip.Addr, error)
	Log    *slog.Logger
}

// Keeper keeps the time.
type Keeper struct {
	opt     Options
	changed chan struct{}

	mu     sync.Mutex
	want   []Server
	ended  bool                  // want was empty since chronyd was driven last
	found  map[string]netip.Addr // of names
	failed map[string]string     // why a name has no address
	wrong  string                // why chronyd does not run; empty if it does, or need not
	last   Status
}

// New returns a keeper that does nothing until Run.
func New(opt Options) *Keeper {
	return &Keeper{opt: opt, changed: make(chan struct{}, 1), found: map[string]netip.Addr{}, failed: map[string]string{}}
}

// Set says which servers the clock is to follow: with none it follows nobody. It does not wait.
func (k *Keeper) Set(servers []Server) {
	k.mu.Lock()
	same := slices.Equal(k.want, servers)
	k.want = servers
	k.ended = k.ended || len(servers) == 0
	k.mu.Unlock()
	if same {
		return
	}
	select {
	case k.changed <- struct{}{}:
	default:
	}
}

// wanted are the servers, and whether there were none meanwhile.
func (k *Keeper) wanted() (want []Server, ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ended, k.ended = k.ended, false
	return k.want, ended
}

// Run keeps the time until ctx ends, and ends chronyd then.
func (k *Keeper) Run(ctx context.Context) {
	d := &daemon{opt: &k.opt}
	d.endOther()
	defer d.stop()
	look := time.NewTicker(glance)
	defer look.Stop()
	at, pause := time.Now(), soon
	failed := func() { at, pause = time.Now().Add(pause), min(2*pause, late) }
	drive := func() {
		if err := k.drive(ctx, d); err != nil {
			k.opt.Log.Error("the clock follows no time server", "problem", err, "again in", pause)
			k.note(err.Error(), Status{})
			failed()
			return
		}
		at = time.Now().Add(k.rest())
	}
	for {
		due := time.NewTimer(time.Until(at))
		select {
		case <-ctx.Done():
			due.Stop()
			return
		case <-k.changed:
			pause = soon
			drive()
		case <-due.C:
			drive()
		case err := <-d.ended():
			k.opt.Log.Warn("chronyd has ended and is started again", "problem", err, "in", pause)
			d.forget()
			k.note(err.Error(), Status{})
			failed()
		case <-look.C:
			if k.glance(ctx, d) {
				pause = soon
			}
		}
		due.Stop()
	}
}

// drive makes chronyd do what is wanted.
func (k *Keeper) drive(ctx context.Context, d *daemon) error {
	want, ended := k.wanted()
	if ended || len(want) == 0 {
		d.stop() // also when it is wanted again already, for it reads its keys when it starts
		k.note("", Status{})
	}
	if len(want) == 0 {
		return nil
	}
	k.resolve(ctx, want)
	if err := d.follow(ctx, k.sources(want), slices.ContainsFunc(want, func(s Server) bool { return s.Key != 0 })); err != nil {
		return err
	}
	k.mu.Lock()
	k.wrong = ""
	k.mu.Unlock()
	return nil
}

// rest is the time until names are asked for again.
func (k *Keeper) rest() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.failed) > 0 {
		return sooner
	}
	return again
}

func (k *Keeper) note(wrong string, s Status) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wrong, k.last = wrong, s
}

// resolve finds the addresses of names. One that is still among the answers stays, and one that does not answer keeps its last.
func (k *Keeper) resolve(ctx context.Context, want []Server) {
	found, failed := map[string]netip.Addr{}, map[string]string{}
	for _, s := range want {
		if _, err := netip.ParseAddr(s.Host); err == nil {
			continue
		}
		k.mu.Lock()
		old, before := k.found[s.Host], k.failed[s.Host]
		k.mu.Unlock()
		lookup, cancel := context.WithTimeout(ctx, asking)
		all, err := k.opt.Lookup(lookup, s.Host)
		cancel()
		switch {
		case err == nil && len(all) > 0 && !slices.Contains(all, old):
			old = all[0]
		case err != nil:
			failed[s.Host] = err.Error()
			if before != err.Error() {
				k.opt.Log.Warn("the name of a time server does not resolve", "server", s.Host, "problem", err)
			}
		}
		if old.IsValid() {
			found[s.Host] = old
		}
	}
	k.mu.Lock()
	k.found, k.failed = found, failed
	k.mu.Unlock()
}

// address is that of a server; not valid while it is not known.
func (k *Keeper) address(s Server) netip.Addr {
	if ip, err := netip.ParseAddr(s.Host); err == nil {
		return ip
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.found[s.Host]
}

// sources are the servers as chronyd reads them.
func (k *Keeper) sources(want []Server) string {
	text := ""
	for _, s := range want {
		ip := k.address(s)
		if !ip.IsValid() {
			continue
		}
		text += fmt.Sprintf("server %s iburst minpoll %d maxpoll %d", ip, s.Minpoll, s.Maxpoll)
		if s.Key != 0 {
			text += fmt.Sprintf(" key %d", s.Key)
		}
		if s.Prefer {
			text += " prefer"
		}
		text += "\n"
	}
	return text
}

// glance looks how the clock stands, and logs when that changes. It tells whether chronyd answers.
func (k *Keeper) glance(ctx context.Context, d *daemon) bool {
	if !d.running() {
		return false
	}
	s, err := d.ask(ctx)
	if err != nil {
		return false // it is ending, which is told where it is noticed
	}
	k.mu.Lock()
	before := k.last
	k.last = s
	k.mu.Unlock()
	switch {
	case s.Synchronized && !before.Synchronized:
		k.opt.Log.Info("the clock follows a time server", "server", s.Reference, "stratum", s.Stratum, "ahead", s.Ahead)
	case !s.Synchronized && before.Synchronized:
		k.opt.Log.Warn("the clock follows no time server any more: none answers, or they do not agree", "last", before.Reference)
	}
	return true
}

// Last is how the clock stood a moment ago.
func (k *Keeper) Last() Status {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// Status asks how the clock stands now.
func (k *Keeper) Status(ctx context.Context) Status {
	k.mu.Lock()
	wrong, off, failed := k.wrong, len(k.want) == 0, k.failed
	k.mu.Unlock()
	s := Status{Problem: wrong}
	if !off && wrong == "" {
		var err error
		if s, err = (&daemon{opt: &k.opt}).ask(ctx); err != nil {
			s.Problem = err.Error()
		}
	}
	s.Off, s.Adjust, s.Unresolved = off, k.opt.Adjust, failed
	return s
}
