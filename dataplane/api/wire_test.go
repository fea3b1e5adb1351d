package api

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a dataplane that remembers what it was told.
type fake struct {
	mu      sync.Mutex
	applied []*Tables
	refuse  error
	hold    chan struct{} // Apply waits for it, if set
	entered chan struct{} // told when Apply begins, if set
	events  chan Event
}

func (f *fake) Apply(ctx context.Context, t *Tables) error {
	if f.entered != nil {
		f.entered <- struct{}{}
	}
	if f.hold != nil {
		<-f.hold
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.refuse != nil {
		return f.refuse
	}
	f.applied = append(f.applied, t)
	return nil
}

func (f *fake) Stats(ctx context.Context) (*Stats, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return &Stats{StartedUnixMilli: 7, ConfigVersion: uint64(len(f.applied)), Counters: []Counter{{"drop-x", 3, "A drop."}}}, nil
}

func (f *fake) Where(_ context.Context, flow *Tuple) (*Where, error) {
	return &Where{Flow: *flow, Worker: 1, Reason: "drop-x", Hop: &Hop{Gateway: flow.Dst.IP}}, nil
}

func (f *fake) Capture(_ context.Context, o *CaptureOrder) (*Capture, error) {
	return &Capture{Running: true, Kept: o.Start.Count, Lost: 1, Frames: []CapturedFrame{{UnixNano: -1, Port: 1, Sent: true, Length: 1514, Data: "\x00frame"}}}, nil
}

func (f *fake) Trace(_ context.Context, o *TraceOrder) (*Trace, error) {
	return &Trace{Filter: o.Start, Running: !o.Stop, Walks: []Walk{{Steps: []Step{{"parse", StepPassed}}}}}, nil
}

func (f *fake) Sessions(_ context.Context, o *SessionOrder) (*Sessions, error) {
	return &Sessions{Next: o.From + 1, List: []Session{{Kind: PersistSourceIP, Vserver: "v", Left: time.Minute}}}, nil
}

func (f *fake) Lease(_ context.Context, l *Lease) error {
	if l.Roles != 7 {
		return errors.New("other roles")
	}
	return nil
}

func (f *fake) Events(ctx context.Context) (<-chan Event, error) { return f.events, nil }

// serve starts a server for d and returns its path and a function that stops it and waits.
func serve(t *testing.T, d Dataplane) (string, func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dp.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, d) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			select {
			case err := <-done:
				if err != nil {
					t.Errorf("Serve ended with: %v", err)
				}
			case <-time.After(30 * time.Second):
				t.Error("Serve did not end within 30 s after its context")
			}
		})
	}
	t.Cleanup(stop)
	return path, stop
}

