package show

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// Filter is what `start trace` follows.
func Filter(op *grammar.Op) (*api.TraceFilter, error) {
	p := page{op: op}
	f := &api.TraceFilter{SrcPort: uint16(p.numeric("srcPort", 0)), DstPort: uint16(p.numeric("destPort", 0)), Count: uint32(p.numeric("count", 1)),
		Time: p.seconds("time", 60)}
	f.Proto, _ = schema.ProtocolNumber(p.arg("protocol"))
	for cli, a := range map[string]*netip.Addr{"srcIP": &f.Src, "destIP": &f.Dst} {
		if *a, _ = netip.ParseAddr(p.arg(cli)); a.IsValid() && a.IsUnspecified() {
			return nil, schema.Refuse(schema.BadArgument, cli, p.arg(cli)).Because("leave it out to follow packets of any address")
		}
	}
	if f.Proto != 0 && f.Proto != tcp && f.Proto != udp && f.SrcPort|f.DstPort != 0 {
		return nil, schema.Refuse(schema.BadArgument, "protocol", p.arg("protocol")).Because("its packets have no ports: leave out -srcPort and -destPort")
	}
	return f, nil
}

// numeric is an argument that was checked to be one, or what holds if it was left out.
func (p *page) numeric(cli string, otherwise uint64) uint64 {
	if n, err := strconv.ParseUint(p.arg(cli), 10, 64); err == nil {
		return n
	}
	return otherwise
}

func (p *page) seconds(cli string, otherwise uint64) time.Duration {
	return time.Duration(p.numeric(cli, otherwise)) * time.Second
}

func showTrace(p *page) error {
	t := p.Trace
	switch {
	case t == nil:
		return p.Without
	case t.Filter == nil:
		p.f("No trace has been started. E.g. start trace -destIP <VIP> -destPort 80 -count 3\n")
		return nil
	}
	p.f("Trace of %s: %d of %d packets", followed(t.Filter), len(t.Walks), t.Filter.Count)
	if t.Running {
		p.f(", runs for %d sec more\n", int((t.Left+time.Second-1)/time.Second))
	} else {
		p.f(", ended\n")
	}
	for i := range t.Walks {
		p.walk(i, &t.Walks[i])
	}
	return nil
}

// followed says which packets a trace follows.
func followed(f *api.TraceFilter) string {
	end := func(ip netip.Addr, port uint16) string {
		s := "*"
		if ip.IsValid() {
			s = ip.String()
		}
		if port != 0 {
			return s + ":" + strconv.Itoa(int(port))
		}
		return s + ":*"
	}
	proto := "any protocol"
	switch f.Proto {
	case 0:
	case tcp, udp, icmp:
		proto = protocolName(f.Proto)
	default:
		proto = fmt.Sprintf("protocol %d", f.Proto)
	}
	return end(f.Src, f.SrcPort) + " -> " + end(f.Dst, f.DstPort) + " " + proto
}

// walk writes what became of one packet.
func (p *page) walk(i int, w *api.Walk) {
	p.f("%d)\t%s\tWorker: %d\tInterface: %s\n", i+1, time.Unix(0, w.UnixNano).In(p.Now.Location()).Format("15:04:05.000000"), w.Worker, w.Port)
	p.f("\tCame as: %s\n", frame(&w.Before))
	for _, s := range w.Steps {
		p.f("\t\t%-12s %s\n", s.Stage, p.step(s, w))
	}
	if w.Vserver != "" {
		p.f("\tVserver: %s", w.Vserver)
		if w.Service != "" {
			p.f("\tService: %s", w.Service)
		}
		p.f("\n")
	}
	if w.Sent {
		p.f("\tBecame: %s\n", frame(&w.After))
	}
	if w.Handed {
		p.f("\tVerdict: handed over to worker %d\n", w.Owner)
		return
	}
	p.f("\tVerdict: %s, %s\n\t\t%s\n", w.Reason, fate(w), w.Help)
}

func fate(w *api.Walk) string {
	switch {
	case w.ToKernel:
		return "given to the kernel at " + w.To
	case w.Waiting:
		return "waits for its next hop"
	case w.Dropped:
		return "dropped"
	}
	return "leaves by " + w.To
}

// passing says what it means that a stage lets a packet pass.
var passing = map[string]string{
	"parse":       "understood",
	"steer":       "stays: this worker owns its flow, or nobody does",
	"established": "is of no known flow",
	"local":       "is for a vserver",
	"balance":     "passes",
	"route":       "passes",
}

func (p *page) step(s api.Step, w *api.Walk) string {
	switch s.Kind {
	case api.StepPassed:
		if means, ok := passing[s.Stage]; ok {
			return means
		}
		return "passes"
	case api.StepTranslated:
		return "translates it"
	case api.StepSent:
		return "translates and sends it: " + w.Reason
	case api.StepHandedOver:
		return fmt.Sprintf("hands it over to worker %d", w.Owner)
	}
	return "decides: " + w.Reason
}

var flagNames = []string{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"}

// frame is a frame in one line.
func frame(f *api.Frame) string {
	s := mac(f.Src) + " -> " + mac(f.Dst)
	if f.Tagged {
		s += fmt.Sprintf(" vlan %d", f.VLAN)
	}
	switch {
	case f.IPv4:
		s += " " + tuple(f.Flow)
		var flags []string
		for i, name := range flagNames {
			if f.TCPFlags>>i&1 != 0 {
				flags = append(flags, name)
			}
		}
		if flags != nil {
			s += " " + strings.Join(flags, ",")
		}
		if f.Fragment {
			s += " fragment"
		}
		s += fmt.Sprintf(" ttl %d, %d bytes", f.TTL, f.TotalLength)
	default:
		if s += fmt.Sprintf(" type 0x%04x", f.EtherType); f.Length > 0 {
			s += fmt.Sprintf(", %d bytes", f.Length)
		}
	}
	return s
}
