package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/packet"
	"sluice/tests/lab/topology"
)

// TestBrokenFrames: random, cut and mutated frames on the real wire leave every packet buffer where it was, and the VIP works.
func TestBrokenFrames(t *testing.T) {
	mustSettle(t)
	get(t, 3)
	buffers := figures(t)["Packet buffers"]
	w := dial(t, "client", "c0")
	adc := macOf(t, "adc", "da")
	rng := rand.New(rand.NewPCG(1, 2))
	n := 5000
	if full() {
		n = 50000
	}
	for range n {
		b := make([]byte, 15+rng.IntN(1485))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		if rng.IntN(4) > 0 {
			copy(b, adc[:])
		}
		if rng.IntN(2) > 0 {
			b[12], b[13], b[14] = 8, 0, 0x45
		}
		w.send(b)
	}
	good := seeds(t, w)
	for i := range n {
		b := append([]byte(nil), good[i%len(good)]...)
		for range 1 + rng.IntN(4) {
			b[12+rng.IntN(len(b)-12)] = byte(rng.Uint32())
		}
		w.send(b[:14+rng.IntN(len(b)-13)])
	}
	for _, g := range good {
		for k := 14; k < len(g); k++ {
			w.send(g[:k])
		}
	}
	buffersCome(t, buffers)
	if r := get(t, 30); r.Failed != 0 {
		t.Errorf("after broken frames %d of 30 requests failed: %v", r.Failed, r.Errors)
	}
	if n := figures(t)["undecided"]; n != 0 {
		t.Errorf("%d packets were undecided", n)
	}
}

// seeds are frames that the dataplane does something about.
func seeds(t *testing.T, w *wire) [][]byte {
	t.Helper()
	syn := toVIP(t, w, 5000, packet.SYN)
	tagged := syn
	tagged.Tags = []uint16{7}
	twice := syn
	twice.Tags = []uint16{7, 8}
	udp := syn
	udp.Proto, udp.DstIP, udp.DstPort, udp.Payload = packet.ProtoUDP, address(topology.UDPVIP), 7, []byte("question")
	ping := syn
	ping.Proto, ping.ICMPType, ping.Payload = packet.ProtoICMP, packet.ICMPEcho, []byte{0, 1, 0, 1, 9, 9, 9, 9}
	options := syn
	options.IPOptions = []byte{7, 7, 4, 0, 0, 0, 0, 0}
	fragment := syn
	fragment.Frag = 0x2000
	late := syn
	late.TTL = 1
	local := ping
	local.DstIP = address(topology.ClientNIP)
	about := packet.Frame{SrcIP: address(topology.VIP), DstIP: address(topology.ClientIP), SrcPort: 80, DstPort: 5000, Short: true}.Bytes()[packet.EtherLen:]
	unreachable := syn
	unreachable.Proto, unreachable.ICMPType, unreachable.ICMPCode = packet.ProtoICMP, packet.ICMPUnreachable, 4
	unreachable.Payload = append([]byte{0, 0, 5, 0x78}, about...)
	arp := packet.Frame{Dst: [6]byte{255, 255, 255, 255, 255, 255}, Src: w.MAC}.ARP(1, w.MAC, address(topology.ClientIP), [6]byte{}, address(topology.VIP))
	var out [][]byte
	for _, f := range []packet.Frame{syn, tagged, twice, udp, ping, options, fragment, late, local, unreachable} {
		out = append(out, f.Bytes())
	}
	return append(out, arp)
}

