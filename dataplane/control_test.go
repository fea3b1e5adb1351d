package main

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/yerden/go-dpdk/ethdev"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
	"sluice/dataplane/table"
	"sluice/dataplane/worker"
)

// fakePorts are ports that need no DPDK.
type fakePorts struct {
	up       atomic.Bool
	replaced atomic.Bool
	mtu      atomic.Int64 // 0: 1500
	pci      string       // address of the NIC, if DPDK drives it itself
	fail     error
}

func (f *fakePorts) Devices() []port.Device {
	if f.pci != "" {
		return []port.Device{{Name: "1/1", PCI: f.pci, Twin: "tw0"}}
	}
	return []port.Device{{Name: "1/1", Device: "da", Twin: "tw0"}}
}

func (f *fakePorts) Link(int) (port.Link, error) {
	if f.replaced.Load() {
		return port.Link{}, port.ErrReplaced
	}
	mtu := 1500
	if n := f.mtu.Load(); n != 0 {
		mtu = int(n)
	}
	return port.Link{Up: f.up.Load(), MTU: mtu, MAC: portMAC}, nil
}

func (f *fakePorts) TwinLink(int) (port.Link, error) { return port.Link{Up: true}, nil }

func (f *fakePorts) Counters(int) (nic, twin ethdev.GoStats, err error) {
	return ethdev.GoStats{Ipackets: 5, RxNoMbuf: 1, Imissed: 2}, ethdev.GoStats{Opackets: 7}, f.fail
}

func (f *fakePorts) Buffers() (all, free int) { return 100, 90 }

var portMAC = [6]byte{2, 0, 0, 0, 0, 1}

