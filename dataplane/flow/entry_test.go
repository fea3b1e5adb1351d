package flow

import (
	"testing"

	"sluice/dataplane/packet"
)

func TestFill(t *testing.T) {
	in, out := packet.MakeKey(1, 2, 3, 4, packet.ProtoUDP), packet.MakeKey(5, 6, 7, 8, packet.ProtoUDP)
	e := Entry{Last: 9, State: Reset, Packets: 1, Kind: KindPool}
	e.Fill(in, out)
	if e.Key() != in || e.Proto() != packet.ProtoUDP || e.Rewrite != packet.MakeRewrite(in, out) || e.PeerKey() != out.Reverse() {
		t.Errorf("entry %+v", e)
	}
	// What arrives, not what leaves, is tested for a partial checksum.
	if e.Pseudo != packet.PseudoSum(in.A, packet.ProtoUDP) {
		t.Errorf("pseudo header sum %04x", e.Pseudo)
	}
	if e.Last != 0 || e.State != 0 || e.Packets != 0 || e.Kind != 0 {
		t.Errorf("something of another flow is left: %+v", e)
	}
}

// The entry of a flow without a way back has no peer, even if another flow's key is what its peer's would be.
func TestSingleHasNoPeer(t *testing.T) {
	tab := open(t, 10, [2]uint64{1, 2})
	fwd, rev := pair(1)
	tab.Create(&fwd, &rev)
	e := *tab.Lookup(fwd.Key())
	if tab.Peer(&e) == nil {
		t.Error("no peer")
	}
	e.Kind |= KindSingle
	if tab.Peer(&e) != nil {
		t.Error("a peer from nowhere")
	}
}
