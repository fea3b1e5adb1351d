package compile

import (
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// standsIn tells whether the backup of a vserver that is disabled takes its clients: its VIP must be enabled.
func (x *Index) standsIn(v *schema.LBVserver) bool {
	a := x.addrs[v.IPAddress]
	return v.BackupVServer != "" && (a == nil || enabled(a.State))
}

// backups has every vserver on the wire name the first of its backups that is, too.
func (m *maker) backups() {
	here, next := make(map[uint32]bool, len(m.config.Vservers)), map[uint32]uint32{}
	for i := range m.config.Vservers {
		here[m.config.Vservers[i].ID] = true
	}
	for _, made := range m.out.vservers {
		if b := made.row.BackupVServer; b != "" {
			next[m.s.IDs.Vservers[made.row.Name]] = m.s.IDs.Vservers[b]
		}
	}
	for i := range m.config.Vservers {
		v := &m.config.Vservers[i]
		for steps := 0; v.Backup != 0 && !here[v.Backup] && steps < len(next); steps++ {
			v.Backup = next[v.Backup]
		}
		if !here[v.Backup] {
			v.Backup = 0
		}
	}
}

// spillovers are the words of soMethod.
var spillovers = map[string]api.Spillover{
	"CONNECTION": api.SpillConnection, "DYNAMICCONNECTION": api.SpillDynamic, "BANDWIDTH": api.SpillBandwidth, "HEALTH": api.SpillHealth,
}

// limitVserver writes the limits of a vserver and who takes what is beyond them.
func limitVserver(t *api.Vserver, s *State, v *schema.LBVserver) {
	t.Backup = s.IDs.Vservers[v.BackupVServer]
	t.Spillover, t.SpillThreshold, t.SpillAccept = spillovers[v.SOMethod], v.SOThreshold, v.SOBackupAction == "ACCEPT"
	if v.SOPersistence == "ENABLED" && v.SOMethod != "NONE" {
		t.SpillSeconds = uint32(v.SOPersistenceTimeout) * 60
	}
	t.HealthThreshold = v.HealthThreshold
	t.SlowRate, t.SlowSeconds = v.NewServiceRequest, v.NewServiceIncrement
	t.SlowPercent = v.NewServiceRequest != 0 && v.NewServiceRequestUnit == "PERCENT"
}

// healthy tells whether so many of a vserver's services are up that it is.
func healthy(v *schema.LBVserver, up, bound int) bool {
	return up > 0 && up*100 >= bound*int(v.HealthThreshold)
}

// EffectiveUp tells whether a vserver or one of its backups is up.
func (x *Index) EffectiveUp(s *State, vserver string) bool {
	for range x.c.Len(vserverRows) {
		v := schema.Get[schema.LBVserver](x.c, vserver)
		if v == nil || x.VserverUp(s, vserver) {
			return v != nil
		}
		if !x.VserverEnabled(v) && !x.standsIn(v) {
			return false
		}
		vserver = v.BackupVServer
	}
	return false
}

// downStateRST tells whether SYNs to vservers that are down are answered with resets.
func downStateRST(c *schema.Config) bool {
	p := schema.Get[schema.NSTCPParam](c)
	return p != nil && p.DownStateRST == "ENABLED"
}
