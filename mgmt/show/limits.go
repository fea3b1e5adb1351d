package show

import "sluice/vendor-config/schema"

// limits writes who takes what a vserver cannot, and when.
func (p *page) limits(v *schema.LBVserver) {
	if v.BackupVServer != "" {
		p.f("\tBackup: %s\n", v.BackupVServer)
	}
	if v.HealthThreshold != 0 {
		p.f("\tHealth Threshold: %d\n", v.HealthThreshold)
	}
	if v.NewServiceRequest != 0 {
		p.f("\tNew Service Startup Request Rate: %d %s, Increment Interval: %d\n", v.NewServiceRequest, v.NewServiceRequestUnit, v.NewServiceIncrement)
	}
	if v.SOMethod == "NONE" {
		return
	}
	p.f("\tSpillover Method: %s", v.SOMethod)
	if v.SOThreshold != 0 {
		p.f("\tThreshold: %d", v.SOThreshold)
	}
	if v.SOPersistence == "ENABLED" {
		p.f("\tPersistence: ENABLED\tTimeout: %d min", v.SOPersistenceTimeout)
	}
	if v.SOBackupAction != "" {
		p.f("\tAction without backup: %s", v.SOBackupAction)
	}
	p.f("\n")
}

// limited writes the limits of a service, or of each member of a group.
func (p *page) limited(s *schema.Service) {
	p.f("\tMax Conn: %d\tMax Req: 0\tMax Bandwidth: %d kbits\n", s.MaxClient, s.MaxBandwidth)
	if s.SP == "ON" {
		p.f("\tSurge Protection: ON\n")
	}
}

func showL4Param(p *page) error {
	p.f("\tL4 Parameters\n\tL2 Connection Method : %s\n", schema.Single[schema.L4Param](p.Config).L2ConnMethod)
	return nil
}

func showTCPParam(p *page) error {
	state := "DISABLED"
	if row := schema.Get[schema.NSTCPParam](p.Config); row != nil {
		state = row.DownStateRST
	}
	p.f("\tTCP Parameters\n\tDown State RST : %s\n", state)
	return nil
}