// TestTags: what comes with a VLAN tag is answered with it, though the kernel takes tags out of frames on their way to a socket.
func TestTags(t *testing.T) {
	mustSettle(t)
	w := dial(t, "client", "c0")
	const tag = 3<<13 | 7
	syn := toVIP(t, w, 5001, packet.SYN)
	syn.Tags = []uint16{tag}
	ping := syn
	ping.Proto, ping.ICMPType, ping.Payload = packet.ProtoICMP, packet.ICMPEcho, []byte{0, 1, 0, 1}
	arp := packet.Frame{Dst: [6]byte{255, 255, 255, 255, 255, 255}, Src: w.MAC, Tags: syn.Tags}.
		ARP(1, w.MAC, address(topology.ClientIP), [6]byte{}, address(topology.VIP))
	for _, row := range []struct {
		name  string
		frame []byte
		fits  func(ether uint16, l3 []byte) bool
	}{
		{"ARP", arp, func(ether uint16, l3 []byte) bool {
			return ether == packet.EtherARP && packet.ARPv4(l3).Op() == 2 && packet.ARPv4(l3).SenderIP() == address(topology.VIP)
		}},
		{"ping", ping.Bytes(), func(ether uint16, l3 []byte) bool {
			return ether == packet.EtherIPv4 && packet.IPv4(l3).Src() == address(topology.VIP) && packet.IPv4(l3).Proto() == packet.ProtoICMP
		}},
	} {
		if !w.send(row.frame) {
			t.Fatalf("%s: the kernel did not take the frame", row.name)
		}
		f := w.hear(3*time.Second, func(f packet.Ether) bool { return row.fits(f.Split()) })
		if f == nil {
			t.Errorf("%s: no answer", row.name)
		} else if got, ok := f.Tag(); !ok || got != tag {
			t.Errorf("%s: the answer has the tag %#x (%v), want %#x", row.name, got, ok, tag)
		}
	}
}

// download fetches a file of so many MB in the background at 4 MB a second; the function it returns waits and compares.
func download(t *testing.T, name string, mb int64) func() {
	t.Helper()
	file := lab.Path("www/" + name)
	want := bigFile(t, file, mb<<20)
	cmd := client("sh", "-c", "curl -sS -m 90 --limit-rate 4M http://"+topology.VIP+"/"+name+" | sha256sum")
	cmd.Stderr = os.Stderr
	sum := make(chan string, 1)
	go func() { b, _ := cmd.Output(); sum <- string(b) }()
	time.Sleep(500 * time.Millisecond)
	return func() {
		t.Helper()
		defer os.Remove(file)
		if got := <-sum; !strings.HasPrefix(got, want) {
			t.Errorf("the download %s has SHA-256 %s, want %s", name, got, want)
		}
	}
}

// settings changes dataplane.yaml and has the dataplane start with it until the test ends.
func settings(t *testing.T, old, new string) {
	t.Helper()
	file := lab.Path("adc/dataplane.yaml")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(good), old, new, 1)
	if changed == string(good) {
		t.Fatalf("dataplane.yaml has no %q:\n%s", old, good)
	}
	restart := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		kill(t, lab.Basic(), "dataplane")
		time.Sleep(300 * time.Millisecond)
		if err := lab.Basic().Ready(); err != nil {
			t.Fatal(err)
		}
		mustSettle(t)
	}
	t.Cleanup(func() { restart(string(good)) })
	restart(changed)
}

// synFlood sends n SYNs to the web VIP from addresses that nobody has.
func synFlood(t *testing.T, w *wire, n int) {
	t.Helper()
	f := toVIP(t, w, 1024, packet.SYN)
	for i := range n {
		f.SrcIP = [4]byte{172, 20, byte(i >> 8), byte(i)}
		f.SrcPort = uint16(1024 + i>>16)
		if !w.send(f.Bytes()) {
			t.Fatalf("SYN %d: the kernel does not take it", i)
		}
	}
}

// TestSYNFlood: when the flow table is full, new flows are refused under a name and old ones go on.
func TestSYNFlood(t *testing.T) {
	settings(t, "flows: 262144", "flows: 4096")
	get(t, 3)
	// However slowly the flood comes on a busy machine, its first flows are still there when the table is full.
	shell(t, "set ns timeout -NewConnIdleTimeOut 120")
	defer shell(t, "unset ns timeout -NewConnIdleTimeOut")
	buffers := figures(t)["Packet buffers"]
	wait := download(t, "calm", 12)
	n := 10000
	if full() {
		n = 100000
	}
	synFlood(t, dial(t, "client", "c0"), n)
	now := figures(t)
	if now["drop-flow-table-full"] == 0 || now["Flow entries"] > 4096 || now["Flow entries"] < 4000 {
		t.Errorf("after a flood of SYNs %d were refused and %d entries are in use, want some and 4096", now["drop-flow-table-full"], now["Flow entries"])
	}
	wait()
	buffersCome(t, buffers)
}

