package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// TestTraceInWords follows a packet through a running worker and reads its walk in management's words.
func TestTraceInWords(t *testing.T) {
	c, q, _ := startControl(t)
	if tr, err := c.Trace(t.Context(), &api.TraceOrder{}); err != nil || tr.Filter != nil {
		t.Fatalf("before the first trace: %+v, %v", tr, err)
	}
	if err := c.Apply(t.Context(), oneVserver(1)); err != nil {
		t.Fatal(err)
	}
	start := &api.TraceOrder{Start: &api.TraceFilter{Proto: api.ProtoUDP, DstPort: 53, Count: 2, Time: time.Minute}}
	if tr, err := c.Trace(t.Context(), start); err != nil || !tr.Running || len(tr.Walks) != 0 || tr.Left <= 0 {
		t.Fatalf("started: %+v, %v", tr, err)
	}
	if _, err := c.Trace(t.Context(), start); err == nil || !strings.Contains(err.Error(), "stop trace") {
		t.Errorf("a second trace: %v", err)
	}
	// Tables that change meanwhile do not end it.
	if err := c.Apply(t.Context(), &api.Tables{Health: &api.Health{Version: 2}}); err != nil {
		t.Fatal(err)
	}
	frame := packet.Frame{Dst: portMAC, Src: [6]byte{2, 9, 9, 9, 9, 9}, Proto: packet.ProtoUDP, SrcIP: [4]byte{10, 1, 0, 9}, DstIP: [4]byte{10, 1, 0, 50}, SrcPort: 5353, DstPort: 53}
	if err := q.Inject(0, frame.Bytes()); err != nil {
		t.Fatal(err)
	}
	var tr *api.Trace
	for deadline := time.Now().Add(30 * time.Second); tr == nil || len(tr.Walks) == 0; time.Sleep(time.Millisecond) {
		var err error
		if tr, err = c.Trace(t.Context(), &api.TraceOrder{}); err != nil || time.Now().After(deadline) {
			t.Fatalf("no walk: %+v, %v", tr, err)
		}
	}
	w := tr.Walks[0]
	var stages []string
	for _, s := range w.Steps {
		stages = append(stages, s.Stage)
	}
	if w.Reason != "drop-no-service-up" || !w.Dropped || w.Sent || w.Vserver != "v" || w.Port != "1/1" || w.Before.Flow != *flowOf(17, "10.1.0.9:5353", "10.1.0.50:53") ||
		!slices.Equal(stages, []string{"parse", "steer", "established", "local", "balance"}) || w.Steps[4].Kind != api.StepDecided || time.Since(time.Unix(0, w.UnixNano)).Abs() > time.Hour {
		t.Errorf("walk %+v", w)
	}
	if tr, err := c.Trace(t.Context(), &api.TraceOrder{Stop: true}); err != nil || tr.Running || len(tr.Walks) != 1 {
		t.Errorf("stopped: %+v, %v", tr, err)
	}
	if _, err := c.Trace(t.Context(), start); err != nil {
		t.Errorf("a new one: %v", err)
	}
}

// TestTraceRefusesInASentence: orders that make no sense.
func TestTraceRefusesInASentence(t *testing.T) {
	c, _, _ := startControl(t)
	for want, o := range map[string]*api.TraceOrder{
		"no trace has been started: begin one with `start trace`": {Stop: true},
		"follows 1 to": {Start: &api.TraceFilter{Time: time.Second}},
		" 64 packets":  {Start: &api.TraceFilter{Count: 65, Time: time.Second}},
		"up to 1h":     {Start: &api.TraceFilter{Count: 1, Time: 2 * time.Hour}},
	} {
		if a, err := c.Trace(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %+v, %v, want %q", o, a, err, want)
		}
	}
}
