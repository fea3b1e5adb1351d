package seeds

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/dataplane/packet"
	"sluice/tests/lab/topology"
)

// forger is a host of the subnet that is no appliance.
var forger = [4]byte{192, 0, 2, 77}

// forged is a frame with an advert of version 3 for VIP1, which says a tenth of a second between two.
func forged(priority, ttl byte, src [4]byte) []byte {
	advert := []byte{0x31, 1, priority, 1, 0, 10, 0, 0, 192, 0, 2, 11}
	binary.LittleEndian.PutUint16(advert[6:], ^packet.Sum(advert, 0))
	return packet.Frame{Dst: [6]byte{1, 0, 0x5e, 0, 0, 18}, Src: [6]byte{2, 0, 0, 0, 0, 77}, SrcIP: src, DstIP: [4]byte{224, 0, 0, 18}, TOS: 0xc0, TTL: ttl,
		Proto: packet.ProtoVRRP, Payload: advert, Short: true}.Bytes()
}

// storm: 10,000 adverts a second come to the master of VIP1 and to a backup while a client asks. What is not to be believed is counted
// and ignored; a lesser priority that is to be believed makes nobody yield; requests are answered. How many are not depends on what
// else the machine does: its monitors wait 200 ms for an answer.
func storm(t *testing.T) {
	for _, row := range []struct {
		name  string
		frame []byte
		count string // under which NS1 counts it in stat vrID
	}{
		{"through a router", forged(255, 64, forger), "ttl"},
		{"from another subnet", forged(255, 255, [4]byte{198, 51, 100, 77}), "off-link"},
		{"from the master's address", forged(255, 255, [4]byte{192, 0, 2, 1}), "own-address"},
		{"of a lesser priority", forged(1, 255, forger), ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			asking := lab.Command("client", filepath.Join(lab.Bin, "sluice-lab"), "pulse", "-for", "4s", "-timeout", "5s", "http://"+topology.VRRPVIP(1)+"/")
			var told bytes.Buffer
			asking.Stdout = &told
			must(t, asking.Start())
			ports := []string{"p1", "p2"}
			if row.count == "own-address" {
				ports = ports[:1] // to the others this is their master, and nothing tells it from the real one
			}
			var storms []*exec.Cmd
			for _, port := range ports {
				c := lab.Command("sw1", filepath.Join(lab.Bin, "sluice-lab"), "send", "-n", "30000", "-every", "100us", port, hex.EncodeToString(row.frame))
				must(t, c.Start())
				storms = append(storms, c)
			}
			for _, c := range storms {
				must(t, c.Wait())
			}
			must(t, asking.Wait())
			var p topology.Pulse
			must(t, json.Unmarshal(told.Bytes(), &p))
			t.Logf("%d requests were answered, %d not; nobody was for %.0f ms at most", p.OK, p.Failed, p.Longest*1000)
			if p.OK == 0 {
				t.Error("no request was answered")
			}
			for n := 1; n <= 2; n++ {
				out, err := lab.VRRP(n).Shell("show vrID 1")
				must(t, err)
				if strings.Contains(out, "192.0.2.77") || strings.Contains(out, "198.51.100.77") {
					t.Errorf("NS%d heeds the forger:\n%s", n, out)
				}
			}
			if row.count != "" {
				out, err := lab.VRRP(1).Shell("stat vrID 1")
				must(t, err)
				if !regexp.MustCompile(`Ignored: ` + row.count + ` +\d{4}`).MatchString(out) { // thousands; some may find no room
					t.Errorf("NS1 does not count %s:\n%s", row.count, out)
				}
			}
		})
	}
	must(t, lab.VRRPSettled())
}
