package expr

import (
	"errors"
	"strings"
	"testing"
)

// facts of a packet from 10.1.2.3:40000 to 192.0.2.9, by VLAN 7.
func packetFacts(proto, port uint64) *Facts {
	f := &Facts{SourceIP: 0x0a010203, DestIP: 0xc0000209, Protocol: proto, TCPSource: Missing, TCPDest: Missing, UDPSource: Missing, UDPDest: Missing, VLAN: 7}
	switch proto {
	case 6:
		f[TCPSource], f[TCPDest] = 40000, port
	case 17:
		f[UDPSource], f[UDPDest] = 40000, port
	}
	return f
}

func TestMeaning(t *testing.T) {
	for _, row := range []struct {
		text          string
		tcp, udp, gre bool // to port 80, to port 53, without ports
	}{
		{"TRUE", true, true, true},
		{"false || !FALSE", true, true, true},
		{"FALSE", false, false, false},
		{"CLIENT.TCP.DSTPORT.EQ(80)", true, false, false},
		{"client.tcp.dstport == 80", true, false, false},
		{"80 == CLIENT.TCP.DSTPORT", true, false, false},
		{"CLIENT.TCP.DSTPORT.NE(80)", false, false, false},
		{"CLIENT.TCP.DSTPORT.NE(81)", true, false, false},
		{"!CLIENT.TCP.DSTPORT.EQ(80)", false, true, true},
		{"!(CLIENT.TCP.DSTPORT != 81)", false, true, true},
		{"CLIENT.UDP.DSTPORT.BETWEEN(50, 60)", false, true, false},
		{"CLIENT.UDP.DSTPORT < 53 || CLIENT.UDP.DSTPORT > 53", false, false, false},
		{"53 <= CLIENT.UDP.DSTPORT && 53 >= CLIENT.UDP.DSTPORT", false, true, false},
		{"CLIENT.TCP.SRCPORT.GE(40000) && CLIENT.TCP.SRCPORT.LE(40000)", true, false, false},
		{"CLIENT.IP.PROTOCOL.EQ(GRE)", false, false, true},
		{"CLIENT.IP.PROTOCOL.EQ(6) || CLIENT.IP.PROTOCOL == udp", true, true, false},
		{"CLIENT.IP.PROTOCOL.NE(TCP)", false, true, true},
		{"CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)", true, true, true},
		{"CLIENT.IP.SRC.IN_SUBNET(0.0.0.0/0)", true, true, true},
		{"CLIENT.IP.SRC.IN_SUBNET(10.2.0.0/16)", false, false, false},
		{"CLIENT.IP.SRC.SUBNET(16).EQ(10.1.0.0)", true, true, true},
		{"CLIENT.IP.SRC.SUBNET(16) != 10.1.0.0", false, false, false},
		{"CLIENT.IP.SRC.GET2.EQ(1) && CLIENT.IP.SRC.GET4 < 4", true, true, true},
		{"CLIENT.IP.DST.EQ(192.0.2.9)", true, true, true},
		{"CLIENT.IP.DST.BETWEEN(192.0.2.1,192.0.2.8)", false, false, false},
		{"CLIENT.VLAN.ID.EQ(7) && ! CLIENT.VLAN.ID.EQ(0x8)", true, true, true},
		{"TRUE || CLIENT.VLAN.ID.EQ(8) && CLIENT.VLAN.ID.EQ(9)", true, true, true},
		{"(TRUE || CLIENT.VLAN.ID.EQ(8)) && CLIENT.VLAN.ID.EQ(9)", false, false, false},
		{"REQ.IP.SOURCEIP == 10.7.7.7 -netmask 255.0.0.0 && REQ.TCP.DESTPORT == 80", true, false, false},
		{"REQ.IP.DESTIP != 192.0.2.0 -netmask 255.255.255.0 || REQ.TCP.DESTPORT == 70-90", true, false, false},
		{"ns_true && REQ.VLANID != 8-9", true, true, true},
	} {
		e, err := Parse(row.text)
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		p := e.Compile()
		for i, f := range []*Facts{packetFacts(6, 80), packetFacts(17, 53), packetFacts(47, 0)} {
			if got, want := Run(p, f), []bool{row.tcp, row.udp, row.gre}[i]; got != want {
				t.Errorf("%s is %v of packet %d", row.text, got, i)
			}
		}
	}
}

