package compile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// TestServiceUp: which monitors count, and what counts besides them.
func TestServiceUp(t *testing.T) {
	const base = "add ns ip 10.1.0.5 255.255.255.0\nadd server s 10.1.0.11\nadd service x s TCP 80\n"
	const two = "add lb monitor a TCP\nadd lb monitor b TCP\nbind service x -monitorName a\nbind service x -monitorName b\n"
	const heavy = "add lb monitor a TCP\nadd lb monitor b TCP\nbind service x -monitorName a -weight 7\nbind service x -monitorName b\n"
	up, down := MonitorResult{Known: true, Up: true}, MonitorResult{Known: true}
	rows := []struct {
		name, more string
		results    map[string]MonitorResult
		inherited  bool
		want       bool
	}{
		{"no word of the default monitor", "", nil, false, false},
		{"the default monitor is satisfied", "", map[string]MonitorResult{"tcp-default": up}, false, true},
		{"the default monitor is not", "", map[string]MonitorResult{"tcp-default": down}, false, false},
		{"another's word does not count", "", map[string]MonitorResult{"ping-default": up}, false, false},
		{"a bound monitor replaces the default", two, map[string]MonitorResult{"tcp-default": up}, false, false},
		{"all bound monitors must agree", two, map[string]MonitorResult{"a": up, "b": down}, false, false},
		{"all bound monitors agree", two, map[string]MonitorResult{"a": up, "b": up}, false, true},
		{"one has not spoken", two, map[string]MonitorResult{"a": up}, false, false},
		{"one has not spoken to an inherited state", two, map[string]MonitorResult{"a": up}, true, true},
		{"none has spoken to an inherited state", two, nil, true, true},
		{"a word beats the inherited state", two, map[string]MonitorResult{"b": down}, true, false},
		{"a disabled monitor does not count", two + "set lb monitor b TCP -state DISABLED", map[string]MonitorResult{"a": up, "b": down}, false, true},
		{"only disabled monitors", two + "set lb monitor a TCP -state DISABLED\nset lb monitor b TCP -state DISABLED", nil, false, true},
		{"a LOAD monitor does not judge", "add lb metricTable t\nadd lb monitor l LOAD -metricTable t\nbind service x -monitorName l\n",
			map[string]MonitorResult{"l": down, "tcp-default": up}, false, true},
		{"a LOAD monitor leaves the default in place", "add lb metricTable t\nadd lb monitor l LOAD -metricTable t\nbind service x -monitorName l\n",
			map[string]MonitorResult{"l": up, "tcp-default": down}, false, false},
		{"a LOAD monitor beside another", "add lb metricTable t\nadd lb monitor l LOAD -metricTable t\nbind service x -monitorName l\n" + two,
			map[string]MonitorResult{"l": down, "a": up, "b": up, "tcp-default": down}, false, true},
		{"a monitor whose binding is disabled does not count", "add lb monitor a TCP\nadd lb monitor b TCP\nbind service x -monitorName a\nbind service x -monitorName b -monState DISABLED",
			map[string]MonitorResult{"a": up, "b": down}, false, true},
		{"monThreshold: weights of monitors that agree reach it", heavy + "set service x -monThreshold 7", map[string]MonitorResult{"a": up, "b": down}, false, true},
		{"monThreshold: they do not", heavy + "set service x -monThreshold 8", map[string]MonitorResult{"a": up, "b": down}, false, false},
		{"monThreshold: one that has not spoken counts nothing", heavy + "set service x -monThreshold 3", map[string]MonitorResult{"b": down}, false, false},
		{"monThreshold: one that has not spoken to an inherited state does", heavy + "set service x -monThreshold 7", map[string]MonitorResult{"b": down}, true, true},
		{"monThreshold: a disabled monitor counts nothing", heavy + "set service x -monThreshold 1\nset lb monitor a TCP -state DISABLED", map[string]MonitorResult{"a": up, "b": down}, false, false},
		{"without monThreshold weights do not matter", heavy, map[string]MonitorResult{"a": up, "b": down}, false, false},
		{"without health monitoring", "set service x -healthMonitor NO", map[string]MonitorResult{"tcp-default": down}, false, true},
		{"service disabled", "disable service x", map[string]MonitorResult{"tcp-default": up}, true, false},
		{"server disabled", "disable server s", map[string]MonitorResult{"tcp-default": up}, true, false},
		{"no SNIP", "rm ns ip 10.1.0.5", map[string]MonitorResult{"tcp-default": up}, true, false},
		{"no SNIP needed", "rm ns ip 10.1.0.5\nset service x -usip YES", map[string]MonitorResult{"tcp-default": up}, false, true},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c := configure(t, base+row.more)
			s := site(c)
			s.Services = map[string]ServiceHealth{"x": {Monitors: row.results, Inherited: row.inherited}}
			if got := ServiceUp(c, s, "x"); got != row.want {
				t.Errorf("up %t, want %t", got, row.want)
			}
			if ServiceUp(c, s, "y") {
				t.Error("a service that does not exist is up")
			}
		})
	}
}

