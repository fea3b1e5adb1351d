package show

import (
	"slices"
	"strings"
	"time"

	"sluice/mgmt/compile"
	"sluice/mgmt/vrrp"
	"sluice/vendor-config/schema"
)

func showRouter(p *page) error {
	rows, one, err := chosen[schema.VRID](p)
	if err != nil {
		return err
	}
	for i, v := range rows {
		p.number(i, one)
		p.f("Virtual router ID: %d\tType: STATIC\tVirtual MAC: %s\n", v.ID, mac(vrrp.MAC(v.ID)))
		ports := p.portsOf(v)
		priority, why := v.Priority, ""
		if len(ports) > 0 {
			priority, why = ports[0].Priority(p.State)
		}
		p.f("\tPriority: %d\tEffective priority: %d", v.Priority, priority)
		if why != "" {
			p.f(" (%s)", why)
		}
		p.f("\n\tPreemption: %s\tPreemption delay: %d sec\tSharing: %s\tTracking: %s\n", v.Preemption, v.Preemptiondelaytimer, v.Sharing, v.Tracking)
		p.tracked(v)
		if p.State.Held[v.ID] {
			p.f("\tKept backup until: force vrID %d -release\n", v.ID)
		}
		p.addressesOf(v)
		for j := range ports {
			p.stands(&ports[j])
		}
		if len(ports) == 0 {
			p.f("\tState: INIT, since it is on no port: it needs a VIP (set ns ip <VIP> -vrID %d) on the subnet of a SNIP\n", v.ID)
		}
	}
	return nil
}

// portsOf are the ports of a virtual router.
func (p *page) portsOf(v *schema.VRID) []compile.Router {
	var out []compile.Router
	for _, r := range p.Routers {
		if r.Row.ID == v.ID {
			out = append(out, r)
		}
	}
	return out
}

func (p *page) tracked(v *schema.VRID) {
	ports := compile.TrackedPorts(p.Config, v.ID)
	for i, name := range ports {
		state := "UP"
		if p.State.Down[name] != "" {
			state = "DOWN"
		}
		ports[i] = name + " " + state
	}
	if len(ports) > 0 || v.TrackifNumPriority != 0 {
		p.f("\tTracked interfaces: %s\tTracked interface priority: %d\n", strings.Join(ports, ", "), v.TrackifNumPriority)
	}
}

func (p *page) addressesOf(v *schema.VRID) {
	for _, a := range schema.All[schema.NSIP](p.Config) {
		if a.VRID == v.ID {
			p.f("\tIPAddress: %s\n", a.IPAddress)
		}
	}
}

// stands writes where a virtual router stands on a port, and its last changes.
func (p *page) stands(r *compile.Router) {
	i := slices.IndexFunc(p.Stands, func(s vrrp.State) bool { return s.ID == r.Row.ID && s.Device == r.Twin })
	if i < 0 {
		p.f("\tInterface: %s\tState: INIT\n", r.Name)
		return
	}
	s := p.Stands[i]
	p.f("\tInterface: %s\tState: %s", r.Name, s.Role)
	if s.Reason != "" {
		p.f("\tReason: %s", s.Reason)
	}
	p.f("\n")
	p.since(s.Since)
	switch {
	case s.Role == vrrp.Master:
		p.f("\tMaster: this appliance, by %s\n", r.Source.Addr())
	case s.MasterAddress.IsValid():
		p.f("\tMaster: %s\tPriority: %d\tInterval: %d ms\n", s.MasterAddress, s.MasterPriority, s.MasterInterval.Milliseconds())
	}
	for _, t := range s.History {
		p.f("\t\t%s\t%s -> %s: %s\n", t.At.Format(time.StampMilli), t.From, t.To, t.Reason)
	}
}

// statRouter writes what the speaker has counted.
func statRouter(p *page) error {
	rows, one, err := chosen[schema.VRID](p)
	if err != nil {
		return err
	}
	for _, v := range rows {
		for _, c := range p.Adverts {
			if c.ID == v.ID {
				p.adverts(&c)
			}
		}
	}
	for _, c := range p.Adverts {
		if c.ID == 0 && !one {
			p.adverts(&c)
		}
	}
	return nil
}

func (p *page) adverts(c *vrrp.Count) {
	port := p.State.PortOf(c.Device)
	if c.ID == 0 {
		p.f("Interface %s, advertisements for no virtual router here\n", port)
	} else {
		p.f("Virtual router %d on interface %s\n", c.ID, port)
		for _, r := range []struct {
			name string
			n    uint64
		}{{"Advertisements received", c.Received}, {"  with other addresses", c.OtherVIPs}, {"  of priority 0", c.Zero}, {"Advertisements sent", c.Sent},
			{"Gratuitous ARP sent", c.Gratuitous}, {"Frames not sent", c.Unsent}, {"Times it became MASTER", c.Transitions}} {
			p.f("\t%-40s %20d\n", r.name, r.n)
		}
	}
	for _, why := range vrrp.Refusals {
		if n := c.Refused[why]; n > 0 || c.ID != 0 {
			p.f("\t%-40s %20d\n", "Ignored: "+string(why), n)
		}
	}
}

func showRouterParam(p *page) error {
	r := schema.Single[schema.VRIDParam](p.Config)
	p.f("\tSend to master: %s\n\tHello interval: %d ms\n\tDead interval: %d sec\n\tVersion: %s\n\tChecksum: %s\n",
		r.SendToMaster, r.HelloInterval, r.DeadInterval, r.Version, r.Checksum)
	return nil
}
