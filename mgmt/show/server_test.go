package show

import (
	"net/netip"
	"strings"
	"testing"
	"time"
)

// TestServersByName: what is told of servers whose addresses are those of their names.
func TestServersByName(t *testing.T) {
	v := seen(t)
	v.Config = configure(t, site+`
add server good www.example.com
add server stale old.example.com -domainResolveRetry 60
add server never none.example.com
add server fresh new.example.com
add server ours me.example.com
add service web-good good HTTP 80
add service web-never never HTTP 80
add service web-ours ours HTTP 80
bind lb vserver web web-good
bind lb vserver web web-never`)
	at := v.Now.Add(-40 * time.Second)
	ip := func(s string) []netip.Addr { return []netip.Addr{netip.MustParseAddr(s)} }
	v.State.Resolved("good", "www.example.com", append(ip("10.2.0.32"), ip("10.2.0.31")...), "", at, v.Now.Add(20*time.Second))
	v.State.Resolved("stale", "old.example.com", ip("10.2.0.33"), "", at, at)
	v.State.Resolved("stale", "old.example.com", nil, "the name does not exist", at, v.Now.Add(1500*time.Millisecond))
	v.State.Resolved("never", "none.example.com", nil, "name server 10.2.0.53 does not answer: timeout", at, v.Now.Add(time.Second))
	v.State.Resolved("ours", "me.example.com", ip("10.1.0.5"), "", at, v.Now.Add(time.Second))
	var got strings.Builder
	for _, line := range []string{"show server", "show server good", "show service web-good", "show service web-never", "show service web-ours", "show lb vserver web"} {
		got.WriteString("> " + line + "\n" + answer(t, line, v))
	}
	golden(t, "server-names", got.String())
}