// TestMethods: the operator's words reach the dataplane, and so does the factor of start-ups.
func TestMethods(t *testing.T) {
	const base = "add ns ip 10.1.0.5 255.255.255.0\nadd lb vserver v UDP 10.1.0.50 7"
	for text, want := range map[string]api.Method{"": api.LeastConnection, " -lbMethod ROUNDROBIN": api.RoundRobin, " -lbMethod LEASTCONNECTION": api.LeastConnection,
		" -lbMethod LEASTPACKETS": api.LeastPackets, " -lbMethod LEASTBANDWIDTH": api.LeastBandwidth,
		" -lbMethod LEASTRESPONSETIME": api.LeastResponseTime, " -lbMethod LEASTREQUEST": api.LeastConnection, " -lbMethod CUSTOMLOAD": api.CustomLoad, " -lbMethod LRTM": api.LeastMonitorTime} {
		c := configure(t, base+text)
		tab, err := Tables(c, site(c))
		if err != nil || tab.Config.Vservers[0].Method != want || tab.Config.StartupFactor != 0 {
			t.Errorf("%q: %v, %+v", text, err, tab)
		}
	}
	for _, word := range schema.Of[schema.LBVserver]().Field("lbMethod").Enum {
		if methods[word] == 0 {
			t.Errorf("the method %s is offered and not compiled", word)
		}
	}
	c := configure(t, base+"\nset lb parameter -startupRRFactor 6")
	if tab, err := Tables(c, site(c)); err != nil || tab.Config.StartupFactor != 6 {
		t.Errorf("factor: %v, %+v", err, tab)
	}
}

func TestVserverUp(t *testing.T) {
	c := configure(t, `add ns ip 10.1.0.5 255.255.255.0
add service a 10.1.0.11 TCP 80 -healthMonitor NO
add service b 10.1.0.12 TCP 80
add lb vserver some TCP 10.1.0.50 80
add lb vserver none TCP 10.1.0.50 81
add lb vserver empty TCP 10.1.0.50 82
add lb vserver off TCP 10.1.0.50 83
add lb vserver hidden TCP 10.1.0.51 83
bind lb vserver some a
bind lb vserver some b
bind lb vserver none b
bind lb vserver off a
bind lb vserver hidden a
disable lb vserver off
disable ns ip 10.1.0.51`)
	s := site(c)
	for name, want := range map[string]bool{"some": true, "none": false, "empty": false, "off": false, "hidden": false, "unknown": false} {
		if got := VserverUp(c, s, name); got != want {
			t.Errorf("vserver %s up %t, want %t", name, got, want)
		}
	}
}

