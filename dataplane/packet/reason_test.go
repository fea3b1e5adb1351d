package packet

import (
	"strings"
	"testing"
)

func TestReasonsSpeak(t *testing.T) {
	seen := map[string]bool{}
	words := map[Verdict][]string{Transmit: {"forward", "reply"}, Punt: {"punt"}, Drop: {"drop"}, Held: {"held"}}
	for r := NoReason + 1; r < Reasons; r++ {
		name, help := r.Name(), r.Help()
		if seen[name] || name == "" || strings.ToLower(name) != name {
			t.Errorf("reason %d has the name %q", r, name)
		}
		seen[name] = true
		first, _, _ := strings.Cut(name, "-")
		ok := false
		for _, w := range words[r.Verdict()] {
			ok = ok || w == first
		}
		if !ok {
			t.Errorf("%s has verdict %d", name, r.Verdict())
		}
		if len(help) < 20 || !strings.HasSuffix(help, ".") {
			t.Errorf("%s: help is not a sentence: %q", name, help)
		}
		var p Packet
		if p.End(r); p.Reason != r || p.Verdict != r.Verdict() {
			t.Errorf("%s ends as %d", name, p.Verdict)
		}
	}
	if NoReason.Verdict() != Undecided || Reasons.Verdict() != Undecided || Reasons.Name() != "unknown" || Reasons.Help() != "" {
		t.Error("a reason outside the list decides something")
	}
}

func TestFillClampsLengths(t *testing.T) {
	var p Packet
	p.Fill(1, 2, 70000, 80000, 3)
	if p.Len != 65535 || p.Frame != 65535 || p.Mbuf != 1 || p.Data != 2 || p.In != 3 {
		t.Errorf("%+v", p)
	}
}