func TestText(t *testing.T) {
	for _, row := range [][2]string{
		{"client.ip.src.in_subnet( 10.0.0.0/8 )", "CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)"},
		{"((CLIENT.TCP.DSTPORT==80))", "CLIENT.TCP.DSTPORT.EQ(80)"},
		{"CLIENT.TCP.DSTPORT > 1023", "CLIENT.TCP.DSTPORT.GE(1024)"},
		{"!(TRUE&&FALSE)||(TRUE||FALSE)&&TRUE", "!(TRUE && FALSE) || (TRUE || FALSE) && TRUE"},
		{"CLIENT.IP.SRC.SUBNET(24) == 10.0.1.0", "CLIENT.IP.SRC.SUBNET(24).EQ(10.0.1.0)"},
		{"CLIENT.IP.SRC.SUBNET(24).GET3 == 1", "CLIENT.IP.SRC.GET3.EQ(1)"},
		{"REQ.IP.SOURCEIP == 10.1.2.3", "CLIENT.IP.SRC.EQ(10.1.2.3)"},
		{"REQ.IP.SOURCEIP == 10.1.2.3 -netmask 255.255.255.0", "CLIENT.IP.SRC.IN_SUBNET(10.1.2.0/24)"},
		{"REQ.IP.DESTIP != 10.1.2.3 -netmask 255.255.255.255", "!CLIENT.IP.DST.IN_SUBNET(10.1.2.3/32)"},
		{"REQ.TCP.DESTPORT != 80-90 || ns_false", "!CLIENT.TCP.DSTPORT.BETWEEN(80, 90) || FALSE"},
		{"REQ.IP.PROTOCOL == 17", "CLIENT.IP.PROTOCOL.EQ(UDP)"},
	} {
		e, err := Parse(row[0])
		if err != nil {
			t.Errorf("%s: %v", row[0], err)
		} else if e.String() != row[1] {
			t.Errorf("%s is written\n%s, want\n%s", row[0], e, row[1])
		}
		if old := strings.Contains(row[0], "REQ.") || strings.Contains(row[0], "ns_"); err == nil && e.Classic() != old {
			t.Errorf("%s: classic is %v", row[0], e.Classic())
		}
	}
}

