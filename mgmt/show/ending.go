package show

import "time"

// Ending is when a certificate ends.
type Ending struct {
	At      time.Time // zero: Problem says why it is not known
	Days    int       // until then; negative once it is over
	Problem string
}

// ending writes when the certificate of a pair ends, in the words of the reference product.
func (p *page) ending(pair string) {
	e, known := p.Endings[pair]
	switch {
	case !known:
	case e.At.IsZero():
		p.f("\tStatus: unknown: %s\n", e.Problem)
	case e.Days < 0:
		p.f("\tStatus: Expired, since %s\n", e.At.UTC().Format("2006-01-02 15:04:05"))
	default:
		p.f("\tStatus: Valid,   Days to expiration: %d (%s)\n", e.Days, e.At.UTC().Format("2006-01-02 15:04:05"))
	}
}