// TestHashMethods: they reach the dataplane, and the netmask with those that hash one address.
func TestHashMethods(t *testing.T) {
	for _, row := range []struct {
		options string
		method  api.Method
		mask    uint32
	}{
		{"", api.LeastConnection, 0}, {"-lbMethod SOURCEIPHASH", api.SourceIPHash, 0xffffffff}, {"-lbMethod SOURCEIPHASH -netmask 255.255.240.0", api.SourceIPHash, 0xfffff000},
		{"-lbMethod DESTINATIONIPHASH -netmask 128.0.0.0", api.DestinationIPHash, 0x80000000},
		{"-lbMethod SRCIPDESTIPHASH", api.SourceDestinationIPHash, 0}, {"-lbMethod SRCIPSRCPORTHASH", api.SourceIPSourcePortHash, 0},
	} {
		c := configure(t, "add lb vserver v TCP 10.1.0.50 80 "+row.options)
		tab, err := Tables(c, site(c))
		if err != nil {
			t.Fatal(err)
		}
		if v := tab.Config.Vservers[0]; v.Method != row.method || v.HashMask != row.mask {
			t.Errorf("%q: method %d, mask %#x; want %d, %#x", row.options, v.Method, v.HashMask, row.method, row.mask)
		}
	}
}

// TestSubnetFollowsItsVLAN: with one address of a subnet the others are bound to the VLAN too, whenever they come.
func TestSubnetFollowsItsVLAN(t *testing.T) {
	c := configure(t, "add ns ip 10.1.0.5 255.255.255.0\nadd ns ip 10.2.0.5 255.255.255.0\nadd ns ip 10.2.0.6 255.255.255.0\nadd vlan 2\nbind vlan 2 -ifnum 1/2\n"+
		"bind vlan 2 -IPAddress 10.2.0.5 255.255.255.0\nadd ns ip 10.2.0.7 255.255.255.0\nadd ns ip 10.3.0.5 255.255.255.0")
	n, err := newNetwork(NewIndex(c, nil), site(c))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"10.1.0.5": 0, "10.2.0.5": 1, "10.2.0.6": 1, "10.2.0.7": 1, "10.3.0.5": 0}
	for _, a := range n.addrs {
		if a.port != want[a.ip.String()] {
			t.Errorf("%v is on port %d, want %d", a.ip, a.port, want[a.ip.String()])
		}
	}
	if len(n.addrs) != len(want) {
		t.Errorf("%d addresses, want %d", len(n.addrs), len(want))
	}
}