func dial(t *testing.T, path string) *Client {
	t.Helper()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func someTables() *Tables {
	return &Tables{
		Config: &Config{
			Version:   4,
			Addresses: []Address{{IP: netip.MustParseAddr("10.1.0.50"), Kind: OwnVIP, ARP: true}},
			Vservers:  []Vserver{{ID: 1, Name: "v", Proto: ProtoTCP, Port: 80, Bindings: []Binding{{2, 1}}}},
		},
		Health:    &Health{},
		FIB:       &FIB{Version: 9, Routes: []Route{{Prefix: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.1.0.1")}}},
		Neighbors: &Neighbors{Entries: []Neighbor{{Port: 1, MAC: [6]byte{2, 3}}}},
	}
}

func TestTablesArriveAsTheyWereSent(t *testing.T) {
	f := &fake{}
	path, _ := serve(t, f)
	c := dial(t, path)
	for _, want := range []*Tables{someTables(), {Health: &Health{Version: 2, Up: []uint32{1}}}, {}} {
		if err := c.Apply(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		if got := f.applied[len(f.applied)-1]; !reflect.DeepEqual(got, want) {
			t.Fatalf("arrived as %+v, want %+v", got, want)
		}
	}
	s, err := c.Stats(t.Context())
	if err != nil || s.ConfigVersion != 3 || len(s.Counters) != 1 || s.Counters[0].Help != "A drop." {
		t.Fatalf("stats are %+v, %v", s, err)
	}
}

func TestWhereAndTraceArriveAsTheyWereSent(t *testing.T) {
	path, _ := serve(t, &fake{})
	c := dial(t, path)
	flow := &Tuple{Proto: ProtoTCP, Src: Endpoint{netip.MustParseAddr("10.1.0.9"), 40000}, Dst: Endpoint{netip.MustParseAddr("10.1.0.50"), 80}}
	want := &Where{Flow: *flow, Worker: 1, Reason: "drop-x", Hop: &Hop{Gateway: flow.Dst.IP}}
	if got, err := c.Where(t.Context(), flow); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("arrived as %+v, %v, want %+v", got, err, want)
	}
	var refused *RefusedError
	if _, err := c.Where(t.Context(), nil); !errors.As(err, &refused) {
		t.Errorf("without a flow: %v, want a refusal", err)
	}
	order := &TraceOrder{Start: &TraceFilter{Proto: ProtoUDP, Dst: flow.Dst.IP, Count: 3, Time: time.Minute}}
	trace := &Trace{Filter: order.Start, Running: true, Walks: []Walk{{Steps: []Step{{"parse", StepPassed}}}}}
	if got, err := c.Trace(t.Context(), order); err != nil || !reflect.DeepEqual(got, trace) {
		t.Errorf("arrived as %+v, %v, want %+v", got, err, trace)
	}
	if _, err := c.Trace(t.Context(), nil); !errors.As(err, &refused) {
		t.Errorf("without an order: %v, want a refusal", err)
	}
}

func TestCaptureArrivesAsItWasSent(t *testing.T) {
	path, _ := serve(t, &fake{})
	c := dial(t, path)
	order := &CaptureOrder{Start: &CaptureFilter{Proto: ProtoUDP, Dst: netip.MustParseAddr("10.1.0.50"), Count: 1 << 40, Time: time.Minute}}
	want := &Capture{Running: true, Kept: 1 << 40, Lost: 1, Frames: []CapturedFrame{{UnixNano: -1, Port: 1, Sent: true, Length: 1514, Data: "\x00frame"}}}
	if got, err := c.Capture(t.Context(), order); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("arrived as %+v, %v, want %+v", got, err, want)
	}
	var refused *RefusedError
	if _, err := c.Capture(t.Context(), nil); !errors.As(err, &refused) {
		t.Errorf("without an order: %v, want a refusal", err)
	}
}

func TestRefusalLeavesTheConnectionAlive(t *testing.T) {
	f := &fake{refuse: errors.New("vserver v binds service 3, which is not in the tables")}
	path, _ := serve(t, f)
	c := dial(t, path)
	err := c.Apply(t.Context(), someTables())
	var refused *RefusedError
	if !errors.As(err, &refused) || err.Error() != f.refuse.Error() {
		t.Fatalf("Apply returned %v, want the dataplane's own sentence", err)
	}
	if err := c.Apply(t.Context(), nil); !errors.As(err, &refused) {
		t.Fatalf("Apply without tables returned %v, want a refusal", err)
	}
	if _, err := c.Stats(t.Context()); err != nil {
		t.Fatalf("after a refusal Stats fails: %v", err)
	}
}

func TestTwoClientsAndEvents(t *testing.T) {
	f := &fake{events: make(chan Event, 4)}
	path, stop := serve(t, f)
	a, b := dial(t, path), dial(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	events, err := a.Events(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := Event{Kind: NeighborWanted, Port: 1, IP: netip.MustParseAddr("10.2.0.11")}
	f.events <- want
	select {
	case got := <-events:
		if got != want {
			t.Fatalf("event %+v, want %+v", got, want)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("no event within 30 s")
	}
	var wg sync.WaitGroup
	for _, c := range []*Client{a, b} {
		for range 2 {
			wg.Go(func() {
				for range 50 {
					if err := c.Apply(t.Context(), &Tables{Health: &Health{Version: 1}}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	if len(f.applied) != 200 {
		t.Fatalf("%d tables applied, want 200", len(f.applied))
	}
	stop()
	if _, open := <-events; open {
		t.Fatal("the event channel is still open after the dataplane has ended")
	}
	if _, err := a.Stats(t.Context()); !errors.Is(err, ErrDisconnected) {
		t.Fatalf("Stats after the dataplane has ended returned %v, want ErrDisconnected", err)
	}
}

func TestDeadlineKillsTheClientAndNobodyElse(t *testing.T) {
	f := &fake{hold: make(chan struct{}), entered: make(chan struct{}, 8)}
	path, _ := serve(t, f)
	slow, other := dial(t, path), dial(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := slow.Apply(ctx, someTables()); !errors.Is(err, ErrDisconnected) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Apply past its deadline returned %v, want ErrDisconnected and DeadlineExceeded", err)
	}
	if err := slow.Apply(t.Context(), someTables()); !errors.Is(err, ErrDisconnected) || !strings.Contains(err.Error(), "dial again") {
		t.Fatalf("a dead client returned %v, want a sentence that says to dial again", err)
	}
	if _, err := other.Stats(t.Context()); err != nil {
		t.Fatalf("the other client suffers: %v", err)
	}
	close(f.hold)
}

func TestCallWaitsForItsTurnNoLongerThanItsContext(t *testing.T) {
	f := &fake{hold: make(chan struct{}), entered: make(chan struct{}, 8)}
	path, _ := serve(t, f)
	c := dial(t, path)
	first := make(chan error, 1)
	go func() { first <- c.Apply(t.Context(), someTables()) }()
	<-f.entered
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Stats(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrDisconnected) {
		t.Fatalf("a call behind a busy one returned %v, want DeadlineExceeded only", err)
	}
	close(f.hold)
	if err := <-first; err != nil {
		t.Fatalf("the first call suffers: %v", err)
	}
}

func TestClientKilledMidwayHarmsNobody(t *testing.T) {
	f := &fake{}
	path, _ := serve(t, f)
	other := dial(t, path)
	whole := recordClient(t, &request{Call: callApply, Tables: someTables()})
	for cut := 0; cut < len(whole); cut += 7 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(whole[:cut]); err != nil {
			t.Fatal(err)
		}
		// One after the other: the server serves so many at once and refuses more.
		conn.(*net.UnixConn).CloseWrite()
		io.Copy(io.Discard, conn)
		conn.Close()
	}
	if _, err := other.Stats(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(f.applied); n != 0 {
		t.Fatalf("%d truncated requests were applied", n)
	}
}

func TestStrangersAreRefusedWithASentence(t *testing.T) {
	path, _ := serve(t, &fake{})
	for name, h := range map[string]hello{
		"expected a sluice program":      {Magic: "other", Version: wireVersion, Kind: kindCalls},
		"you speak version 00000063":     {Magic: wireMagic, Version: 99, Kind: kindCalls},
		"not know connections of kind 9": {Magic: wireMagic, Version: wireVersion, Kind: 9},
	} {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		s := newStream(conn)
		var answer hello
		if err := errors.Join(s.send(&h, time.Second), s.receive(&answer)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(answer.Refusal, name) {
			t.Errorf("%+v is refused with %q, want %q in it", h, answer.Refusal, name)
		}
		conn.Close()
	}
}

func TestOverlongMessagesAreNotRead(t *testing.T) {
	for name, conn := range map[string]*scripted{
		"the first":  {in: bytes.NewReader(binary.LittleEndian.AppendUint32(nil, maxHello+1))},
		"another":    {in: bytes.NewReader(append(recordClient(t), binary.LittleEndian.AppendUint32(nil, maxMessage+1)...))},
		"of nothing": {in: bytes.NewReader(append(recordClient(t), binary.LittleEndian.AppendUint32(nil, maxMessage)...))},
	} {
		s := newStream(conn)
		var err error
		for err == nil {
			var h hello
			err = s.receive(&h)
		}
		if want := name == "of nothing"; errors.Is(err, errTooLong) == want || errors.Is(err, io.EOF) != want {
			t.Errorf("%s message: %v", name, err)
		}
		if cap(s.data) > growBuffer {
			t.Errorf("%s message: its length alone has taken %d bytes", name, cap(s.data))
		}
	}
	if err := newStream(&scripted{}).send(&hello{Refusal: strings.Repeat("x", maxMessage)}, 0); !errors.Is(err, errTooLong) {
		t.Errorf("a message that is too long is sent: %v", err)
	}
}

func TestOnlySoManyConnections(t *testing.T) {
	path, _ := serve(t, &fake{})
	for range maxConns {
		dial(t, path)
	}
	_, err := Dial(t.Context(), path)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint(maxConns)) {
		t.Fatalf("connection %d got: %v", maxConns+1, err)
	}
}

func TestSlowReaderOfEventsHindersNobody(t *testing.T) {
	f := &fake{events: make(chan Event)}
	path, _ := serve(t, f)
	slow := dial(t, path)
	if _, err := slow.Events(t.Context()); err != nil { // never read
		t.Fatal(err)
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range 5000 {
			select {
			case f.events <- Event{Kind: NeighborWanted}:
			case <-time.After(time.Second):
				return
			}
		}
	}()
	other := dial(t, path)
	for range 100 {
		if _, err := other.Stats(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	<-sent
}

func TestSocketIsPrivateAndReplacedOnlyWhenDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dp.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil || fi.Mode().Perm() != 0o600 {
		t.Fatalf("the socket has mode %v (%v), want 0600", fi.Mode().Perm(), err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "another dataplane serves") {
		t.Fatalf("a second Listen returned %v, want a refusal", err)
	}
	// What kill -9 leaves: a socket file without a listener.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	l.Close()
	if _, err := Dial(t.Context(), path); err == nil || !strings.Contains(err.Error(), "start sluice-dataplane") {
		t.Fatalf("dialing a dead socket says: %v", err)
	}
	if l, err = Listen(path); err != nil {
		t.Fatalf("a dead socket is not replaced: %v", err)
	}
	l.Close()
	if err := os.WriteFile(path, []byte("notes"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Fatalf("Listen over a plain file returned %v, want a refusal", err)
	}
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dp.sock")
	l, err := Listen(path) // takes connections and never answers, as a dataplane that waits for its ports
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, path); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "waiting for its ports") {
		t.Fatalf("Dial returned %v", err)
	}
}

func TestListenWaitsForADyingDataplane(t *testing.T) {
	path := filepath.Join(t.TempDir(), "dp.sock")
	l, err := Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	time.AfterFunc(dyingTime/3, func() { l.Close() })
	next, err := Listen(path)
	if err != nil {
		t.Fatalf("the successor of a dying dataplane cannot start: %v", err)
	}
	next.Close()
}
