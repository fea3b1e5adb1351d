package host

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"sluice/dataplane/api"
)

func TestObserve(t *testing.T) {
	a, b := net.HardwareAddr{2, 0, 0, 0, 0, 1}, net.HardwareAddr{2, 0, 0, 0, 0, 2}
	ip := net.IP{10, 2, 0, 11}
	rows := []struct {
		name            string
		state           int
		ip              net.IP
		mac             net.HardwareAddr
		gone            bool
		changed, failed bool
		known           int
	}{
		{"asked for", netlink.NUD_INCOMPLETE, ip, nil, false, false, false, 0},
		{"answered", netlink.NUD_REACHABLE, ip, a, false, true, false, 1},
		{"again", netlink.NUD_REACHABLE, ip, a, false, false, false, 1},
		{"stale is good enough", netlink.NUD_STALE, ip, a, false, false, false, 1},
		{"being checked", netlink.NUD_DELAY, ip, a, false, false, false, 1},
		{"being asked", netlink.NUD_PROBE, ip, a, false, false, false, 1},
		{"another card", netlink.NUD_REACHABLE, ip, b, false, true, false, 1},
		{"no answer", netlink.NUD_FAILED, ip, nil, false, true, true, 0},
		{"still none", netlink.NUD_FAILED, ip, nil, false, false, true, 0},
		{"removed", netlink.NUD_FAILED, ip, nil, true, false, false, 0},
		{"fixed", netlink.NUD_PERMANENT, ip, a, false, true, false, 1},
		{"removed while good", netlink.NUD_PERMANENT, ip, a, true, true, false, 0},
		{"multicast", netlink.NUD_NOARP, net.IP{224, 0, 0, 1}, a, false, false, false, 0},
		{"broadcast", netlink.NUD_NOARP, net.IP{10, 2, 0, 255}, a, false, false, false, 0},
		{"IPv6", netlink.NUD_REACHABLE, net.ParseIP("fe80::1"), a, false, false, false, 0},
		{"odd link address", netlink.NUD_REACHABLE, ip, a[:4], false, false, false, 0},
	}
	n := neighbors{}
	for _, row := range rows {
		changed, failed := n.observe(&netlink.Neigh{LinkIndex: 7, IP: row.ip, HardwareAddr: row.mac, State: row.state}, row.gone, time.Unix(0, 0))
		if changed != row.changed || failed != row.failed || len(n) != row.known {
			t.Errorf("%s: changed %v failed %v, %d known", row.name, changed, failed, len(n))
		}
	}
}

func TestListAndDue(t *testing.T) {
	n := neighbors{}
	now := time.Unix(1000, 0)
	add := func(link int, ip string, state int, at time.Time) {
		n.observe(&netlink.Neigh{LinkIndex: link, IP: net.ParseIP(ip), HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, byte(link)}, State: state}, false, at)
	}
	add(8, "10.2.0.12", netlink.NUD_REACHABLE, now)
	add(8, "10.2.0.11", netlink.NUD_STALE, now.Add(-time.Minute))
	add(7, "10.9.0.1", netlink.NUD_PERMANENT, now.Add(-time.Minute))
	add(99, "192.168.77.2", netlink.NUD_REACHABLE, now.Add(-time.Minute)) // on a link that is no twin
	want := []api.Neighbor{
		{Port: 0, IP: netip.MustParseAddr("10.9.0.1"), MAC: [6]byte{2, 0, 0, 0, 0, 7}},
		{Port: 1, IP: netip.MustParseAddr("10.2.0.11"), MAC: [6]byte{2, 0, 0, 0, 0, 8}},
		{Port: 1, IP: netip.MustParseAddr("10.2.0.12"), MAC: [6]byte{2, 0, 0, 0, 0, 8}},
	}
	if got := n.list(map[int]uint16{7: 0, 8: 1}); !slices.Equal(got, want) {
		t.Errorf("list %v", got)
	}
	old := now.Add(-30 * time.Second)
	due := n.due(old, now)
	if len(due) != 2 || !slices.Contains(due, neighborKey{8, netip.MustParseAddr("10.2.0.11")}) {
		t.Errorf("due: %v", due)
	}
	if again := n.due(old, now); len(again) != 0 {
		t.Errorf("due again at once: %v", again)
	}
}
