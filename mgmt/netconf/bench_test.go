package netconf

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkTenThousand edits, commits and reads 10,000 servers with a service each.
func BenchmarkTenThousand(b *testing.B) {
	var rows strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&rows, "<server><name>w%d</name><ip-address>10.%d.%d.%d</ip-address></server>", i, 1+i/62500, i/250%250, i%250+1)
	}
	for i := range 10000 {
		fmt.Fprintf(&rows, "<service><name>s%d</name><server>w%d</server><service-type>TCP</service-type><port>80</port></service>", i, i)
	}
	edit := editing("candidate", rows.String())
	for b.Loop() {
		h := newBench(b)
		c := h.login("nsroot")
		c.ok(edit)
		c.ok("<commit/>")
		if got := c.ask("<get-config><source><running/></source></get-config>"); strings.Count(got, "<service>") != 10000 {
			b.Fatal("rows are missing")
		}
	}
}