// TestRefusals: what cannot be compiled is refused with the object's name and changes nothing.
func TestRefusals(t *testing.T) {
	const base = "add ns ip 10.1.0.5 255.255.255.0\nadd ns ip 10.1.0.6 255.255.255.0\nadd server s 10.1.0.11\nadd service x s TCP *\n"
	rows := []struct {
		name, text string
		bend       func(c *schema.Config) // for what the grammar would not let through
		want       []string
	}{
		{"a port that is not there", "add vlan 2\nbind vlan 2 -ifnum 1/9", nil, []string{"No such resource [ifnum, 1/9]: the interfaces are 1/1, 1/2"}},
		{"a tracked port that is not there", "add vrID 2\nbind vrID 2 -trackifNum 1/9", nil, []string{"No such resource [trackifNum, 1/9]: the interfaces are 1/1, 1/2"}},
		{"a VLAN on two ports", "add vlan 2\nbind vlan 2 -ifnum 1/1\nbind vlan 2 -ifnum 1/2", nil, []string{"vlan 2", "1/1"}},
		{"one subnet on two ports", "add vlan 2\nbind vlan 2 -ifnum 1/2\nbind vlan 2 -IPAddress 10.1.0.6 255.255.255.0\n" +
			"add vlan 3\nbind vlan 3 -ifnum 1/1\nbind vlan 3 -IPAddress 10.1.0.5 255.255.255.0", nil,
			[]string{"10.1.0.6", "10.1.0.0/24", "1/1", "1/2", "10.1.0.5"}},
		{"a gateway out of reach", "", func(c *schema.Config) {
			schema.Put(c, &schema.Route{Network: netip.MustParseAddr("10.9.0.0"), Netmask: netip.MustParseAddr("255.255.0.0"), Gateway: netip.MustParseAddr("192.0.2.1"), Distance: 1})
		}, []string{"The gateway is not directly reachable [gateway, 192.0.2.1]", "10.9.0.0"}},
		{"a gateway beside an address without a port", "add vlan 3\nadd ns ip 10.3.0.5 255.255.255.0\nbind vlan 3 -IPAddress 10.3.0.5 255.255.255.0\nadd route 10.9.0.0 255.255.0.0 10.3.0.1", nil,
			[]string{"The gateway is not directly reachable [gateway, 10.3.0.1]"}},
		{"a monitor without a port", "add lb monitor m TCP", func(c *schema.Config) {
			schema.Put(c, &schema.ServiceMonitor{Service: "x", Monitor: "m"})
		}, []string{"destPort", "service x", "lb monitor m"}},
		{"a listen policy", "add lb vserver w ANY * * -Listenpolicy CLIENT.TCP.PORT.EQ(80)", nil,
			[]string{"Invalid value [Listenpolicy, CLIENT.TCP.PORT.EQ(80)]: at character 1: CLIENT.TCP.PORT.EQ is not known: known are CLIENT.IP.SRC", "lb vserver w"}},
		{"a rule of another protocol", "add lb vserver w TCP 10.1.0.99 80 -lbMethod TOKEN -rule CLIENT.UDP.PAYLOAD(9)", nil,
			[]string{"Arguments exclude each other [-rule CLIENT.UDP.PAYLOAD(9), TCP]: lb vserver w must be of type UDP for its packets to have that"}},
		{"a rule that is none", "add lb vserver w UDP 10.1.0.99 80 -lbMethod TOKEN -rule CLIENT.UDP.PAYLOAD(x)", nil,
			[]string{"Invalid value [rule, CLIENT.UDP.PAYLOAD(x)]: at character 20: x is no number of bytes from 1 to 65535; it is the rule of lb vserver w"}},
		{"a listen policy of a disabled vserver", "add lb vserver w ANY * * -state DISABLED -Listenpolicy \"CLIENT.VLAN.ID.EQ(7\"", nil,
			[]string{"Invalid value [Listenpolicy, CLIENT.VLAN.ID.EQ(7]: at character 20: the end stands where ) must end the arguments of EQ", "lb vserver w"}},
		{"one address of several", "add lb vserver w TCP 10.1.0.60 80 -range 4", func(c *schema.Config) {
			v := *schema.Get[schema.LBVserver](c, "w")
			v.Name, v.IPAddress, v.Range = "y", netip.MustParseAddr("10.1.0.63"), 1
			schema.Put(c, &v)
		}, []string{"Resource already exists [10.1.0.63, 80]", "lb vserver w has it, which leaves none for y"}},
		{"a service without server", "", func(c *schema.Config) { c.Delete(schema.Of[schema.Server](), "s") }, []string{"No such resource [serverName, s]", "service x"}},
		{"status codes", "add service h s HTTP 80\nadd lb monitor m HTTP\nbind service h -monitorName m", func(c *schema.Config) {
			m := *schema.Get[schema.LBMonitor](c, "m")
			m.RespCode = "20x"
			schema.Put(c, &m)
		}, []string{"Invalid value [respCode, 20x]", "lb monitor m"}},
		{"a vserver on the NSIP", "add ns ip 10.1.0.9 255.255.255.0 -type NSIP\nadd lb vserver v TCP 10.1.0.50 80", func(c *schema.Config) {
			v := *schema.Get[schema.LBVserver](c, "v")
			v.IPAddress = netip.MustParseAddr("10.1.0.9")
			schema.Put(c, &v)
		}, []string{"[vserver, v]", "ns ip 10.1.0.9", "does not allow vservers"}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			c := configureUnchecked(t, base+row.text)
			if row.bend != nil {
				row.bend(c)
			}
			s := site(c)
			s.Elsewhere = nil
			_, err := Tables(c, s)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range row.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
			Host(c, s) // must bear what Tables refuses
			Probes(c, s)
			Routes(c, s)
		})
	}
}

