package main

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// remember has the worker's sessions know n clients of a vserver, all at the first of its services that is up.
func remember(t *testing.T, c *control, vserver uint32, n int) {
	t.Helper()
	w := c.workers[0]
	set := w.Tables()
	for _, v := range set.Vservers() {
		if v.ID != vserver {
			continue
		}
		for i := range n {
			var ip [4]byte
			binary.BigEndian.PutUint32(ip[:], 0xc0000200+uint32(i))
			k := w.Sessions().Client(vserver, uint8(v.Persistence), uint64(packet.Addr4(ip)), 1200)
			if _, kept := w.Sessions().Keep(&k, 0, set, v.Bindings[0].Service); !kept {
				t.Fatal("there is no room for a session")
			}
		}
	}
}

// twoPersistent has vservers 1 and 2 with persistence over services 1 and 2.
func twoPersistent(version uint64) *api.Tables {
	tab := oneVserver(version)
	c := tab.Config
	s := c.Services[0]
	s.ID, s.Name, s.IP = 2, "s2", netip.MustParseAddr("10.1.0.12")
	c.Services = append(c.Services, s)
	c.Vservers[0].Bindings = append(c.Vservers[0].Bindings, api.Binding{Service: 2, Weight: 1})
	c.Vservers[0].Persistence, c.Vservers[0].PersistSeconds = api.PersistSourceIP, 120
	v := c.Vservers[0]
	v.ID, v.Name, v.Port, v.Bindings = 2, "w", 54, []api.Binding{{Service: 2, Weight: 1}}
	c.Vservers = append(c.Vservers, v)
	tab.Health.Up = []uint32{1, 2}
	return tab
}

// sessionsOf are all sessions, read in pages.
func sessionsOf(t *testing.T, c *control, vserver uint32) (list []api.Session) {
	t.Helper()
	for from, page := uint64(0), 0; page == 0 || from != 0; page++ {
		s, err := c.Sessions(t.Context(), &api.SessionOrder{Vserver: vserver, From: from, Most: 7})
		if err != nil {
			t.Fatal(err)
		}
		list, from = append(list, s.List...), s.Next
	}
	return list
}

func TestSessionsAreToldAndCleared(t *testing.T) {
	c, _, _ := startControl(t)
	if err := c.Apply(t.Context(), twoPersistent(1)); err != nil {
		t.Fatal(err)
	}
	remember(t, c, 1, 30)
	remember(t, c, 2, 20)
	for vserver, want := range map[uint32]int{0: 50, 1: 30, 2: 20} {
		if got := sessionsOf(t, c, vserver); len(got) != want {
			t.Errorf("of vserver %d there are %d sessions, want %d", vserver, len(got), want)
		}
	}
	s := sessionsOf(t, c, 1)[0]
	if s.Kind != api.PersistSourceIP || s.Vserver != "v" || s.Service != "s" || !netip.MustParsePrefix("192.0.2.0/24").Contains(s.Src) || s.Dst.IsValid() ||
		s.Left < time.Minute || s.Left > 2*time.Minute {
		t.Errorf("a session is told as %+v", s)
	}
	if st, err := c.Stats(t.Context()); err != nil || st.Vservers[0].Sessions != 30 || st.Vservers[1].Sessions != 20 {
		t.Errorf("the figures are %+v, %v", st.Vservers, err)
	}
	if done, err := c.Sessions(t.Context(), &api.SessionOrder{Vserver: 2, Clear: true}); err != nil || done.Cleared != 20 {
		t.Errorf("clearing one vserver's: %+v, %v", done, err)
	}
	if got := sessionsOf(t, c, 0); len(got) != 30 {
		t.Errorf("%d sessions are left, want 30", len(got))
	}
	if done, err := c.Sessions(t.Context(), &api.SessionOrder{Clear: true}); err != nil || done.Cleared != 30 || len(sessionsOf(t, c, 0)) != 0 {
		t.Errorf("clearing all: %+v, %v", done, err)
	}
	if _, err := c.Sessions(t.Context(), &api.SessionOrder{}); err == nil || !strings.Contains(err.Error(), "give 1 to") {
		t.Errorf("a page of no sessions is answered with %v", err)
	}
}

