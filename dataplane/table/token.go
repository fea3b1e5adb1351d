package table

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"sluice/dataplane/api"
	"sluice/dataplane/api/expr"
)

// hashesPayload says whether a method chooses by a hash of what a datagram carries.
func hashesPayload(m api.Method) bool { return m == api.TokenHash || m == api.CallIDHash }

// checkToken: what is hashed must be told, and a connection carries nothing when it is opened.
func checkToken(v *api.Vserver) error {
	switch {
	case v.TokenRule != "":
		return checkRule(v)
	case hashesPayload(v.Method) && v.TokenLength == 0:
		return fmt.Errorf("vserver %s hashes 0 bytes of a datagram: give 1 at least", v.Name)
	case !hashesPayload(v.Method) && v.TokenLength != 0:
		return fmt.Errorf("vserver %s has a token, which its method %d does not hash", v.Name, v.Method)
	case hashesPayload(v.Method) && v.Proto != api.ProtoUDP:
		return fmt.Errorf("vserver %s (protocol %d) hashes what datagrams carry: its protocol must be UDP", v.Name, v.Proto)
	}
	return nil
}

// checkRule: a rule is for the method, and for packets that have what it asks for.
func checkRule(v *api.Vserver) error {
	k, err := expr.ParseToken(v.TokenRule)
	switch {
	case err != nil:
		return fmt.Errorf("token of vserver %s: %w", v.Name, err)
	case v.Method != api.TokenHash:
		return fmt.Errorf("vserver %s has a token, which its method %d does not hash", v.Name, v.Method)
	case k.Protocol() != 0 && k.Protocol() != v.Proto:
		return fmt.Errorf("vserver %s (protocol %d) hashes %s, which is of protocol %d", v.Name, v.Proto, v.TokenRule, k.Protocol())
	case (k.Cuts() != nil) != (v.TokenLength > 0) || v.TokenOffset != 0:
		return fmt.Errorf("vserver %s hashes %s with a length of %d and an offset of %d: a length of 1 and more is for payload only, an offset for none",
			v.Name, v.TokenRule, v.TokenLength, v.TokenOffset)
	}
	return nil
}

// ruleOf is the rule of a vserver, which has been checked, or nil.
func ruleOf(v *api.Vserver) *expr.Token {
	if v.TokenRule == "" {
		return nil
	}
	k, _ := expr.ParseToken(v.TokenRule)
	return k
}

const cutSize = unsafe.Sizeof(expr.Cut{})

// sizeCuts is the memory for the steps of the rules.
func (c *config) sizeCuts() (n uintptr) {
	for i := range c.src.Vservers {
		if k := ruleOf(&c.src.Vservers[i]); k != nil {
			n += pad(uintptr(len(k.Cuts())) * cutSize)
		}
	}
	return n
}

// fillRule writes what a rule makes of a vserver.
func (c *config) fillRule(r *Vserver, v *api.Vserver) {
	k := ruleOf(v)
	switch {
	case k == nil:
	case k.Cuts() == nil:
		r.hashA, r.hashPort = k.Key()
	default:
		r.cuts, r.cutN = c.mem.take(uintptr(len(k.Cuts()))*cutSize), uint8(len(k.Cuts()))
		copy(unsafe.Slice((*expr.Cut)(unsafe.Add(nil, r.cuts)), r.cutN), k.Cuts())
	}
}

// Cuts are the steps by which v's token is found in a payload, nil if its offset says where it is.
func (v *Vserver) Cuts() []expr.Cut {
	if v.cutN == 0 {
		return nil
	}
	return unsafe.Slice((*expr.Cut)(unsafe.Add(nil, v.cuts)), v.cutN)
}

// Token is what stands for a packet's key where a hash method goes by part of its payload: a is for Hashed, with b 0. Every
// appliance of a fleet gets the same.
func (s *Set) Token(part []byte) (a uint64) {
	key := &s.conf.key
	a = key.Hash(uint64(len(part)))
	for ; len(part) >= 8; part = part[8:] {
		a = key.Hash(a ^ binary.LittleEndian.Uint64(part))
	}
	last := uint64(0)
	for i, c := range part {
		last |= uint64(c) << (8 * i)
	}
	return key.Hash(a ^ last)
}