// TestSubnetOfAnotherDevice: an address must not take the hosts of the management network to a port.
func TestSubnetOfAnotherDevice(t *testing.T) {
	for line, refused := range map[string]bool{
		"add ns ip 192.168.77.2 255.255.255.0":             true, // it may be the operator's own
		"add ns ip 192.168.77.2 255.255.255.255":           true,
		"add ns ip 192.168.77.1 255.255.255.0":             true, // a SNIP where the NSIP is
		"add ns ip 192.168.77.2 255.255.0.0":               true,
		"add ns ip 192.168.76.2 255.255.0.0":               false, // the management's subnet is the longer one
		"add ns ip 192.168.77.18 255.255.255.240":          false,
		"add ns ip 192.168.77.1 255.255.255.0 -type NSIP":  false,
		"add ns ip 192.168.77.9 255.255.255.255 -type VIP": false,
	} {
		c := configureUnchecked(t, line)
		_, err := Tables(c, site(c))
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "192.168.77.1/24, which is on no port") {
			t.Errorf("%s: %v, to be refused: %t", line, err, refused)
		}
	}
}

// TestIDs changes a configuration at random and holds the numbers against what flows and hashes rely on.
func TestIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var ids IDs
	live := map[string]bool{}
	for step := range 3000 {
		name := fmt.Sprintf("s%d", r.IntN(300))
		live[name] = !live[name]
		c := schema.New()
		var names []string
		for n, on := range live {
			if on {
				names = append(names, n)
			}
		}
		slices.Sort(names)
		for _, n := range names {
			schema.Put(c, &schema.Service{Name: n})
		}
		next := AssignIDs(c, nil, ids)
		seen := map[uint32]string{}
		for n, id := range next.Services {
			if other, twice := seen[id]; twice || id == 0 {
				t.Fatalf("step %d: %s and %s have number %d", step, n, other, id)
			}
			seen[id] = n
			if int(id) > 2*300+spareIDs+1 {
				t.Fatalf("step %d: number %d of at most 300 services", step, id)
			}
		}
		for _, n := range names {
			if next.Services[n] == 0 {
				t.Fatalf("step %d: %s has no number", step, n)
			}
			if old := ids.Services[n]; old != 0 && old != next.Services[n] {
				t.Fatalf("step %d: the number of %s went from %d to %d", step, n, old, next.Services[n])
			}
		}
		if again := AssignIDs(c, nil, next); !maps.Equal(again.Services, next.Services) {
			t.Fatalf("step %d: the same configuration gets other numbers", step)
		}
		ids = next
	}
	if len(ids.Services) == 0 {
		t.Fatal("no services were made")
	}
}

// TestNumbersOfTheDepartedAreNotReused while that can be helped.
func TestNumbersOfTheDepartedAreNotReused(t *testing.T) {
	with := func(names ...string) *schema.Config {
		c := schema.New()
		for _, n := range names {
			schema.Put(c, &schema.LBVserver{Name: n})
		}
		return c
	}
	ids := AssignIDs(with("a", "b"), nil, IDs{})
	ids = AssignIDs(with("b"), nil, ids)
	ids = AssignIDs(with("b", "c"), nil, ids)
	if ids.Vservers["c"] != 3 {
		t.Errorf("c has number %d, want 3: 1 was a's", ids.Vservers["c"])
	}
	if ids = AssignIDs(with("a", "b", "c"), nil, ids); ids.Vservers["a"] != 1 {
		t.Errorf("a came back as %d, want 1", ids.Vservers["a"])
	}
}