// TestServerMoves: a server whose address is suddenly at another MAC is found again, and flows to it go on.
func TestServerMoves(t *testing.T) {
	mustSettle(t)
	old := macOf(t, "s1", "e0")
	move := func(mac string) {
		t.Helper()
		if out, err := exec.Command("ip", "-n", lab.NS("s1"), "link", "set", "e0", "address", mac).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	move("02:00:00:00:51:01")
	defer func() {
		move(net.HardwareAddr(old[:]).String())
		mustSettle(t)
		waitServed(t, "s1")
	}()
	waitServed(t, "s1")
}

// waitServed waits until 30 requests in a row succeed and the server has its share.
func waitServed(t *testing.T, server string) {
	t.Helper()
	begin := time.Now()
	if err := topology.Eventually(30*time.Second, func() error {
		if r := get(t, 30, "-timeout", "1s"); r.Failed != 0 || r.By[server] != 10 {
			return fmt.Errorf("%d of 30 failed %v, served by %v", r.Failed, r.Errors, r.By)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s has its share again after %.1f s", server, time.Since(begin).Seconds())
}

// TestLinkFlaps: the servers' link goes down and comes back, and so does the traffic.
func TestLinkFlaps(t *testing.T) {
	mustSettle(t)
	for _, state := range []string{"down", "up"} {
		if out, err := exec.Command("ip", "-n", lab.NS("sw"), "link", "set", "p0", state).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		time.Sleep(time.Second)
	}
	waitServed(t, "s2")
}

// TestCommitsUnderLoad: a change of configuration every 100 ms harms neither a download nor new connections.
func TestCommitsUnderLoad(t *testing.T) {
	mustSettle(t)
	wait := download(t, "commits", 16)
	load := background(t, "-n", "120", "-rate", "40", "http://"+topology.VIP+"/")
	var script strings.Builder
	for i := range 30 {
		fmt.Fprintf(&script, "add lb vserver extra HTTP 10.1.0.60 %d\nbind lb vserver extra web-s1 -weight 3\nrm lb vserver extra\n", 1000+i)
	}
	script.WriteString("rm ns ip 10.1.0.60\n")
	if out, err := lab.Basic().Script(script.String()); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if r := load(); r.Failed != 0 || r.OK != 120 {
		t.Errorf("new connections under commits: %d failed %v", r.Failed, r.Errors)
	}
	wait()
}

// TestPartialChecksums: a client that leaves TCP checksums to its network card is served: they are completed and counted.
func TestPartialChecksums(t *testing.T) {
	mustSettle(t)
	offload := func(state string) {
		t.Helper()
		if out, err := client("ethtool", "-K", "c0", "tx", state, "tso", "off", "gso", "off").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	offload("on")
	defer offload("off")
	before := figures(t)["checksum-completed"]
	if r := get(t, 30); r.Failed != 0 {
		t.Errorf("%d of 30 requests with partial checksums failed: %v", r.Failed, r.Errors)
	}
	if n := figures(t)["checksum-completed"] - before; n < 60 {
		t.Errorf("%d checksums were completed, want at least two a request", n)
	}
}

// TestPathMTU: a client behind a smaller link gets a download: the router's word about it reaches the server through the NAT.
func TestPathMTU(t *testing.T) {
	mustSettle(t)
	mtu := func(n string) {
		t.Helper()
		if out, err := exec.Command("ip", "-n", lab.NS("client"), "link", "set", "c0", "mtu", n).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	mtu("1300")
	defer mtu("1500")
	download(t, "narrow", 4)()
}

// TestHalfClose: a client that has said all it has to say still gets the whole answer.
func TestHalfClose(t *testing.T) {
	mustSettle(t)
	file := lab.Path("www/half")
	want := bigFile(t, file, 20<<20)
	defer os.Remove(file)
	if err := lab.Start("s1", "late", filepath.Join(lab.Bin, "sluice-lab"), "late-answer", "0.0.0.0:9000", file); err != nil {
		t.Fatal(err)
	}
	defer lab.Stop("late")
	shell(t, "add service late s1 TCP 9000")
	defer shell(t, "rm service late")
	shell(t, "add lb vserver late TCP 10.1.0.54 9000")
	defer shell(t, "rm ns ip 10.1.0.54")
	defer shell(t, "rm lb vserver late")
	shell(t, "bind lb vserver late late")
	waitState(t, "late", "UP", 20*time.Second)
	out, err := client("sh", "-c", "echo question | timeout 30 nc -N 10.1.0.54 9000 | sha256sum").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("after the client's half-close: %v %s, want %s", err, out, want)
	}
}