// TestFaults: an error names the place and what would be right.
func TestFaults(t *testing.T) {
	deep := strings.Repeat("(", 70) + "TRUE" + strings.Repeat(")", 70)
	for _, row := range []struct {
		text string
		at   int
		says string
	}{
		{"", 1, "write one like CLIENT.TCP.DSTPORT.EQ(80)"},
		{"CLIENT.TCP.DSTPORT.EQ(80", 25, "the end stands where ) must end the arguments of EQ"},
		{"CLIENT.TCP.DSTPORT.EQ(80000)", 23, "80000 is no number from 0 to 65535"},
		{"CLIENT.TCP.DSTPORT.EQ(http)", 23, "http is no number from 0 to 65535"},
		{"CLIENT.TCP.DSTPORT.EQ(80, 81)", 19, "EQ has 1 arguments, not 2"},
		{"CLIENT.TCP.DSTPORT", 19, "it takes EQ, NE, GT, GE, LT, LE, BETWEEN"},
		{"CLIENT.TCP.DSTPORT.", 19, "nothing follows the dot"},
		{"TRUE && CLIENT.TCP.PORT.EQ(80)", 9, "CLIENT.TCP.PORT.EQ is not known: known are CLIENT.IP.SRC, "},
		{"HTTP.REQ.METHOD.EQ(GET)", 1, "before anything was read"},
		{"CLIENT.IP.SRC.IN_SUBNET(10.0.0.1/8)", 25, "write 10.0.0.0/8, or 10.0.0.1/32"},
		{"CLIENT.IP.SRC.IN_SUBNET(10.0.0.1)", 25, "10.0.0.1 is no IPv4 subnet, like 10.0.0.0/8"},
		{"CLIENT.IP.SRC.EQ(::1)", 18, "has no meaning here"},
		{"CLIENT.IP.SRC.EQ(10.0.0)", 18, "10.0.0 is no IPv4 address, like 10.0.0.1"},
		{"CLIENT.IP.SRC > 10.0.0.1", 15, "CLIENT.IP.SRC has no order"},
		{"CLIENT.IP.SRC.GT(10.0.0.1)", 14, "CLIENT.IP.SRC has no GT: it takes EQ, NE, IN_SUBNET"},
		{"CLIENT.IP.SRC.SUBNET(33).EQ(10.0.0.1)", 22, "33 is no length of a subnet"},
		{"CLIENT.IP.SRC.SUBNET(8).EQ(10.0.0.1)", 28, "write 10.0.0.0"},
		{"CLIENT.IP.SRC.SUBNET(8).IN_SUBNET(10.0.0.0/8)", 24, "CLIENT.IP.SRC.SUBNET(8) has no IN_SUBNET: it takes EQ, NE"},
		{"CLIENT.IP.SRC.FOO.EQ(10.0.0.1)", 14, "FOO stands before .EQ and gives nothing to ask"},
		{"CLIENT.IP.PROTOCOL.EQ(FOO)", 23, "FOO is no protocol: write TCP, UDP, ICMP or a number from 0 to 255"},
		{"CLIENT.VLAN.ID.BETWEEN(9, 3)", 24, "write the lower one first"},
		{"CLIENT.TCP.DSTPORT.LT(0)", 23, "nothing is < 0 there"},
		{"80", 1, "80 is not compared with anything"},
		{"80 == TRUE", 7, "TRUE is not known"},
		{"80 == CLIENT.TCP.DSTPORT.EQ(80)", 25, "EQ says true or false, which is not compared with 80"},
		{"TRUE TRUE", 6, "join two tests by && or ||"},
		{"TRUE)", 5, ") closes nothing"},
		{"(TRUE", 6, "the end stands where ) must close the ( at character 1"},
		{"TRUE && ", 9, "the end stands where a test must"},
		{"TRUE & TRUE", 6, `"&" has no meaning here`},
		{"TRUE && \xff", 9, "has no meaning here"},
		{"REQ.IP.SOURCEIP == 10.0.0.1 && CLIENT.TCP.DSTPORT.EQ(80)", 1, "use names of one of them only"},
		{"REQ.IP.SOURCEIP 10.0.0.1", 17, "10.0.0.1 stands where == or another comparison must follow REQ.IP.SOURCEIP"},
		{"REQ.IP.SOURCEIP == 10.0.0.1 -netmask 255.0.255.0", 38, "is no netmask"},
		{"REQ.TCP.DESTPORT == 90-80", 21, "is no range of numbers from 0 to 65535 that goes up"},
		{"REQ.TCP.DESTPORT == 80 -netmask 255.0.0.0", 24, "-netmask belongs to an address"},
		{"REQ.HTTP.URL == /a", 17, `"/" has no meaning here`},
		{deep, 65, "nested deeper than 64 levels"},
		{strings.Repeat(" ", 1500), 1500, "1499 are the most"},
	} {
		e, err := Parse(row.text)
		var f *Error
		if !errors.As(err, &f) {
			t.Errorf("%q is %v, error %v", row.text, e, err)
		} else if f.At != row.at || !strings.Contains(f.Text, row.says) {
			t.Errorf("%q: %v; want character %d and %q", row.text, f, row.at, row.says)
		}
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	e, err := Parse("CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8) && (CLIENT.TCP.DSTPORT.EQ(80) || CLIENT.UDP.DSTPORT.NE(53))")
	if err != nil {
		t.Fatal(err)
	}
	p, f := e.Compile(), packetFacts(17, 80)
	if n := testing.AllocsPerRun(100, func() { Run(p, f) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRun(b *testing.B) {
	e, err := Parse("CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8) && (CLIENT.TCP.DSTPORT.EQ(80) || CLIENT.UDP.DSTPORT.NE(53))")
	if err != nil {
		b.Fatal(err)
	}
	p, f := e.Compile(), packetFacts(17, 80)
	for b.Loop() {
		Run(p, f)
	}
}
