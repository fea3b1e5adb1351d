package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/dataplane/api"
	"sluice/mgmt/candidate"
	"sluice/mgmt/capture"
	"sluice/mgmt/clock"
	"sluice/mgmt/engine"
	"sluice/mgmt/host"
	"sluice/mgmt/osshell"
	"sluice/mgmt/reach"
	"sluice/mgmt/resolve"
	"sluice/mgmt/show"
	"sluice/mgmt/sshd"
	"sluice/mgmt/store"
	"sluice/mgmt/telemetry"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

// appliance is what operators act on: the engine with its startup store.
type appliance struct {
	engine    *engine.Engine
	store     *store.Store
	candidate *candidate.Candidate
	capture   *capture.Recorder
	kernel    kernel
	system    show.System // Degraded holds what was wrong with the startup configuration
	log       *slog.Logger
	now       func() time.Time
	syslog    *telemetry.Log
	resolver  *resolve.Resolver
	reach     *reach.Reacher
	speaker   *vrrp.Speaker
	clock     *clock.Keeper
	hostKey   string     // file, as the settings say
	banner    string     // file
	backups   sync.Mutex // held while one is made or restored
	shells    osshell.Shells
	aliases   sync.Mutex // held while a user's are read or written: he may have several sessions
	holding   sync.Mutex // held while the virtual routers that are kept backup change
	// restored says that unsaved changes were taken over from an earlier run of management; empty otherwise.
	restored string
	close    func() // ends everything that start has begun
	guard    guard  // nil: everybody may do everything
	door     logins
	locks    locks // of NETCONF; nil: it is not there
	images   images
	refused  bool // the startup configuration could not be put in force; set by load
	problems int  // lines of it that were not understood; set by load
}

// kernel is what the kernel's side tells operators.
type kernel interface {
	Neighbors() ([]host.Neighbor, error)
	Faults() []string // what is wrong with the ports
}

// operator executes the commands of one session. It is the shell's Backend.
type operator struct {
	*appliance
	login  sshd.Login
	source string    // where the session comes from, for the audit line
	input  io.Reader // what the client sends along with a command; nil in a session of several
}

// Config is the running configuration.
func (o *operator) Config() *schema.Config { return o.engine.Config() }

// Do executes op for user.
func (o *operator) Do(user string, op *grammar.Op) (string, error) {
	if op.Object == nil {
		return "", schema.Refuse(schema.NotSupported, op.Verb)
	}
	if err := o.may(op); err != nil {
		return "", err
	}
	text, err := o.execute(engine.Author{User: user, Source: o.source, Line: strings.TrimSpace(op.Line)}, op)
	return text, flat(err)
}

// execute does what op says, which who may do.
func (o *operator) execute(who engine.Author, op *grammar.Op) (string, error) {
	switch {
	case aboutBackup(op):
		return o.backup(who, op)
	case aboutMachine(op):
		return o.machine(who, op)
	case op.Verb == "force":
		return o.force(who, op)
	case op.Verb == "kill":
		return "", o.kill(op)
	case op.Changes():
		return o.change(who, op)
	case configuring(op):
		return o.configure(who, op)
	case op.Object == schema.Of[schema.NSTrace]() && op.Verb != "show":
		return "", o.nstrace(who, op)
	case op.Verb == "start" || op.Verb == "stop":
		return "", o.trace(who, op)
	case op.Verb == "clear" && op.Object == schema.Of[schema.PersistentSessions]():
		return "", o.clearSessions(who, op)
	case op.Verb == "save":
		return "", o.save(who)
	case op.Verb == "import":
		return o.importFile(who, op)
	case op.Object == schema.Of[schema.TechSupport]():
		return o.techSupport(who)
	case op.Verb == "show" || op.Verb == "stat":
		return show.Text(op, o.view(op))
	}
	return "", schema.Refuse(schema.NotSupported, op.Verb+" "+op.Object.Name())
}

