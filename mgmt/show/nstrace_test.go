package show

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/capture"
)

// TestCaptureOrder: what `start nstrace` asks for.
func TestCaptureOrder(t *testing.T) {
	for line, want := range map[string]capture.Order{
		"start nstrace": {Most: 100 << 20, CaptureFilter: api.CaptureFilter{Size: 164, Count: 1000000, Time: time.Hour}},
		"start nstrace -srcIP 10.1.0.9 -srcPort 40000 -destIP 10.1.0.50 -destPort 80 -protocol tcp -count 9 -time 5 -size 0 -fileName x -filesize 2": {File: "x", Most: 2 << 20,
			CaptureFilter: api.CaptureFilter{Proto: 6, Src: netip.MustParseAddr("10.1.0.9"), SrcPort: 40000, Dst: netip.MustParseAddr("10.1.0.50"), DstPort: 80, Count: 9, Time: 5 * time.Second}},
		"start nstrace -perNIC ENABLED -traceformat PCAP": {Most: 100 << 20, CaptureFilter: api.CaptureFilter{Size: 164, Count: 1000000, Time: time.Hour}},
	} {
		op, err := grammar.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := CaptureOrder(op); err != nil || *got != want {
			t.Errorf("%s: %+v, %v, want %+v", line, got, err, want)
		}
	}
	op, err := grammar.Parse("start nstrace -protocol ICMP -destPort 80")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CaptureOrder(op); err == nil || !strings.Contains(err.Error(), "leave out -srcPort") {
		t.Errorf("ports of ICMP: %v", err)
	}
}

// TestShowNSTraceGolden writes captures of every state.
func TestShowNSTraceGolden(t *testing.T) {
	o := capture.Order{File: "x.pcapng", Most: 2 << 20, CaptureFilter: api.CaptureFilter{Proto: 6, Dst: netip.MustParseAddr("10.1.0.50"), DstPort: 80, Count: 9, Time: 5 * time.Second}}
	began := time.Date(2026, 3, 6, 10, 11, 12, 0, time.UTC)
	var got strings.Builder
	for _, s := range []capture.State{{}, {Order: o, Began: began, Running: true, Frames: 3, Bytes: 600}, {Order: o, Began: began, Frames: 9, Bytes: 1800, Lost: 2, End: "done"}} {
		v := seen(t)
		v.Capture = s
		got.WriteString("> show nstrace\n" + answer(t, "show nstrace", v))
	}
	golden(t, "nstrace", got.String())
}
