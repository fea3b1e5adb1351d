package show

import (
	"fmt"
	"sluice/dataplane/api"
	"sluice/mgmt/compile"
	"sluice/vendor-config/schema"
)

func showServer(p *page) error {
	rows, one, err := chosen[schema.Server](p)
	if err != nil {
		return err
	}
	for i, s := range rows {
		p.number(i, one)
		p.f("Name: %s\tState:%s\n", s.Name, s.State)
		p.address(s)
		p.leaving(s)
		if s.Comment != "" {
			p.f("\tComment: %q\n", s.Comment)
		}
		if !one {
			continue
		}
		n := 0
		for svc := range p.x.Services() {
			if svc.Server == s.Name {
				n++
				p.f("\n%d)\t%s (%s: %s) - %s State: %s", n, p.boundName(svc.Name), p.serverIP(svc), port(svc.Port), svc.ServiceType, p.serviceState(svc.Name))
			}
		}
		if n > 0 {
			p.f("\n")
		}
	}
	return nil
}

func showService(p *page) error {
	rows, one, err := chosen[schema.Service](p)
	if err != nil {
		return err
	}
	if !one {
		p.f("%d configured services:\n", len(rows))
	}
	for i, s := range rows {
		p.number(i, one)
		p.f("%s (%s:%s) - %s\n", s.Name, p.serverIP(s), port(s.Port), s.ServiceType)
		p.f("\tState: %s\n", p.serviceState(s.Name))
		p.leaving(s)
		p.since(p.State.Services[s.Name].Since)
		if srv := schema.Get[schema.Server](p.Config, s.Server); srv != nil {
			p.f("\tServer Name: %s\tServer State: %s\n", srv.Name, srv.State)
			p.leaving(srv)
		}
		p.limited(s)
		if s.MonThreshold != 0 {
			p.f("\tMonitor threshold: %d\n", s.MonThreshold)
		}
		p.treatment(s)
		if s.HashID != 0 {
			p.f("\tHash Id: %d\n", s.HashID)
		}
		if s.Comment != "" {
			p.f("\tComment: %q\n", s.Comment)
		}
		p.monitors(s)
	}
	return nil
}

// treatment writes what is done with the flows of a service, or of each member of a group.
func (p *page) treatment(s *schema.Service) {
	p.f("\tUse Source IP: %s", s.USIP)
	if s.USIP == "YES" {
		p.f("\tUse Proxy Port: %s", s.UseProxyPort)
	}
	p.f("\n\tClient Keepalive(CKA): NO\n\tTCP Buffering(TCPB): NO\n\tHTTP Compression(CMP): NO\n")
	p.f("\tIdle timeout: Client: %d sec\tServer: %d sec\n", compile.ClientTimeout(p.Config, s.ServiceType, s.CltTimeout), compile.ServerTimeout(p.Config, s.ServiceType, s.SvrTimeout))
	p.f("\tClient IP: DISABLED\n\tDown state flush: %s\n", s.DownStateFlush)
}

func showVserver(p *page) error {
	rows, one, err := chosen[schema.LBVserver](p)
	if err != nil {
		return err
	}
	for i, v := range rows {
		p.number(i, one)
		p.vserver(v)
	}
	return nil
}

func (p *page) vserver(v *schema.LBVserver) {
	kind := "ADDRESS"
	if !v.IPAddress.IsValid() && !v.Foreign() {
		kind = "NON-ADDRESSABLE"
	}
	p.f("%s (%s) - %s\tType: %s\n", v.Name, v.Place(), v.ServiceType, kind)
	if v.Range > 1 {
		p.f("\tRange: %d addresses\n", v.Range)
	}
	state := p.vserverState(v)
	p.f("\tState: %s\n", state)
	p.since(p.State.Vservers[v.Name].At)
	effective := state
	if v.BackupVServer != "" && p.x.EffectiveUp(p.State, v.Name) {
		effective = "UP"
	}
	p.f("\tEffective State: %s\n", effective)
	p.f("\tClient Idle Timeout: %d sec\n", compile.ClientTimeout(p.Config, v.ServiceType, v.CltTimeout))
	p.f("\tDown state flush: %s\n\tDisable Primary Vserver On Down : %s\n\tPort Rewrite : DISABLED\n", v.DownStateFlush, v.DisablePrimary)
	p.limits(v)
	bound := p.x.Bindings(v.Name)
	up := 0
	for _, b := range bound {
		if p.x.ServiceUp(p.State, b.Service) {
			up++
		}
	}
	p.f("\tNo. of Bound Services : %d (Total)\t%d (Active)\n", len(bound), up)
	method := v.LBMethod
	switch method {
	case "SOURCEIPHASH", "DESTINATIONIPHASH":
		method += "\tNetmask: " + v.Netmask.String()
	case "TOKEN":
		method += fmt.Sprintf("\tData Offset: %d\tData Length: %d\tHash Length: %d", v.DataOffset, v.DataLength, v.HashLength)
	case "CALLIDHASH":
		method += fmt.Sprintf("\tHash Length: %d", v.HashLength)
	}
	p.f("\tConfigured Method: %s\n", method)
	p.startup(v.Name)
	p.f("\tMode: %s", v.Mode)
	if v.Mode == "TOS" {
		p.f("\tTOS ID: %d", v.TOSID)
	}
	if v.Sessionless == "ENABLED" {
		p.f("\tSessionless: ENABLED")
	}
	if v.L2Conn == "ON" {
		p.f("\tL2Conn: ON")
	}
	p.f("\n")
	p.persistence(v)
	if v.Foreign() {
		p.f("\tListen Policy: %s\tListen Priority: %d\n", v.ListenPolicy, v.ListenPriority)
	}
	p.f("\tVserver IP and Port insertion: OFF\n\tPush: DISABLED\tPush VServer:\n\tPush Multi Clients: NO\n\tPush Label Rule: none\n")
	if v.Comment != "" {
		p.f("\tComment: %q\n", v.Comment)
	}
	for i, b := range bound {
		svc := p.x.Service(b.Service)
		if svc == nil {
			continue
		}
		p.f("%d)\t%s (%s: %s) - %s State: %s\tWeight: %d\n", i+1, p.boundName(svc.Name), p.serverIP(svc), port(svc.Port), svc.ServiceType,
			p.serviceState(svc.Name), b.Weight)
	}
}

// startupReasons are the words of the reference product.
var startupReasons = map[api.Startup]string{
	api.StartupVserver: "A new vserver is added", api.StartupMethod: "The method is changed",
	api.StartupBound: "A new service is bound", api.StartupUp: "Bound service's state changed to UP",
}

// startup tells that a vserver starts up, while it does.
func (p *page) startup(vserver string) {
	if n, _ := p.vserverFlow(vserver); n.StartupLeft > 0 {
		p.f("\tCurrent Method: Round Robin, Reason: %s\n", startupReasons[n.Startup])
	}
}

func showParameter(p *page) error {
	n := compile.StartupRRFactor(p.Config)
	p.f("\tGlobal LB parameters:\n\tStartup RR factor: %d", n)
	if n == 0 {
		p.f(" (off, the default)")
	}
	p.f("\n")
	return nil
}
