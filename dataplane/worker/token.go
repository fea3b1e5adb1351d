package worker

import (
	"unsafe"

	"sluice/dataplane/api"
	"sluice/dataplane/api/expr"
	"sluice/dataplane/packet"
	"sluice/dataplane/table"
)

// hashKey is what stands for a packet's key where v's method chooses: the key itself, or what TOKEN and CALLIDHASH find in a
// datagram. One in which there is no such thing goes by its client's address and port.
func (w *Worker) hashKey(t *table.Set, v *table.Vserver, p *packet.Packet) (a, b uint64) {
	if v.TokenLength == 0 {
		return p.A, p.B
	}
	if part := payload(p); part != nil {
		if part = token(v, part); len(part) > 0 {
			return t.Token(part), 0
		}
	}
	return untold(p.A, p.B)
}

// untold is hashKey of a datagram that does not say what is asked for.
func untold(a, b uint64) (uint64, uint64) { return a & (1<<32 - 1), b & (1<<16 - 1) }

// token is the part of a datagram's payload that v's method goes by.
func token(v *table.Vserver, part []byte) []byte {
	if cuts := v.Cuts(); cuts != nil {
		part = expr.Apply(cuts, part)
	} else if api.Method(v.Method) == api.CallIDHash {
		part = packet.CallID(part)
	} else {
		part = part[min(int(v.TokenOffset), len(part)):]
	}
	return part[:min(int(v.TokenLength), len(part))]
}

// payload is what a UDP datagram carries, as far as it lies in one piece; nil of other packets.
func payload(p *packet.Packet) []byte {
	if p.Proto() != packet.ProtoUDP {
		return nil
	}
	from, to := int(p.L4)+packet.UDPLen, min(int(p.Len), int(p.L3)+int(p.L3Len))
	if from >= to {
		return nil
	}
	return unsafe.Slice((*byte)(at(p.Data+uintptr(from))), to-from)
}
