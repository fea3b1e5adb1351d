package show

import (
	"cmp"
	"fmt"
	"math"

	"sluice/vendor-config/schema"
)

func showNTPServer(p *page) error {
	rows, one, err := chosen[schema.NTPServer](p)
	if err != nil {
		return err
	}
	for i, s := range rows {
		p.number(i, one)
		p.f("NTP Server: %s\tMinimum poll: %d (%d sec)\tMaximum poll: %d (%d sec)\tPreferred: %s", s.Server, s.Minpoll, 1<<s.Minpoll, s.Maxpoll, 1<<s.Maxpoll, s.Preferred)
		if s.Key != 0 {
			p.f("\tKey: %d", s.Key)
		}
		p.f("\n")
	}
	return nil
}

func showNTPSync(p *page) error {
	p.f("NTP sync: %s\n", schema.Single[schema.NTPSync](p.Config).State)
	return nil
}

// showNTPStatus has the columns that operators know of ntpq.
func showNTPStatus(p *page) error {
	p.f("NTP sync: %s\n", schema.Single[schema.NTPSync](p.Config).State)
	c := p.Clock
	if c.Off {
		p.f("Clock: follows nobody\n")
		return nil
	}
	switch {
	case c.Problem != "":
		p.f("Clock: follows nobody: %s\n", c.Problem)
	case !c.Synchronized:
		p.f("Clock: not synchronized: no server has answered long enough, or they do not agree\n")
	default:
		p.f("Clock: synchronized to %s, stratum %d, %s\n", c.Reference, c.Stratum, apart(c.Ahead))
	}
	if !c.Adjust {
		p.f("The clock is only watched and not set: see ntp.adjust in the settings of management\n")
	}
	for _, s := range schema.All[schema.NTPServer](p.Config) {
		if why := c.Unresolved[s.Server]; why != "" {
			p.f("%s does not resolve: %s\n", s.Server, why)
		}
	}
	if len(c.Sources) == 0 {
		return nil
	}
	p.f("\n%-2s%-18s%4s%7s%7s%8s%14s%12s\n", "", "remote", "st", "poll", "reach", "when", "offset", "error")
	for _, s := range c.Sources {
		when := "-"
		if s.Reach != 0 {
			when = fmt.Sprint(int(s.Since.Seconds()))
		}
		p.f("%-2s%-18s%4d%7d%7o%8s%14.6f%12.6f\n", cmp.Or(s.State, "?"), s.Address, s.Stratum, 1<<min(max(s.Poll, 0), 30), s.Reach, when, s.Ahead, s.Error)
	}
	p.f("\n* is followed, + agrees, - is not needed, x does not agree, ~ is unsteady, ? has not answered; offset: seconds that this clock is ahead\n")
	return nil
}

// apart says by how much the clock is wrong.
func apart(ahead float64) string {
	word := "ahead"
	if ahead < 0 {
		word = "behind"
	}
	return fmt.Sprintf("%.6f seconds %s", math.Abs(ahead), word)
}
