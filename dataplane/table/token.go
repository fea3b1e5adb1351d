package table

import (
	"encoding/binary"
	"fmt"

	"sluice/dataplane/api"
)

// hashesPayload says whether a method chooses by a hash of what a datagram carries.
func hashesPayload(m api.Method) bool { return m == api.TokenHash || m == api.CallIDHash }

// checkToken: what is hashed must be told, and a connection carries nothing when it is opened.
func checkToken(v *api.Vserver) error {
	switch {
	case hashesPayload(v.Method) && v.TokenLength == 0:
		return fmt.Errorf("vserver %s hashes 0 bytes of a datagram: give 1 at least", v.Name)
	case !hashesPayload(v.Method) && v.TokenLength != 0:
		return fmt.Errorf("vserver %s has a token, which its method %d does not hash", v.Name, v.Method)
	case hashesPayload(v.Method) && v.Proto != api.ProtoUDP:
		return fmt.Errorf("vserver %s (protocol %d) hashes what datagrams carry: its protocol must be UDP", v.Name, v.Proto)
	}
	return nil
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
