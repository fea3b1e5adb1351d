package compile

import (
	"testing"

	"sluice/dataplane/api"
)

// TestTimeouts: what `set ns timeout` says reaches the dataplane, and vservers and services that have no timeout of their own.
func TestTimeouts(t *testing.T) {
	usual := api.Timeouts{Opening: 4, HalfClosed: 10, Closed: 30, Sweep: 60}
	for _, row := range []struct {
		name, lines    string
		want           api.Timeouts
		client, server uint32 // of a TCP vserver and service
	}{
		{"defaults", "", usual, 9000, 9000},
		{"all of it", "set ns timeout -zombie 5 -nontcpZombie 3 -halfclose 7 -ReducedFinTimeOut 8 -ReducedRstTimeOut 9 -NewConnIdleTimeOut 11 -tcpClient 77 -tcpServer 88",
			api.Timeouts{Opening: 11, HalfClosed: 7, Closed: 8, Reset: 9, Sweep: 3}, 77, 88},
		{"others", "set ns timeout -httpClient 77 -anyServer 88", usual, 9000, 9000},
		{"unset", "set ns timeout -halfclose 7 -tcpClient 77\nunset ns timeout -halfclose -tcpClient", usual, 9000, 9000},
	} {
		c := configure(t, "add ns ip 10.2.0.5 255.255.255.0 -type SNIP\nadd server s 10.2.0.11\nadd service a s TCP 80 -svrTimeout 0\n"+
			"add lb vserver v TCP 10.1.0.50 80 -cltTimeout 0\nbind lb vserver v a\nadd lb vserver own TCP 10.1.0.50 81 -cltTimeout 33\n"+row.lines)
		tab, err := Tables(c, site(c))
		if err != nil {
			t.Fatal(err)
		}
		if got := tab.Config.Timeouts; got != row.want {
			t.Errorf("%s: the dataplane is told %+v, want %+v", row.name, got, row.want)
		}
		if got := tab.Config.Services[0].ServerTimeout; got != row.server {
			t.Errorf("%s: the service has %d s, want %d", row.name, got, row.server)
		}
		for _, v := range tab.Config.Vservers {
			if want := map[string]uint32{"v": row.client, "own": 33}[v.Name]; v.ClientTimeout != want {
				t.Errorf("%s: vserver %s has %d s, want %d", row.name, v.Name, v.ClientTimeout, want)
			}
		}
	}
}