// TestConfigurationsAndSessions: which commands make clients be forgotten, and which do not.
func TestConfigurationsAndSessions(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*api.Tables)
		v, w   int // sessions that are left
	}{
		"nothing":                  {func(*api.Tables) {}, 30, 20},
		"another time":             {func(c *api.Tables) { c.Config.Vservers[0].PersistSeconds = 600 }, 30, 20},
		"another method":           {func(c *api.Tables) { c.Config.Vservers[0].Method = api.LeastConnection }, 30, 20},
		"a service goes down":      {func(c *api.Tables) { c.Health.Up = []uint32{2} }, 30, 20},
		"another weight":           {func(c *api.Tables) { c.Config.Vservers[0].Bindings[0].Weight = 9 }, 30, 20},
		"unbound":                  {func(c *api.Tables) { c.Config.Vservers[0].Bindings = c.Config.Vservers[0].Bindings[1:] }, 0, 20},
		"the other one is unbound": {func(c *api.Tables) { c.Config.Vservers[0].Bindings = c.Config.Vservers[0].Bindings[:1] }, 30, 20},
		"no persistence":           {func(c *api.Tables) { c.Config.Vservers[0].Persistence = 0 }, 0, 20},
		"another mask":             {func(c *api.Tables) { c.Config.Vservers[0].PersistMask = 0xffffff00 }, 0, 20},
		"another kind":             {func(c *api.Tables) { c.Config.Vservers[0].Persistence = api.PersistDestinationIP }, 0, 20},
		"no vserver":               {func(c *api.Tables) { c.Config.Vservers = c.Config.Vservers[1:] }, 0, 20},
		"another vserver":          {func(c *api.Tables) { c.Config.Vservers[0].Name = "x" }, 0, 20},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, _ := startControl(t)
			if err := c.Apply(t.Context(), twoPersistent(1)); err != nil {
				t.Fatal(err)
			}
			remember(t, c, 1, 30)
			remember(t, c, 2, 20)
			next := twoPersistent(2)
			row.change(next)
			if err := c.Apply(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			if v, w := c.workers[0].Sessions().Of(1), c.workers[0].Sessions().Of(2); int(v) != row.v || int(w) != row.w {
				t.Errorf("%d and %d sessions are left, want %d and %d", v, w, row.v, row.w)
			}
		})
	}
}

// TestConfigurationsAndSpilled: clients who were spilled over are told with their backup, and forgotten with what they stay by.
func TestConfigurationsAndSpilled(t *testing.T) {
	spilling := func(version uint64) *api.Tables {
		tab := twoPersistent(version)
		v := &tab.Config.Vservers[0]
		v.Backup, v.Spillover, v.SpillThreshold, v.SpillSeconds = 2, api.SpillConnection, 5, 120
		third := tab.Config.Vservers[1]
		third.ID, third.Name, third.Port = 3, "x", 55
		tab.Config.Vservers = append(tab.Config.Vservers, third)
		return tab
	}
	for name, row := range map[string]struct {
		change func(*api.Vserver)
		left   int
	}{
		"nothing":               {func(*api.Vserver) {}, 10},
		"another time":          {func(v *api.Vserver) { v.SpillSeconds = 600 }, 10},
		"another threshold":     {func(v *api.Vserver) { v.SpillThreshold = 9 }, 10},
		"no persistence":        {func(v *api.Vserver) { v.Persistence = 0 }, 10},
		"they do not stay":      {func(v *api.Vserver) { v.SpillSeconds = 0 }, 0},
		"another backup":        {func(v *api.Vserver) { v.Backup = 3 }, 0},
		"no backup":             {func(v *api.Vserver) { v.Backup = 0 }, 0},
		"another vserver of it": {func(v *api.Vserver) { v.Name = "y" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c, _, _ := startControl(t)
			if err := c.Apply(t.Context(), spilling(1)); err != nil {
				t.Fatal(err)
			}
			w := c.workers[0]
			for i := range uint32(10) {
				k := w.Sessions().Client(1, 0, uint64(i+1), 1200)
				if _, kept := w.Sessions().Keep(&k, 0, w.Tables(), 2); !kept {
					t.Fatal("there is no room for a session")
				}
			}
			if s := sessionsOf(t, c, 1); len(s) != 10 || s[0].Kind != 0 || s[0].Vserver != "v" || s[0].Service != "w" || !s[0].Src.IsValid() || s[0].Dst.IsValid() {
				t.Errorf("the clients are told as %+v", s)
			}
			next := spilling(2)
			row.change(&next.Config.Vservers[0])
			if err := c.Apply(t.Context(), next); err != nil {
				t.Fatal(err)
			}
			if got := int(w.Sessions().Of(1)); got != row.left {
				t.Errorf("%d clients stay, want %d", got, row.left)
			}
		})
	}
}
