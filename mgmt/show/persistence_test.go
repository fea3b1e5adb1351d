package show

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/api"
)

func TestPersistence(t *testing.T) {
	v := seen(t)
	v.Config = configure(t, site+"set lb vserver web -persistenceType SRCIPDESTIP -timeout 10 -persistMask 255.255.255.0 -persistenceBackup SOURCEIP -soMethod CONNECTION -soThreshold 9 -soPersistence ENABLED -soPersistenceTimeOut 3\n")
	v.Stats.Vservers[0].Sessions = 3
	src, dst := netip.MustParseAddr("10.1.0.0"), netip.MustParseAddr("10.1.0.50")
	v.Sessions = &api.Sessions{Limit: 1024, List: []api.Session{
		{Kind: api.PersistSourceIP, Src: src, Vserver: "web", Service: "web-s2", Left: 119500 * time.Millisecond},
		{Kind: api.PersistSourceDestinationIP, Src: netip.MustParseAddr("192.0.2.0"), Dst: dst, Vserver: "web", Service: "web-s1", Left: 10 * time.Minute},
		{Kind: api.PersistSourceDestinationIP, Src: src, Dst: dst, Vserver: "web", Service: "web-s2", Left: 300 * time.Millisecond},
		{Src: src, Vserver: "web", Service: "idle", Left: 90 * time.Second},
		{Kind: api.PersistDestinationIP, Dst: dst, Vserver: "idle", Service: "gone", Left: time.Minute}}}
	var got strings.Builder
	for _, line := range []string{"show lb persistentSessions", "show lb vserver web", "stat lb vserver web"} {
		got.WriteString("> " + line + "\n" + answer(t, line, v))
	}
	golden(t, "persistence", got.String())
	v.Sessions.Next = 77
	if got := answer(t, "show lb persistentSessions", v); !strings.HasSuffix(got, "There are more than these; name a vserver to see its sessions alone\n") {
		t.Errorf("of a part: %s", got)
	}
	if got := answer(t, "show lb persistentSessions web", &View{Config: v.Config, Sessions: &api.Sessions{}}); got != "No persistent sessions\n" {
		t.Errorf("of none: %q", got)
	}
	if got := answer(t, "show lb persistentSessions", &View{Config: v.Config, Without: errors.New("why")}); got != "ERROR: why\n" {
		t.Errorf("without a dataplane: %q", got)
	}
}
