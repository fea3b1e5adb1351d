package show

import "sluice/mgmt/compile"

// showTimeout writes the idle times of all connections, defaults included.
func showTimeout(p *page) error {
	t := compile.Timeouts(p.Config)
	p.f("\tZombie cleanup: %d sec\tNon-TCP zombie cleanup: %d sec\n", t.Zombie, t.NonTCPZombie)
	for _, row := range []struct {
		name           string
		client, server uint32
	}{{"HTTP", t.HTTPClient, t.HTTPServer}, {"TCP", t.TCPClient, t.TCPServer}, {"ANY", t.AnyClient, t.AnyServer}} {
		p.f("\t%s client idle timeout: %d sec\t%s server idle timeout: %d sec\n", row.name, row.client, row.name, row.server)
	}
	p.f("\tHalf-closed TCP: %d sec\n\tClosed TCP (ReducedFinTimeOut): %d sec\n\tReset TCP (ReducedRstTimeOut): %d sec\n", t.HalfClose, t.ReducedFin, t.ReducedRst)
	p.f("\tUnfinished handshake (NewConnIdleTimeOut): %d sec\n", t.NewConnIdle)
	return nil
}
