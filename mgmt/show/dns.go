package show

import "sluice/vendor-config/schema"

func showNameServer(p *page) error {
	rows, one, err := chosen[schema.DNSNameServer](p)
	if err != nil {
		return err
	}
	for i, s := range rows {
		p.number(i, one)
		p.f("%s - State: %s\tType: UDP, TCP for what does not fit\n", s.IP, s.State)
	}
	return nil
}
