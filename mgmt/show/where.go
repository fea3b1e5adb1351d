package show

import (
	"fmt"
	"net/netip"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

const (
	tcp  = 6
	udp  = 17
	icmp = 1
)

// Flow is the flow that `show where` asks about.
func Flow(op *grammar.Op) (*api.Tuple, error) {
	p := page{op: op}
	proto, _ := schema.ProtocolNumber(p.arg("protocol"))
	ports := proto == tcp || proto == udp
	end := func(ip, port string) (e api.Endpoint, err error) {
		a, err := netip.ParseAddrPort(p.arg(ip) + ":" + p.arg(port))
		switch {
		case err != nil:
			return e, schema.Refuse(schema.BadValue, ip, p.arg(ip))
		case ports && a.Port() == 0:
			return e, schema.Refuse(schema.BadArgument, port, "0").Because("packets of " + protocolName(proto) + " have a port")
		case !ports && a.Port() != 0:
			return e, schema.Refuse(schema.BadArgument, port, fmt.Sprint(a.Port())).Because("protocol " + protocolName(proto) + " has no ports: give 0")
		}
		return api.Endpoint{IP: a.Addr(), Port: a.Port()}, nil
	}
	if proto == icmp {
		return nil, schema.Refuse(schema.BadArgument, "protocol", p.arg("protocol")).Because("ICMP has no flows of its own; ask about the flow that it speaks of")
	}
	src, err := end("srcIP", "srcPort")
	if err != nil {
		return nil, err
	}
	dst, err := end("destIP", "destPort")
	if err != nil {
		return nil, err
	}
	return &api.Tuple{Proto: proto, Src: src, Dst: dst}, nil
}

func protocolName(proto uint8) string {
	switch proto {
	case tcp:
		return "TCP"
	case udp:
		return "UDP"
	case icmp:
		return "ICMP"
	}
	return fmt.Sprint(proto)
}

// tuple is a flow's direction in one line.
func tuple(t api.Tuple) string {
	if t.Proto == tcp || t.Proto == udp {
		return fmt.Sprintf("%v -> %v %s", t.Src, t.Dst, protocolName(t.Proto))
	}
	if t.Proto == icmp {
		return fmt.Sprintf("%v -> %v ICMP", t.Src.IP, t.Dst.IP)
	}
	return fmt.Sprintf("%v -> %v protocol %d", t.Src.IP, t.Dst.IP, t.Proto)
}

func showWhere(p *page) error {
	w := p.Where
	if w == nil {
		return p.Without
	}
	p.f("%s\n", tuple(w.Flow))
	p.f("\tVerdict: %s\n\t\t%s\n", w.Reason, w.Help)
	p.f("\tWorker: %d\n", w.Worker)
	p.entry(w)
	p.taken(w.VserverID, w.Vserver, w.ServiceID, w.Service)
	if w.Sent {
		p.f("\tTranslated: %s\n", tuple(w.To))
		p.f("\tSource: %s\n", source(w))
		p.hop(w.Hop)
	}
	first := "the first packet of the flow"
	if w.Flow.Proto == tcp {
		first += ", a SYN"
	}
	p.f("\tAssumed: %s, whole and short, to the MAC address of the port by which it comes, with a TTL above 1\n", first)
	return nil
}

// entry writes the flow that there is.
func (p *page) entry(w *api.Where) {
	e := w.Entry
	if e == nil {
		p.f("\tFlow entry: none\n")
		return
	}
	p.f("\tFlow entry: client %v -> %v, server %v -> %v\n", e.Client.Src, e.Client.Dst, e.Server.Src, e.Server.Dst)
	if e.FromServer {
		p.f("\t\tThe packet is one of the server's\n")
	}
	if e.State != "" {
		p.f("\t\tState: %s\n", e.State)
	}
	p.f("\t\tIdle: %s\tForgotten after: %s\n", seconds(e.Idle), seconds(e.Limit))
	p.f("\t\tFrom the client: Pkts(%d) Bytes(%d)\tTo the client: Pkts(%d) Bytes(%d)\n", e.PacketsIn, e.BytesIn, e.PacketsOut, e.BytesOut)
	if w.Reopens {
		p.f("\t\tIts connection is over: the packet opens a new one in its place\n")
	}
}

// never is the least limit that means that a flow is not forgotten: the longest that the dataplane's clock holds.
const never = (1<<31 - 1) * time.Second / 10

func seconds(d time.Duration) string {
	if d >= never {
		return "never"
	}
	return fmt.Sprintf("%.1f sec", d.Seconds())
}

// taken writes who takes a packet.
func (p *page) taken(vserverID uint32, vserver string, serviceID uint32, service string) {
	named := func(id uint32, name string) string {
		if name == "" {
			return fmt.Sprintf("number %d, which was removed", id)
		}
		return name
	}
	switch {
	case vserverID == 0:
		p.f("\tVserver: none\n")
	case serviceID == 0:
		p.f("\tVserver: %s\tService: none\n", named(vserverID, vserver))
	default:
		p.f("\tVserver: %s\tService: %s\n", named(vserverID, vserver), named(serviceID, service))
	}
}

// source says whose address and port the packet is sent from.
func source(w *api.Where) string {
	client := w.Flow.Src
	kept := "the client's port"
	if w.To.Src.Port != client.Port {
		kept = "a free port of the client's address"
	}
	switch {
	case w.Entry != nil && !w.Reopens:
		return "as the flow entry says"
	case w.Pool:
		return fmt.Sprintf("SNIP %v, the next port of its pool toward the service", w.To.Src.IP)
	case w.To.Src.IP != client.IP:
		return fmt.Sprintf("SNIP %v", w.To.Src.IP)
	case client.Port == 0:
		return "the client's address (usip)"
	}
	return "the client's address (usip), " + kept
}

// hop writes the way of a packet from here.
func (p *page) hop(h *api.Hop) {
	if h == nil {
		p.f("\tRoute: none\n")
		return
	}
	way := "direct"
	if h.Gateway.IsValid() {
		way = "gateway " + h.Gateway.String()
	}
	p.f("\tRoute: %v, %s\tInterface: %s\tMTU: %d\n", h.Prefix, way, h.Port, h.MTU)
	if h.Known {
		p.f("\tNext hop: %v\tMAC: %s\n", h.Neighbor, mac(h.MAC))
	} else {
		p.f("\tNext hop: %v\tMAC: not known\n", h.Neighbor)
	}
}
