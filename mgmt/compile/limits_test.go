package compile

import (
	"slices"
	"testing"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// TestLimits: what the operator's words limit, and who takes what is beyond, reach the dataplane.
func TestLimits(t *testing.T) {
	type vserver struct {
		Backup               uint32
		Spillover            api.Spillover
		Threshold, Seconds   uint32
		Accept               bool
		Health               uint32
		PerLink, KeepLeaving bool
	}
	for text, change := range map[string]func(*vserver){
		"":                                    func(*vserver) {},
		"-soMethod CONNECTION -soThreshold 9": func(v *vserver) { v.Spillover, v.Threshold = api.SpillConnection, 9 },
		"-soMethod BANDWIDTH -soThreshold 9 -soBackupAction ACCEPT": func(v *vserver) { v.Spillover, v.Threshold, v.Accept = api.SpillBandwidth, 9, true },
		"-soMethod HEALTH -soThreshold 50 -soBackupAction DROP":     func(v *vserver) { v.Spillover, v.Threshold = api.SpillHealth, 50 },
		"-soMethod DYNAMICCONNECTION":                               func(v *vserver) { v.Spillover = api.SpillDynamic },
		"-soMethod CONNECTION -soThreshold 9 -soPersistence ENABLED -soPersistenceTimeOut 3 -backupVServer b": func(v *vserver) {
			v.Spillover, v.Threshold, v.Seconds, v.Backup = api.SpillConnection, 9, 180, 2
		},
		"-healthThreshold 60":       func(v *vserver) { v.Health = 60 },
		"-l2Conn ON":                func(v *vserver) { v.PerLink = true },
		"-persistenceType SOURCEIP": func(v *vserver) { v.KeepLeaving = true },
		"-persistenceType SOURCEIP -trofsPersistence DISABLED": func(*vserver) {},
	} {
		c := configure(t, "add ns ip 10.1.0.5 255.255.255.0\nadd lb vserver b TCP 10.1.0.51 80\nadd lb vserver v TCP 10.1.0.50 80 "+text)
		s := site(c)
		s.IDs.Vservers = map[string]uint32{"v": 1, "b": 2}
		tab, err := Tables(c, s)
		if err != nil {
			t.Fatal(err)
		}
		v := tab.Config.Vservers[slices.IndexFunc(tab.Config.Vservers, func(v api.Vserver) bool { return v.Name == "v" })]
		var want vserver
		change(&want)
		if got := (vserver{v.Backup, v.Spillover, v.SpillThreshold, v.SpillSeconds, v.SpillAccept, v.HealthThreshold, v.PerLink, v.PersistLeaving}); got != want {
			t.Errorf("%q: the dataplane is told %+v, want %+v", text, got, want)
		}
	}
	for _, word := range schema.Of[schema.LBVserver]().Field("soMethod").Enum {
		if word != "NONE" && spillovers[word] == 0 {
			t.Errorf("the method %s is offered and not compiled", word)
		}
	}
}

// TestLimitsOfServices: those of a service, and of a group for each of its members.
func TestLimitsOfServices(t *testing.T) {
	const words = " -maxClient 7 -sp ON -maxBandwidth 9"
	c := configure(t, "add ns ip 10.2.0.5 255.255.255.0\nadd server s 10.2.0.11\nadd service a s TCP 80"+words+
		"\nadd service plain s TCP 81\nadd serviceGroup g TCP"+words+"\nbind serviceGroup g s 82")
	tab, err := Tables(c, site(c))
	if err != nil {
		t.Fatal(err)
	}
	if len(tab.Config.Services) != 3 {
		t.Fatalf("%d services, want 3", len(tab.Config.Services))
	}
	for _, s := range tab.Config.Services {
		limited := s.Port != 81
		if (s.MaxClient == 7) != limited || s.Surge != limited || (s.MaxBandwidth == 9) != limited {
			t.Errorf("%s, port %d: %d clients, surge %t, %d kbit/s", s.Name, s.Port, s.MaxClient, s.Surge, s.MaxBandwidth)
		}
	}
}

// TestWhatIsDown: what ends or answers when something is down, by the words of the options.
func TestWhatIsDown(t *testing.T) {
	const base = "add ns ip 10.2.0.5 255.255.255.0\nadd server s 10.2.0.11\nadd service a s TCP 80\nadd lb vserver v TCP 10.1.0.50 80\nbind lb vserver v a\n"
	for _, row := range []struct {
		more             string
		service, vserver int // that are flushed
		reset            bool
		parts            api.LinkParts
	}{
		{"", 1, 1, false, 0},
		{"set service a -downStateFlush DISABLED", 0, 1, false, 0},
		{"set lb vserver v -downStateFlush DISABLED", 1, 0, false, 0},
		{"set ns tcpParam -downStateRST ENABLED", 1, 1, true, 0},
		{"set L4Param -l2ConnMethod MacVlan", 1, 1, false, api.LinkMAC | api.LinkVLAN},
		{"set L4Param -l2ConnMethod Channel", 1, 1, false, api.LinkPort},
	} {
		c := configure(t, base+row.more)
		tab, err := Tables(c, site(c))
		if err != nil {
			t.Fatal(err)
		}
		h := tab.Health
		if len(h.Flush) != row.service || len(h.FlushVservers) != row.vserver || tab.Config.DownStateRST != row.reset || tab.Config.LinkParts != row.parts {
			t.Errorf("%q: services %v and vservers %v end, resets %t, parts %d", row.more, h.Flush, h.FlushVservers, tab.Config.DownStateRST, tab.Config.LinkParts)
		}
	}
}

// TestEffectiveUp: a vserver whose clients a backup takes counts as up, over several of them, whoever of them is up.
func TestEffectiveUp(t *testing.T) {
	const base = "add ns ip 10.2.0.5 255.255.255.0\nadd server s 10.2.0.11\nadd service a s TCP 80\nadd service b s TCP 81\n" +
		"add lb vserver last TCP 10.1.0.52 80\nadd lb vserver next TCP 10.1.0.51 80 -backupVServer last\nadd lb vserver v TCP 10.1.0.50 80 -backupVServer next\n" +
		"bind lb vserver v a\nbind lb vserver last b\n"
	for _, row := range []struct {
		more string
		up   []string
		want bool
	}{
		{"", nil, false}, {"", []string{"a"}, true}, {"", []string{"b"}, true},
		{"unset lb vserver next -backupVServer", []string{"b"}, false},
		{"disable lb vserver v", []string{"a", "b"}, true},
		{"disable lb vserver v\nunset lb vserver v -backupVServer", []string{"a", "b"}, false},
		{"disable lb vserver last", []string{"b"}, false},
	} {
		c := configure(t, base+row.more)
		s := site(c)
		for _, name := range row.up {
			s.Record(name, "tcp-default", MonitorResult{Known: true, Up: true})
		}
		if got := NewIndex(c, s).EffectiveUp(s, "v"); got != row.want {
			t.Errorf("%q with %v up: up %t, want %t", row.more, row.up, got, row.want)
		}
	}
}

// TestWaysOfProbes: a monitor's probes go the way that its words name, by the server, to the address behind it.
func TestWaysOfProbes(t *testing.T) {
	for text, want := range map[string]struct {
		way  Way
		dscp uint8
	}{
		"-destIP 10.1.0.60 -transparent YES": {Through, 0}, "-destIP 10.1.0.60 -ipTunnel YES": {Tunnelled, 0},
		"-destIP 10.1.0.60 -tos YES -tosId 37": {Marked, 37}, "-destIP 10.1.0.60": {Direct, 0},
	} {
		c := configure(t, "add ns ip 10.2.0.5 255.255.255.0\nadd server s 10.2.0.11\nadd service a s TCP 80\nadd lb monitor m TCP "+text+"\nbind service a -monitorName m")
		probes := Probes(c, site(c))
		if len(probes) != 1 {
			t.Fatalf("%q: %d probes", text, len(probes))
		}
		p := probes[0]
		if p.Way != want.way || p.DSCP != want.dscp || p.Via.IsValid() != (want.way != Direct) || p.Target.String() != "10.1.0.60:80" ||
			p.Source.String() != "10.2.0.5" && want.way != Direct {
			t.Errorf("%q: way %d, DSCP %d, by %v, to %v, from %v", text, p.Way, p.DSCP, p.Via, p.Target, p.Source)
		}
	}
}