// change makes one change of the configuration.
func (o *operator) change(who engine.Author, op *grammar.Op) (string, error) {
	op.At = o.now()
	r, err := o.engine.Commit(who, op.Apply)
	if err != nil {
		return warnings(r.Warnings), err
	}
	if level, _ := op.Arg("level"); level == "full" && op.Verb == "clear" {
		r.Warnings = append(r.Warnings, o.forget()...)
	}
	return warnings(slices.Concat(op.Warnings(), op.Cautions(o.engine.Config()), r.Warnings)), nil
}

// DoAll executes changes in their order for user.
func (o *operator) DoAll(user string, ops []*grammar.Op) []shell.Outcome {
	return o.doAllowed(ops, func(ops []*grammar.Op) []shell.Outcome { return o.changeAll(user, ops) })
}

func (o *operator) changeAll(user string, ops []*grammar.Op) []shell.Outcome {
	who, changes := make([]engine.Author, len(ops)), make([]func(*schema.Config) error, len(ops))
	for i, op := range ops {
		op.At = o.now()
		who[i], changes[i] = engine.Author{User: user, Source: o.source, Line: strings.TrimSpace(op.Line)}, op.Apply
	}
	out := make([]shell.Outcome, len(ops))
	for i, r := range o.engine.CommitAll(who, changes) {
		if r.Err == nil {
			r.Warnings = slices.Concat(ops[i].Warnings(), ops[i].Cautions(o.engine.Config()), r.Warnings)
		}
		out[i] = shell.Outcome{Text: warnings(r.Warnings), Err: flat(r.Err)}
	}
	return out
}

func warnings(all []string) string {
	var b strings.Builder
	for _, w := range all {
		fmt.Fprintf(&b, "Warning: %s\n", w)
	}
	return b.String()
}

// flat is an error as operators read it: one line if it was joined of several, and a way out if the dataplane is gone
// or the disk is full.
func flat(err error) error {
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		err = fmt.Errorf("%w; make room with rm system backup, or by removing files below /config by SFTP", err)
	}
	switch {
	case errors.Is(err, engine.ErrNotConnected):
		return fmt.Errorf("%w: it is starting or has ended, see its log", engine.ErrNotConnected)
	case errors.Is(err, api.ErrDisconnected):
		return errors.New("The dataplane did not answer: give the command again")
	case err == nil || !strings.Contains(err.Error(), "\n"):
		return err
	}
	return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// forget drops what the startup file keeps though it is not in force: the operator has cleared everything, and no other
// command reaches it.
func (o *operator) forget() []string {
	n := o.store.Forget()
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Rows of the startup file that were not in force (%d) are left out when the configuration is saved.", n)}
}

// save writes the running configuration to the startup store.
func (o *operator) save(who engine.Author) error {
	err := o.store.Save(o.engine.Config(), store.Meta{By: who.User, At: o.now()})
	attrs := []any{"user", who.User, "source", who.Source, "line", who.Line}
	if err != nil {
		o.log.Warn("save failed", append(attrs, "result", "ERROR: "+err.Error())...)
		return err
	}
	o.log.Info("save", append(attrs, "result", "Done")...)
	return nil
}

// view gathers what the operation tells about.
func (o *operator) view(op *grammar.Op) *show.View {
	c, s, _, _, changed := o.engine.Snapshot()
	v := &show.View{Config: c, State: s, Now: o.now(), System: o.system, ChangedAt: changed}
	v.System.Host = o.hostName()
	switch op.Object.YANG {
	case "ns-running-config", "ns-conf", "ns-saved-config", "ns-config":
		v.Saved = o.saved()
	case "audit-syslog-action":
		v.Receivers = o.receivers()
	case "ssl-cert-key":
		v.Endings = o.ending(c)
	case "ntp-status":
		v.Clock = o.clock.Status(context.Background())
	case "arp":
		v.Neighbors = o.neighbors()
	case "version":
		o.count(v)
		v.System.Degraded = o.degraded(v.Without)
	case "interface", "lb-vserver", "ha-node":
		o.count(v)
	case "where":
		v.Where, v.Without = o.where(op)
	case "system-session":
		v.Logins = o.logins()
	case "lb-persistent-sessions":
		v.Sessions, v.Without = o.sessions(op)
	case "trace":
		v.Trace, v.Without = o.engine.Trace(context.Background(), &api.TraceOrder{})
	case "nstrace":
		v.Capture = o.capture.State()
	case "server", "service", "service-group":
		if op.Verb == "stat" || show.Leaving(c) {
			o.count(v)
		}
	case "vrid":
		v.Routers, v.Stands, v.Adverts = o.engine.Routers(), o.speaker.States(), o.speaker.Counters()
	default:
		if op.Verb == "stat" {
			o.count(v)
		}
	}
	return v
}