// startControl runs a worker over memory ports and a control for it, until the test ends.
func startControl(t testing.TB) (*control, *port.Memory, *fakePorts) {
	t.Helper()
	q, err := port.NewMemory(2, 256)
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(worker.Options{Queue: q, Ports: []table.Port{{Name: "1/1", MAC: portMAC, MTU: 1500}}, Flows: 1024, FlowName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for !stop.Load() {
			w.Poll()
			time.Sleep(20 * time.Microsecond) // memory ports have no Wait
		}
	}()
	ports := &fakePorts{}
	ports.up.Store(true)
	c := newControl([]*worker.Worker{w}, ports)
	ctx, cancel := context.WithCancel(context.Background())
	parts := make(chan error, 2)
	go func() { parts <- c.pass(ctx) }()
	go func() { parts <- c.collect(ctx) }()
	t.Cleanup(func() {
		cancel()
		for range 2 {
			if err := <-parts; err != nil {
				t.Error(err)
			}
		}
		stop.Store(true)
		<-ended
		if err := errors.Join(w.Close(), q.Err(), q.Close()); err != nil {
			t.Error(err)
		}
	})
	return c, q, ports
}

func oneVserver(version uint64) *api.Tables {
	return &api.Tables{
		Config: &api.Config{
			Version:   version,
			Addresses: []api.Address{{IP: netip.MustParseAddr("10.1.0.50"), Kind: api.OwnVIP, ARP: true, ICMP: true}},
			SNIPs:     []api.SNIP{{ID: 1, IP: netip.MustParseAddr("10.1.0.5"), PortLo: 1024, PortHi: 59999}},
			Vservers: []api.Vserver{{ID: 1, Name: "v", Proto: api.ProtoUDP, IP: netip.MustParseAddr("10.1.0.50"), Port: 53,
				Method: api.RoundRobin, ClientTimeout: 120, Bindings: []api.Binding{{Service: 1, Weight: 1}}}},
			Services: []api.Service{{ID: 1, Name: "s", Proto: api.ProtoUDP, IP: netip.MustParseAddr("10.1.0.11"), Port: 53, SNIPs: []uint32{1}, ServerTimeout: 120}},
		},
		Health: &api.Health{Version: version, Up: []uint32{1}},
		FIB:    &api.FIB{Version: version, Routes: []api.Route{{Prefix: netip.MustParsePrefix("10.1.0.0/24"), Port: 0}}},
	}
}

func TestApplyChangesWhatStatsSay(t *testing.T) {
	c, _, _ := startControl(t)
	if err := c.Apply(t.Context(), oneVserver(3)); err != nil {
		t.Fatal(err)
	}
	s, err := c.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.ConfigVersion != 3 || len(s.Vservers) != 1 || s.Vservers[0].Name != "v" || len(s.Services) != 1 || !s.Services[0].Up {
		t.Errorf("after Apply the figures are %+v", s)
	}
	p := s.Ports[0]
	if p.Name != "1/1" || !p.LinkUp || p.MAC != portMAC || p.MTU != 1500 || p.RxPackets != 5 || p.RxMissed != 3 || p.TwinTxPackets != 7 || s.Buffers != 100 || s.BuffersFree != 90 {
		t.Errorf("the port's figures are %+v", p)
	}
	if s.StartedUnixMilli == 0 || len(s.Workers) != 1 || len(s.Counters) == 0 {
		t.Errorf("figures are missing: %+v", s)
	}
}

func TestApplyOfWrongTablesChangesNothing(t *testing.T) {
	c, _, _ := startControl(t)
	if err := c.Apply(t.Context(), oneVserver(1)); err != nil {
		t.Fatal(err)
	}
	wrong := oneVserver(2)
	wrong.Config.Vservers[0].Bindings[0].Service = 99
	if err := c.Apply(t.Context(), wrong); err == nil || !strings.Contains(err.Error(), "99") {
		t.Fatalf("tables with an unknown service are answered with %v", err)
	}
	if s, err := c.Stats(t.Context()); err != nil || s.ConfigVersion != 1 || s.FIBVersion != 1 {
		t.Fatalf("after a refusal the figures are %+v, %v", s, err)
	}
}

func TestApplyUnderTrafficFreesOldTables(t *testing.T) {
	c, q, _ := startControl(t)
	if err := c.Apply(t.Context(), oneVserver(1)); err != nil {
		t.Fatal(err)
	}
	events, err := c.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for v := range uint64(200) {
		// A query to the VIP, whose server's neighbor is unknown: it is held, and looked at again by every set.
		if err := q.Inject(0, query(uint16(1024+v))); err != nil {
			t.Fatal(err)
		}
		if err := c.Apply(t.Context(), oneVserver(v+2)); err != nil {
			t.Fatal(err)
		}
		q.Sent(0)
		q.Sent(1)
	}
	select {
	case e := <-events:
		if want := (api.Event{Kind: api.NeighborWanted, IP: netip.MustParseAddr("10.1.0.11")}); e != want {
			t.Errorf("event %+v, want %+v", e, want)
		}
	case <-time.After(30 * time.Second):
		t.Error("no neighbor was wanted within 30 s")
	}
	t2 := &api.Tables{Neighbors: &api.Neighbors{Version: 1, Entries: []api.Neighbor{{IP: netip.MustParseAddr("10.1.0.11"), MAC: [6]byte{2, 9}}}}}
	if err := c.Apply(t.Context(), t2); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); q.PoolFree() != 256; time.Sleep(time.Millisecond) {
		q.Sent(0)
		q.Sent(1)
		if time.Now().After(deadline) {
			t.Fatalf("%d of 256 buffers came back", q.PoolFree())
		}
	}
}

// query is a UDP packet of a client to the VIP, without a UDP checksum.
func query(sport uint16) []byte {
	f := make([]byte, 60)
	copy(f, portMAC[:])
	copy(f[6:], []byte{2, 8, 8, 8, 8, 8, 8, 0, 0x45, 0})
	ip := f[14:]
	ip[3], ip[8], ip[9] = 32, 64, 17
	copy(ip[12:], []byte{10, 1, 0, 100, 10, 1, 0, 50})
	udp := ip[20:]
	udp[0], udp[1], udp[3], udp[5] = byte(sport>>8), byte(sport), 53, 12
	var sum uint32
	for i := 0; i < 20; i += 2 {
		sum += uint32(ip[i])<<8 | uint32(ip[i+1])
	}
	sum = sum>>16 + sum&0xffff
	sum = ^(sum>>16 + sum&0xffff)
	ip[10], ip[11] = byte(sum>>8), byte(sum)
	return f
}

