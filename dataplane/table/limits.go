package table

import (
	"fmt"

	"sluice/dataplane/api"
)

// limited services are those by ID whose flows the workers share out: see lb.State.Settle.
type limited struct {
	services []uint32
	vservers []uint32 // with a number of open flows beyond which they spill
}

// limit works out what limits the new flows of a vserver, given who is up.
func (l *poolList) limit(c *config, v *api.Vserver, up []bool) {
	all, weights, here, upWeights := uint64(0), uint64(0), uint64(0), uint64(0)
	room, endless := uint64(0), false
	for _, b := range v.Bindings {
		all++
		weights += uint64(b.Weight)
		if !up[b.Service] {
			continue
		}
		here++
		upWeights += uint64(b.Weight)
		s := c.source(b.Service)
		if s.MaxClient != 0 || s.MaxBandwidth != 0 {
			l.flags |= PoolLimited
		}
		if s.Surge {
			l.flags |= PoolQueues
		}
		room += uint64(s.MaxClient)
		endless = endless || s.MaxClient == 0
	}
	if v.HealthThreshold != 0 && here*100 < all*uint64(v.HealthThreshold) {
		l.flags |= PoolDown
	}
	if v.SpillAccept {
		l.flags |= PoolAccepts
	}
	switch v.Spillover {
	case api.SpillConnection:
		l.spillOpen = v.SpillThreshold
	case api.SpillDynamic:
		if !endless {
			l.spillOpen = uint32(min(room, 1<<32-1))
		}
	case api.SpillBandwidth:
		l.spillRate = v.SpillThreshold
	case api.SpillHealth:
		if upWeights*100 < weights*uint64(v.SpillThreshold) {
			l.flags |= PoolSpilled
		}
	}
}

// placeServices notes where each service is.
func (c *config) placeServices() {
	c.serviceAt = make([]uint32, c.top+1)
	for i := range c.src.Services {
		s := &c.src.Services[i]
		c.serviceAt[s.ID] = uint32(i) + 1
		if s.MaxClient != 0 {
			c.limited.services = append(c.limited.services, s.ID)
		}
	}
	for i := range c.src.Vservers {
		if v := &c.src.Vservers[i]; v.Spillover == api.SpillConnection || v.Spillover == api.SpillDynamic {
			c.limited.vservers = append(c.limited.vservers, v.ID)
		}
	}
}

// checkBackups refuses backups that are not there, of another protocol, or that lead back.
func checkBackups(list []api.Vserver, byID byID[api.Vserver]) error {
	for i := range list {
		v := &list[i]
		if v.Spillover > api.SpillHealth {
			return fmt.Errorf("vserver %s spills over by %d, which this dataplane does not know", v.Name, v.Spillover)
		}
		steps := 0
		for at := v; at.Backup != 0; steps++ {
			next := byID.get(at.Backup)
			switch {
			case next == nil:
				return fmt.Errorf("vserver %s has vserver %d for a backup, which does not exist", at.Name, at.Backup)
			case next.Proto != at.Proto:
				return fmt.Errorf("vserver %s (protocol %d) has vserver %s (protocol %d) for a backup: both must be the same", at.Name, at.Proto, next.Name, next.Proto)
			case next == v || steps > len(list):
				return fmt.Errorf("the backups of vserver %s lead back to it", v.Name)
			}
			at = next
		}
	}
	return nil
}

// ResetsDown says whether SYNs to a vserver that is down are answered with resets.
func (s *Set) ResetsDown() bool { return s.conf.src.DownStateRST }

// EachShared calls the functions with the IDs of services and vservers whose open flows are limited. Not for every packet.
func (s *Set) EachShared(service, vserver func(id uint32)) {
	for _, id := range s.conf.limited.services {
		service(id)
	}
	for _, id := range s.conf.limited.vservers {
		vserver(id)
	}
}
