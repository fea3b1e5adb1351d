package show

import (
	"fmt"
	"strings"
	"time"

	"sluice/vendor-config/schema"
)

// address tells the address of a server; of one with a domain name what that has been resolved to, and why not again.
func (p *page) address(s *schema.Server) {
	if s.Domain == "" {
		p.f("\tIPAddress: %s\n", s.IPAddress)
		return
	}
	r := p.State.Resolutions[s.Name]
	p.f("\tDomain: %s\tResolve retry: %d sec\n", s.Domain, s.DomainResolveRetry)
	switch {
	case r.Domain != s.Domain || !r.Address.IsValid() && r.Failure == "":
		p.f("\tIPAddress: none, the name is not resolved yet\n")
		return
	case !r.Address.IsValid():
		p.f("\tIPAddress: none\n")
	default:
		own := ""
		if schema.Get[schema.NSIP](p.Config, r.Address.String()) != nil {
			own = ", an address of this appliance, which is not used"
		}
		all := strings.Trim(fmt.Sprint(r.Addresses), "[]")
		p.f("\tIPAddress: %s%s\tResolved: %s at %s\n", r.Address, own, all, date(r.At))
	}
	if r.Failure != "" {
		last := ""
		if r.Address.IsValid() {
			last = "; the last address stays in use"
		}
		p.f("\tDoes not resolve: %s%s\n", r.Failure, last)
	}
	if left := r.Next.Sub(p.Now); left > 0 {
		p.f("\tResolved again in: %d sec\n", (left+time.Second-1)/time.Second)
	}
}