// where asks the dataplane about a flow.
func (a *appliance) where(op *grammar.Op) (*api.Where, error) {
	flow, err := show.Flow(op)
	if err != nil {
		return nil, err
	}
	return a.engine.Where(context.Background(), flow)
}

// trace begins or ends a trace.
func (o *operator) trace(who engine.Author, op *grammar.Op) error {
	order := &api.TraceOrder{Stop: op.Verb == "stop"}
	var err error
	if !order.Stop {
		order.Start, err = show.Filter(op)
	}
	if err == nil {
		_, err = o.engine.Trace(context.Background(), order)
	}
	o.audit(op.Verb+" trace", who, "Done", err)
	return err
}

// audit writes who has had the dataplane do what, and what came of it.
func (o *operator) audit(what string, who engine.Author, done string, err error) {
	if err != nil {
		done = "ERROR: " + err.Error()
	}
	o.log.Info(what, "user", who.User, "source", who.Source, "line", who.Line, "result", done)
}

// degraded are sentences about everything that is not as the saved configuration and the operators say.
func (a *appliance) degraded(without error) []string {
	all := slices.Concat(a.system.Degraded, a.engine.Trouble(), a.kernel.Faults())
	if err := a.store.JournalTrouble(); err != nil {
		all = append(all, err.Error())
	}
	if without != nil {
		all = append(all, flat(without).Error())
	}
	for i := range all {
		all[i] = strings.ReplaceAll(all[i], "\n", "; ")
	}
	return all
}

// neighbors are the kernel's, whose answers the dataplane uses.
func (a *appliance) neighbors() []show.Neighbor {
	all, err := a.kernel.Neighbors()
	if err != nil {
		a.log.Warn("the kernel does not tell its neighbors", "error", err)
	}
	var out []show.Neighbor
	for _, n := range all {
		if n.MAC != [6]byte{} {
			out = append(out, show.Neighbor{Port: n.Port, IP: n.IP, MAC: n.MAC, Origin: n.Origin})
		}
	}
	return out
}

// count reads the counters into the view.
func (a *appliance) count(v *show.View) {
	now, before, err := a.engine.Readings(context.Background())
	if err != nil {
		v.Without = err
		return
	}
	v.Now, v.Stats, v.Before, v.Elapsed = now.At, now.Stats, before.Stats, now.At.Sub(before.At)
}

func (a *appliance) saved() show.Saved {
	st, err := a.store.Saved()
	if err != nil {
		return show.Saved{Config: schema.New(), Problems: []string{err.Error()}}
	}
	s := show.Saved{By: st.Meta.By, At: st.Meta.At}
	if !st.Meta.At.IsZero() || len(st.Problems) > 0 || !st.Config.Equal(schema.New()) {
		s.Config = st.Config
	}
	for _, p := range st.Problems {
		s.Problems = append(s.Problems, p.String())
	}
	return s
}

// greetingLines bounds what is told of a bad startup file at every login; `show version` tells all.
const greetingLines = 5

// greeting is what an operator reads after the login when the saved configuration is not wholly in force.
func (a *appliance) greeting() string {
	var b strings.Builder
	if s := a.candidate.State(); s.Unconfirmed {
		fmt.Fprintf(&b, "Warning: %s\n", show.Unconfirmed(s))
	}
	if a.restored != "" {
		fmt.Fprintf(&b, "Warning: %s\n", a.restored)
	}
	for i, d := range a.system.Degraded {
		if i == greetingLines {
			fmt.Fprintf(&b, "WARNING: and %d more, see `show version`\n", len(a.system.Degraded)-i)
			break
		}
		fmt.Fprintf(&b, "WARNING: the appliance is degraded: %s\n", strings.ReplaceAll(d, "\n", "; "))
	}
	return b.String()
}
