package show

import (
	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

func showVersion(p *page) error {
	p.f("\tSluice %s: Build %s, Date: ", p.System.Release, p.System.Build)
	if p.System.Built.IsZero() {
		p.f("unknown")
	} else {
		p.f("%s", p.System.Built.UTC().Format("Jan _2 2006, 15:04:05"))
	}
	p.f("   (64-bit)\n")
	for _, d := range p.System.Degraded {
		p.f("\tState: DEGRADED: %s\n", d)
	}
	return nil
}

func showHardware(p *page) error {
	m := p.System.Machine
	p.f("\tPlatform: %s, %d*CPU, %d*Port\n", orUnknown(m.Product), m.CPUs, len(p.State.Ports))
	p.f("\tCPU: %.0fMHZ %s\n", m.MHz, orUnknown(m.CPU))
	p.f("\tMemory: %d MB\n\tKernel: %s\n\tHost: %s\n\tSerial no: %s\n", m.MemoryMB, orUnknown(m.Kernel), p.System.Host, orUnknown(m.Serial))
	return nil
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func showRunning(p *page) error {
	p.f("#Sluice %s Build %s\n", p.System.Release, p.System.Build)
	p.f("# Last modified %s\n", date(p.ChangedAt))
	if !p.Saved.At.IsZero() {
		p.f("# Last saved %s\n", date(p.Saved.At))
	}
	p.lines(p.Config)
	return nil
}

func showSaved(p *page) error {
	if p.Saved.Config == nil {
		p.f("# Nothing has been saved yet.\n")
		return nil
	}
	p.f("#Sluice %s Build %s\n", p.System.Release, p.System.Build)
	if !p.Saved.At.IsZero() {
		p.f("# Last modified by `save config`, %s\n", date(p.Saved.At))
	}
	for _, s := range p.Saved.Problems {
		p.f("# %s\n", s)
	}
	p.lines(p.Saved.Config)
	return nil
}

func (p *page) lines(c *schema.Config) {
	for _, l := range grammar.Shown(c) {
		p.f("%s\n", l)
	}
}