func TestSpan(t *testing.T) {
	for unit, want := range map[string]time.Duration{"SEC": 5 * time.Second, "MSEC": 5 * time.Millisecond, "MIN": 5 * time.Minute} {
		if got := Span(5, unit); got != want {
			t.Errorf("5 %s is %v", unit, got)
		}
	}
}

func TestRespCodes(t *testing.T) {
	for text, want := range map[string]string{"200": "[[200 200]]", "200 300-302": "[[200 200] [300 302]]", "100-599": "[[100 599]]",
		"": "", "600": "", "99": "", "302-300": "", "2xx": "", "200-": "", "-200": "", " ": ""} {
		got, err := respCodes(text, 100, 599)
		if (err != nil) != (want == "") || err == nil && fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}

// TestNextHopsAgainstTheObvious compares the choice of next hops with a walk from the longest prefix to the shortest.
func TestNextHopsAgainstTheObvious(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	ip := func() netip.Addr {
		return netip.AddrFrom4([4]byte{10, byte(r.IntN(3)), byte(r.IntN(3)), byte(r.IntN(256))})
	}
	for range 300 {
		n := &network{}
		for i := range r.IntN(12) {
			n.routes = append(n.routes, api.Route{Prefix: netip.PrefixFrom(ip(), r.IntN(33)).Masked(), Port: uint16(i)})
		}
		for range 30 {
			to := ip()
			var want []api.Route
			for bits := 32; bits >= 0 && want == nil; bits-- {
				for _, route := range n.routes {
					if p, _ := to.Prefix(bits); p == route.Prefix {
						want = append(want, route)
					}
				}
			}
			if got := n.nextHops(to); !slices.Equal(got, want) {
				t.Fatalf("%v to %s: %v, want %v", n.routes, to, got, want)
			}
		}
	}
}

// TestThousands: 1,000 vservers of 10 services each compile while an operator watches.
func TestThousands(t *testing.T) {
	c := schema.New()
	schema.Put(c, &schema.NSIP{IPAddress: netip.MustParseAddr("10.0.0.5"), Netmask: netip.MustParseAddr("255.0.0.0"), Type: "SNIP"})
	for v := range 1000 {
		vip := netip.AddrFrom4([4]byte{172, 16, byte(v >> 8), byte(v)})
		schema.Put(c, &schema.NSIP{IPAddress: vip, Netmask: netip.MustParseAddr("255.255.255.255"), Type: "VIP"})
		schema.Put(c, &schema.LBVserver{Name: fmt.Sprint("v", v), ServiceType: "TCP", IPAddress: vip, Port: 80})
		for k := range 10 {
			name := fmt.Sprintf("s%d-%d", v, k)
			schema.Put(c, &schema.Server{Name: name, IPAddress: netip.AddrFrom4([4]byte{10, byte(v >> 8), byte(v), byte(k + 10)})})
			schema.Put(c, &schema.Service{Name: name, Server: name, ServiceType: "TCP", Port: 80})
			schema.Put(c, &schema.LBVserverService{Vserver: fmt.Sprint("v", v), Service: name, Weight: 1})
		}
	}
	s := &State{Ports: []Port{{Name: "1/1", Twin: "tw0"}}, IDs: AssignIDs(c, nil, IDs{})}
	begin := time.Now()
	tables, err := Tables(c, s)
	if err != nil {
		t.Fatal(err)
	}
	probes := Probes(c, s)
	t.Logf("tables and probes in %v", time.Since(begin))
	if len(tables.Config.Services) != 10000 || len(tables.Config.Vservers) != 1000 || len(probes) != 10000 || len(tables.Config.Services[0].SNIPs) != 1 {
		t.Errorf("%d services, %d vservers, %d probes", len(tables.Config.Services), len(tables.Config.Vservers), len(probes))
	}
}
