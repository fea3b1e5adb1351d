package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"path/filepath"
	"sync"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/image/bundle"
	"sluice/image/slot"
	"sluice/mgmt/candidate"
	"sluice/mgmt/capture"
	"sluice/mgmt/clock"
	"sluice/mgmt/compile"
	"sluice/mgmt/engine"
	"sluice/mgmt/host"
	"sluice/mgmt/monitor"
	"sluice/mgmt/reach"
	"sluice/mgmt/resolve"
	"sluice/mgmt/store"
	"sluice/mgmt/telemetry"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

// firstLook is how long the kernel's first word about its addresses is waited for.
const firstLook = 2 * time.Second

// start brings up everything but the door. The startup configuration is in force when it returns, as far as it could
// be read.
func start(ctx context.Context, s *settings, log *slog.Logger, syslog *telemetry.Log) (*appliance, error) {
	st, err := store.Open(s.ConfigDir)
	if err != nil {
		return nil, err
	}
	if err := st.Own(); err != nil {
		return nil, err
	}
	if filepath.Dir(s.SSH.HostKey) == filepath.Clean(s.ConfigDir) {
		st.Hide(filepath.Base(s.SSH.HostKey))
	}
	st.Hide(boxRecord)
	h, err := host.Open(s.ports(), log)
	if err != nil {
		return nil, err
	}
	h.Manage(s.Management.Device)
	a := &appliance{store: st, kernel: h, log: log, now: time.Now, system: system(s.Hostname), syslog: syslog,
		hostKey: s.SSH.HostKey, banner: s.SSH.Banner, images: images{disk: slot.New("/"), key: bundle.KeyFile, dir: s.ImagesDir, power: systemd}}
	n := &names{a: a}
	a.resolver = resolve.New(s.Resolv, n.answer)
	a.clock = clock.New(clock.Options{Dir: s.NTP.Dir, Keys: filepath.Join(s.ConfigDir, keysFile), Adjust: s.NTP.Adjust, Lookup: a.resolver.Lookup, Log: log})
	a.reach = reach.New(a.resolver.Lookup, a.device)
	if a.speaker, err = vrrp.New(vrrp.Options{Changed: a.changed, Log: log}); err != nil {
		return nil, err
	}
	prober := monitor.New(a.reports, monitor.Options{Log: log, Scripts: filepath.Join(s.ConfigDir, "monitors"), Detour: h})
	a.engine = engine.New(engine.Options{
		Ports: s.ports(), Management: compile.Port{Name: s.Management.Name, Device: s.Management.Device}, Host: h, Prober: prober, Resolver: a.resolver, Speaker: a.speaker, Log: log, Linked: h.Linked, Check: grammar.Check, InForce: a.inForce,
		Note: func(n engine.Noted) { st.Record(n.Config, changeOf(n)) }, Version: st.LastVersion(),
		Dial: func(ctx context.Context) (engine.Dataplane, error) { return dial(ctx, s.Socket) },
	})
	a.candidate = candidate.New(a.engine, st, log)
	a.capture = capture.New(a.engine, s.ConfigDir, s.portNames(), log)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	hush := a.speak(a.speaker, func(ctx context.Context) (engine.Dataplane, error) { return dial(ctx, s.Socket) }, &running)
	a.close = func() {
		hush() // first: whoever takes over is to find the dataplane a backup
		cancel()
		a.candidate.Forget()
		a.capture.Close()
		prober.Close()
		a.resolver.Close()
		running.Wait()
		h.Close()
	}
	a.watch(ctx, h, &running)
	n.remember()
	a.load()
	running.Go(func() { a.engine.Run(ctx) })
	if err := a.serveMetrics(ctx, s.Metrics.Listen); err != nil {
		a.degrade("metrics", err.Error())
	}
	running.Go(func() { st.Journal(ctx) })
	running.Go(func() { a.clock.Run(ctx) })
	running.Go(func() { a.watchExpiries(ctx) })
	running.Go(func() { a.watchFiles(ctx) })
	return a, nil
}

