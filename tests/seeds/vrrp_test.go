package seeds

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/packet"
	"sluice/tests/lab/topology"
)

// Seed 002: three appliances that share four VIPs, in the topology vrrp3.

const vmac1 = "00:00:5e:00:01:01" // of VIP1

// TestVRRP: the scenario of the document, then what may go wrong.
func TestVRRP(t *testing.T) {
	err := topology.Beside(&lab, "vrrp3", func() error { return lab.VRRPSettled() }, func() {
		t.Run("TwelveSteps", twelveSteps)
		t.Run("Backup", backupTraffic)
		t.Run("Takeover", takeovers)
		t.Run("OneAnswer", oneAnswer)
		t.Run("Partition", partition)
		t.Run("Storm", storm)
		t.Run("Keepalived", keepalived)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// in runs a command in a node, which must succeed, and returns its output.
func in(t *testing.T, node, line string) string {
	t.Helper()
	out, err := lab.Command(node, strings.Fields(line)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %s: %v: %s", node, line, err, out)
	}
	return string(out)
}

// sniff captures frames at a device until the function that it returns is called, which gives them as Debian's tcpdump tells them,
// a line each.
func sniff(t *testing.T, node, device string, filter ...string) (stop func() []string) {
	t.Helper()
	file := lab.Path(fmt.Sprintf("sniff-%s-%s", node, device))
	os.Remove(file)
	cmd := lab.Command(node, append([]string{"tcpdump", "-i", device, "-w", file, "-U", "--immediate-mode"}, filter...)...)
	must(t, cmd.Start())
	must(t, topology.Eventually(30*time.Second, func() error { _, err := os.Stat(file); return err })) // it listens by then
	return func() []string {
		t.Helper()
		time.Sleep(200 * time.Millisecond) // what has happened is on its way to the file
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
		out, err := exec.Command("tcpdump", "-enn", "-tt", "-r", file).Output()
		if err != nil {
			t.Fatalf("tcpdump -r: %v", err)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
}

// like are the lines that fit all expressions.
func like(lines []string, expressions ...string) (out []string) {
next:
	for _, l := range lines {
		for _, e := range expressions {
			if !regexp.MustCompile(e).MatchString(l) {
				continue next
			}
		}
		out = append(out, l)
	}
	return out
}

// macOf is the MAC address of a device.
func macOf(t *testing.T, node, device string) string {
	t.Helper()
	return strings.TrimSpace(in(t, node, "cat /sys/class/net/"+device+"/address"))
}

// get asks VIP n from the client, which must be answered.
func get(t *testing.T, n int) {
	t.Helper()
	must(t, topology.Eventually(30*time.Second, func() error {
		out, err := lab.Command("client", "curl", "-s", "-m", "2", "http://"+topology.VRRPVIP(n)+"/").CombinedOutput()
		if err != nil {
			return fmt.Errorf("VIP%d does not answer: %w %s", n, err, out)
		}
		return nil
	}))
}

func twelveSteps(t *testing.T) {
	vip, ns1, router := topology.VRRPVIP(1), macOf(t, "ns1", "da"), macOf(t, "router", "r1")
	in(t, "router", "ip neigh flush dev r1")
	atNS1, atServers := sniff(t, "sw1", "p1"), sniff(t, "sw2", "p1")
	get(t, 1) // 1: a client asks for VIP1
	front, back := atNS1(), atServers()
	for _, step := range []struct {
		what        string
		lines       []string
		expressions []string
	}{
		{"2: the router asks for VIP1 by broadcast", front, []string{router + " > ff:ff:ff:ff:ff:ff", "who-has " + vip + " "}},
		{"3: NS1 answers, from the virtual MAC and with it", front, []string{vmac1 + " > " + router, "Reply " + vip + " is-at " + vmac1}},
		{"6: the request goes to the virtual MAC", front, []string{router + " > " + vmac1, topology.VRRPClient + `\.\d+ > ` + vip + `\.80: Flags \[S\]`}},
		{"7: NS1 opens a connection from its SNIP to a server", back, []string{`198.51.100.101\.\d+ > 198.51.100.[12]\.80: Flags \[S\]`}},
		{"8: the server answers the SNIP", back, []string{`198.51.100.[12]\.80 > 198.51.100.101\.\d+: Flags \[S\.\]`}},
		{"9: the answer comes from NS1's own MAC and from VIP1", front, []string{ns1 + " > " + router, vip + `\.80 > ` + topology.VRRPClient, `Flags \[P\.\]`}},
	} {
		if len(like(step.lines, step.expressions...)) == 0 {
			t.Errorf("step %s: there is no such frame %q among\n%s", step.what, step.expressions, strings.Join(step.lines, "\n"))
		}
	}
	if wrong := like(front, vmac1+" > ", "ethertype IPv4", vip+`\.80 > `); len(wrong) != 0 {
		t.Errorf("step 9: data leaves with the virtual MAC: %s", wrong[0])
	}
	learned := func(port string) func() error {
		return func() error {
			if out := in(t, "sw1", "bridge fdb show dev "+port); !strings.Contains(out, vmac1) {
				return fmt.Errorf("the switch has not learned %s at %s:\n%s", vmac1, port, out)
			}
			return nil
		}
	}
	must(t, learned("p1")()) // 4
	knows := func() {        // 5
		t.Helper()
		if out := in(t, "router", "ip neigh show "+vip); !strings.Contains(out, vmac1) {
			t.Errorf("step 5: the router knows %s", out)
		}
	}
	knows()
	atNS3 := sniff(t, "sw1", "p3", "arp")
	must(t, lab.VRRP(1).Kill("mgmt", "dataplane")) // 10
	must(t, lab.Plays(3, 1, "MASTER"))
	must(t, lab.Plays(2, 2, "MASTER"))
	must(t, topology.Eventually(30*time.Second, learned("p3"))) // 12
	get(t, 1)
	knows()
	if got := atNS3(); len(like(got, vmac1+" > ff:ff:ff:ff:ff:ff", "who-has "+vip+` (\(\S+\) )?tell `+vip)) == 0 {
		t.Errorf("step 11: NS3 does not announce VIP1:\n%s", strings.Join(got, "\n"))
	}
	for _, p := range []string{"mgmt", "dataplane"} {
		must(t, lab.VRRP(1).Supervise(p))
	}
	must(t, lab.VRRPSettled()) // NS1 comes back and takes over
	must(t, learned("p1")())
	get(t, 1)
}

// inject sends a SYN of the client for VIP1, from a port, to NS2, which is backup.
func inject(t *testing.T, port uint16) {
	t.Helper()
	mac, err := net.ParseMAC(macOf(t, "router", "r1"))
	must(t, err)
	f := packet.Frame{Dst: [6]byte{0, 0, 0x5e, 0, 1, 1}, Src: [6]byte(mac), SrcIP: [4]byte{203, 0, 113, 10}, DstIP: [4]byte{192, 0, 2, 11}, SrcPort: port, DstPort: 80, Flags: packet.SYN}
	out, err := lab.Command("sw1", filepath.Join(lab.Bin, "sluice-lab"), "send", "p2", hex.EncodeToString(f.Bytes())).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// counted is a counter of NS2 in stat ns.
func counted(t *testing.T, name string) (n int) {
	t.Helper()
	out, err := lab.VRRP(2).Shell("stat ns")
	must(t, err)
	if m := regexp.MustCompile(regexp.QuoteMeta(name) + `\s+\S+\s+(\d+)`).FindStringSubmatch(out); m != nil {
		fmt.Sscan(m[1], &n)
	}
	return n
}

// backupTraffic: a frame that comes to a backup, under the four settings.
func backupTraffic(t *testing.T) {
	ns2 := lab.VRRP(2)
	defer func() {
		for _, line := range []string{"unset vrID 1 -sharing", "set vrIDParam -sendToMaster ENABLED"} {
			_, err := ns2.Shell(line)
			must(t, err)
		}
	}()
	for i, row := range []struct {
		sharing, send string
		reason        string // under which NS2 counts it
	}{
		{"DISABLED", "DISABLED", "drop-backup-vip"},
		{"ENABLED", "DISABLED", "forward-new-flow"},
		{"DISABLED", "ENABLED", "forward-to-master"},
		{"ENABLED", "ENABLED", "forward-new-flow"},
	} {
		t.Run("sharing "+row.sharing+" sendToMaster "+row.send, func(t *testing.T) {
			_, err := ns2.Shell("set vrID 1 -sharing " + row.sharing)
			must(t, err)
			_, err = ns2.Shell("set vrIDParam -sendToMaster " + row.send)
			must(t, err)
			port := 40000 + uint16(i)
			before := counted(t, row.reason)
			front, back := sniff(t, "sw1", "p2", "host", topology.VRRPClient), sniff(t, "sw2", "p2", "tcp", "and", "src", "198.51.100.102")
			toMaster := row.reason == "forward-to-master"
			inject(t, port)
			must(t, topology.Eventually(30*time.Second, func() error {
				n := counted(t, row.reason) - before
				if n == 0 && toMaster {
					inject(t, port) // those before it have waited for the master's MAC address and gone as well
				}
				if n == 0 || n > 1 && !toMaster {
					return fmt.Errorf("%s is %d higher, want 1", row.reason, n)
				}
				return nil
			}))
			lines, servers := front(), back()
			own := like(servers, `198.51.100.102\.([1-5]\d{4}|\d{4}) >`, `Flags \[S\]`) // source ports below 60000 are the dataplane's
			served := row.reason == "forward-new-flow"
			if served != (len(own) == 1) {
				t.Errorf("%d connections were opened to servers", len(own))
			}
			ns1 := macOf(t, "ns1", "da")
			sent := like(lines, macOf(t, "ns2", "da")+" > "+ns1, fmt.Sprintf(`%s\.%d > %s\.80: Flags \[S\]`, topology.VRRPClient, port, topology.VRRPVIP(1)))
			if toMaster != (len(sent) > 0) {
				t.Errorf("%d frames were sent to the master's MAC %s:\n%s", len(sent), ns1, strings.Join(lines, "\n"))
			}
		})
	}
}

// takeovers: in each case NS3 takes VIP1 over, requests are answered again, and NS1 takes it back. How long it takes is what
// `make bench B=vrrp` measures.
func takeovers(t *testing.T) {
	for _, k := range topology.VRRPTakeovers() {
		t.Run(k.Name, func(t *testing.T) {
			p, err := lab.VRRPMeasure(&k)
			must(t, err)
			t.Logf("nobody answered for %.0f ms; by the formula %v (%s)", p.Longest*1000, k.Formula, k.Because)
			if p.OK == 0 {
				t.Error("no request was answered")
			}
		})
	}
}

// oneAnswer: while the master loses its management, its dataplane or its link and another one takes over, a request for VIP1 is never
// answered by both: the last answer of the old master comes before the first of the new one.
func oneAnswer(t *testing.T) {
	var router [6]byte
	mac, err := net.ParseMAC(macOf(t, "router", "r1"))
	must(t, err)
	copy(router[:], mac)
	ask := packet.Frame{Dst: [6]byte{255, 255, 255, 255, 255, 255}, Src: router}.ARP(packet.ARPRequestOp, router, [4]byte{192, 0, 2, 254}, [6]byte{}, [4]byte{192, 0, 2, 11})
	for _, k := range topology.VRRPTakeovers() {
		if !slices.Contains([]string{"mgmt-killed", "dataplane-killed", "link-down"}, k.Name) {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			old, next := sniff(t, "sw1", "p1", "arp"), sniff(t, "sw1", "p3", "arp")
			cmd := lab.Command("router", filepath.Join(lab.Bin, "sluice-lab"), "send", "-n", "400", "-every", "10ms", "r1", hex.EncodeToString(ask))
			must(t, cmd.Start())
			time.Sleep(time.Second) // of answers by NS1
			must(t, k.Begin(lab))
			must(t, lab.Plays(3, 1, "MASTER"))
			must(t, cmd.Wait())
			a, b := like(old(), "Reply "+topology.VRRPVIP(1)+" is-at"), like(next(), "Reply "+topology.VRRPVIP(1)+" is-at")
			must(t, k.End(lab))
			if a = like(a, vmac1+" > "); len(a) == 0 || len(b) == 0 {
				t.Fatalf("NS1 answered %d times and NS3 %d times", len(a), len(b))
			}
			// What p1 sees of NS3's answers goes to the router by p0 and not there: the switch knows where the router is.
			last, first := stamp(a[len(a)-1]), stamp(b[0])
			if last >= first {
				t.Errorf("NS1 answered last at %.3f, after NS3's first answer at %.3f", last, first)
			}
			t.Logf("NS1 was silent for %.0f ms before NS3 answered", (first-last)*1000)
			must(t, lab.VRRPSettled())
		})
	}
}

func stamp(line string) (s float64) {
	fmt.Sscan(line, &s)
	return s
}

// partition: nodes of equal priority that do not hear each other are all masters; ten seconds later, when they do, the one with the
// highest address is.
func partition(t *testing.T) {
	for n := 1; n <= topology.VRRPNodes; n++ {
		_, err := lab.VRRP(n).Shell("set vrID 1 -priority 150")
		must(t, err)
	}
	for n := 1; n <= topology.VRRPNodes; n++ { // isolated ports of a bridge reach none but those that are not
		in(t, "sw1", fmt.Sprintf("bridge link set dev p%d isolated on", n))
	}
	for n := 1; n <= topology.VRRPNodes; n++ {
		must(t, lab.Plays(n, 1, "MASTER"))
	}
	time.Sleep(10 * time.Second)
	for n := 1; n <= topology.VRRPNodes; n++ {
		must(t, lab.Plays(n, 1, "MASTER"))
	}
	for n := 1; n <= topology.VRRPNodes; n++ {
		in(t, "sw1", fmt.Sprintf("bridge link set dev p%d isolated off", n))
	}
	must(t, lab.Plays(1, 1, "BACKUP"))
	must(t, lab.Plays(2, 1, "BACKUP"))
	must(t, lab.Plays(3, 1, "MASTER"))
	get(t, 1)
	for n, p := range map[int]int{1: 210, 2: 110, 3: 160} {
		_, err := lab.VRRP(n).Shell(fmt.Sprintf("set vrID 1 -priority %d", p))
		must(t, err)
	}
	must(t, lab.VRRPSettled())
}