func TestEventsReachEveryListenerAndHoldNobodyUp(t *testing.T) {
	c, _, _ := startControl(t)
	ctx, cancel := context.WithCancel(t.Context())
	lazy, _ := c.Events(t.Context())
	eager, _ := c.Events(ctx)
	want := api.Event{Kind: api.NeighborWanted, Port: 1}
	for range eventRoom + 10 {
		c.publish(want) // would block here if a full channel held it up
	}
	if len(lazy) != eventRoom {
		t.Errorf("%d events wait for a listener that does not listen, want %d", len(lazy), eventRoom)
	}
	if e := <-eager; e != want {
		t.Errorf("event %+v, want %+v", e, want)
	}
	cancel()
	for range eager {
	}
	c.publish(want) // must not send to the closed channel
}

func TestStatsSayWhichPortFails(t *testing.T) {
	c, _, ports := startControl(t)
	ports.fail = errors.New("gone")
	if _, err := c.Stats(t.Context()); err == nil || !strings.Contains(err.Error(), "port 1/1") {
		t.Errorf("Stats says %v", err)
	}
}

func TestApplySaysWhichWorkerStandsStill(t *testing.T) {
	q, err := port.NewMemory(2, 16)
	if err != nil {
		t.Fatal(err)
	}
	w, err := worker.New(worker.Options{Queue: q, Ports: []table.Port{{Name: "1/1", MAC: portMAC}}, Flows: 1024, FlowName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if passed(w, w.Publish(w.Tables()), 20*time.Millisecond) {
		t.Error("a worker that makes no turn has passed a boundary")
	}
	if err := errors.Join(w.Close(), q.Close()); err != nil {
		t.Error(err)
	}
}

// TestLease: mastership holds as long as it is renewed, for the roles that are in force alone, and while other calls take their time.
func TestLease(t *testing.T) {
	c, q, _ := startControl(t)
	tab := oneVserver(1)
	tab.Config.Addresses[0].VRID = 60
	tab.Roles = &api.Roles{Version: 5, List: []api.Role{{ID: 60, Master: true}}}
	if err := c.Apply(t.Context(), tab); err != nil {
		t.Fatal(err)
	}
	client, asker := [6]byte{2, 0, 0, 0, 0, 9}, [4]byte{10, 1, 0, 9}
	request := packet.Frame{Dst: [6]byte{255, 255, 255, 255, 255, 255}, Src: client}.ARP(packet.ARPRequestOp, client, asker, [6]byte{}, [4]byte{10, 1, 0, 50})
	asked := func(reason string) { // until a request is counted under a reason: the worker's clock is that of its last turn
		t.Helper()
		count := func() uint64 {
			for _, k := range c.counted().Counters {
				if k.Name == reason {
					return k.Value
				}
			}
			return 0
		}
		before := count()
		for deadline := time.Now().Add(30 * time.Second); count() == before; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("no request for the VIP is counted as %s", reason)
			}
			q.Sent(0)
			if err := q.Inject(0, request); err != nil {
				t.Fatal(err)
			}
		}
	}
	asked("drop-arp-backup") // before the first lease
	if err := c.Lease(t.Context(), &api.Lease{Roles: 4, Millis: 1 << 30}); err == nil || err.Error() != "a lease for roles 4 comes while roles 5 are in force" {
		t.Errorf("a lease for roles that are gone: %v", err)
	}
	asked("drop-arp-backup")
	c.mu.Lock() // as a large configuration does
	err := c.Lease(t.Context(), &api.Lease{Roles: 5, Millis: 1 << 30})
	c.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	asked("reply-arp")
	if err := c.Apply(t.Context(), &api.Tables{Roles: &api.Roles{Version: 6, List: []api.Role{{ID: 60}}}}); err != nil {
		t.Fatal(err)
	}
	asked("drop-arp-backup")
	if err := c.Apply(t.Context(), &api.Tables{Roles: &api.Roles{Version: 7, List: []api.Role{{ID: 60, Master: true}}}}); err != nil {
		t.Fatal(err)
	}
	asked("reply-arp")
	if err := c.Lease(t.Context(), &api.Lease{Roles: 7}); err != nil {
		t.Fatal(err)
	}
	asked("drop-arp-backup")
}