func dial(ctx context.Context, socket string) (engine.Dataplane, error) {
	c, err := api.Dial(ctx, socket)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// watch lets the kernel's news reach the engine, and waits for the first of it.
func (a *appliance) watch(ctx context.Context, h *host.Host, running *sync.WaitGroup) {
	seen := make(chan struct{})
	first := sync.OnceFunc(func() { close(seen) })
	running.Go(func() {
		err := h.Watch(ctx, host.News{
			Neighbors: func(n []api.Neighbor) {
				a.observe(func(s *compile.State) { s.Neighbors = n })
			},
			Interfaces: a.interfaces,
			Elsewhere: func(ips, management []netip.Prefix) {
				a.observe(func(s *compile.State) { s.Elsewhere, s.OnManagement = ips, management })
				first()
			},
		})
		if err != nil {
			a.log.Error("neighbors are not followed any more; restart management", "error", err)
		}
		first()
	})
	select {
	case <-seen:
	case <-time.After(firstLook):
	}
}

// reports brings the monitors' results to the engine.
func (a *appliance) reports(all []monitor.Report) {
	a.observe(func(s *compile.State) {
		for _, r := range all {
			s.Record(r.Service, r.Monitor, r.Result)
		}
	})
}

func (a *appliance) observe(change func(*compile.State)) {
	if err := a.engine.Observe(func(s *compile.State) error { change(s); return nil }); err != nil {
		a.log.Error("an observation is lost", "error", err)
	}
}

// degrade notes what is wrong with the appliance since its start, for the log and for show version.
func (a *appliance) degrade(about, problem string) {
	a.system.Degraded = append(a.system.Degraded, problem)
	a.log.Error(about, "problem", problem)
}

// load puts the startup configuration in force. Whatever is wrong with it leaves the appliance reachable.
func (a *appliance) load() {
	bad := func(what string) { a.degrade("startup configuration", what) }
	a.store.Check, a.store.Import = a.engine.Check, a.commands
	defer a.goOn()
	a.arrive()
	a.goOnHolding() // before any virtual router takes part in an election
	if err := a.finishRestore(); err != nil {
		bad(err.Error())
	}
	c, problems, err := a.store.Load()
	if err != nil {
		bad(err.Error())
	}
	a.problems = len(problems)
	for _, p := range problems {
		bad(fmt.Sprintf("%s: %s", a.store.Loaded(), p))
	}
	undo, err := a.wayBack()
	if err != nil {
		bad(err.Error())
	}
	if undo != nil && a.candidate.Overdue(undo) && a.undone(undo) {
		return
	}
	if a.restore(c) {
		a.wait(undo)
		return
	}
	a.wait(nil) // the startup file is what someone wants by now
	if _, err := a.engine.Boot(c); err != nil {
		a.refused = true
		bad(fmt.Sprintf("the startup configuration is not in force: %v", err))
		if _, err := a.engine.Boot(schema.New()); err != nil {
			a.log.Error("the ports cannot be set up", "error", err)
		}
	}
	a.booted("startup configuration")
}

// goOn goes on with the candidate that an earlier run of management has left.
func (a *appliance) goOn() {
	d, err := a.store.LastDraft()
	if err != nil {
		a.degrade("candidate", err.Error())
	}
	if d != nil && a.candidate.Continue(d) {
		a.log.Warn("management was restarted and goes on with the candidate", "user", d.By)
	}
}

// booted notes what is in force since the start. No command has made it.
func (a *appliance) booted(what string) {
	c, _, number, _, at := a.engine.Snapshot()
	a.store.Record(c, store.Version{Number: number, At: at, Changes: []store.Change{{User: "system", Source: "boot", Line: what}}})
}

// wayBack is the configuration that comes back unless a commit of an earlier run of management is confirmed.
func (a *appliance) wayBack() (*store.Return, error) {
	undo, problems, err := a.store.ReturnPoint()
	for _, p := range problems {
		a.system.Degraded = append(a.system.Degraded, fmt.Sprintf("%s: %s", store.ReturnFile, p))
	}
	return undo, err
}

// undone begins with the way back, whose time has come while management was not there.
func (a *appliance) undone(undo *store.Return) bool {
	if _, err := a.engine.Boot(undo.Config); err != nil {
		a.log.Error("a commit that was not confirmed cannot be undone", "error", err)
		return false
	}
	a.log.Warn("a commit was not confirmed while management was not there, and is undone", "user", undo.By, "version", undo.Version)
	a.restored = fmt.Sprintf("a commit of %s was not confirmed and is undone", undo.By)
	a.booted(fmt.Sprintf("return to version %d: the commit of %s was not confirmed", undo.Version, undo.By))
	err := a.store.Flush()
	if err == nil {
		err = a.store.DropReturn()
	}
	if err != nil {
		a.log.Error("the way back stays, the next start goes it again", "error", err)
	}
	return true
}

// wait goes on with the commit that waits to be confirmed, or drops its way back.
func (a *appliance) wait(undo *store.Return) {
	if undo != nil {
		a.candidate.Resume(undo)
		return
	}
	if err := a.store.DropReturn(); err != nil {
		a.log.Error("configuration", "problem", err)
	}
}

// restore goes on with the running configuration of a management that ended while the machine went on.
func (a *appliance) restore(startup *schema.Config) bool {
	c, problems, err := a.store.Restore()
	if err != nil {
		a.log.Error("journal", "problem", err)
		if !errors.Is(err, store.ErrReplaced) {
			a.system.Degraded = append(a.system.Degraded, err.Error())
		}
	}
	if c == nil {
		return false
	}
	if _, err := a.engine.Boot(c); err != nil {
		a.log.Error("journal", "problem", fmt.Sprintf("the running configuration of before cannot be put in force: %v", err))
		return false
	}
	for _, p := range problems {
		a.system.Degraded = append(a.system.Degraded, fmt.Sprintf("%s: %s", store.JournalFile, p))
	}
	a.booted("running configuration of before")
	unsaved := !c.Equal(startup)
	a.log.Warn("management was restarted and goes on with the running configuration", "unsaved", unsaved, "problems", len(problems))
	if unsaved {
		a.restored = fmt.Sprintf("management was restarted at %s and goes on with the running configuration, which holds changes that are not saved",
			a.now().UTC().Format("2006-01-02 15:04:05"))
	}
	return true
}
