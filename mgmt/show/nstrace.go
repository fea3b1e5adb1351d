package show

import (
	"sluice/cli/grammar"
	"sluice/dataplane/api"
	"sluice/mgmt/capture"
)

// CaptureOrder is what `start nstrace` captures.
func CaptureOrder(op *grammar.Op) (*capture.Order, error) {
	p := page{op: op}
	f, err := Filter(op) // the arguments that both have are named alike
	if err != nil {
		return nil, err
	}
	return &capture.Order{File: p.arg("fileName"), Most: p.numeric("filesize", 100) << 20, CaptureFilter: api.CaptureFilter{Proto: f.Proto, Src: f.Src, Dst: f.Dst,
		SrcPort: f.SrcPort, DstPort: f.DstPort, Size: uint32(p.numeric("size", 164)), Count: p.numeric("count", 1000000), Time: p.seconds("time", 3600)}}, nil
}

func showNSTrace(p *page) error {
	c := p.Capture
	if c.Began.IsZero() {
		p.f("No capture has been started. E.g. start nstrace -destIP <VIP> -destPort 80 -time 60\n")
		return nil
	}
	state, f := "STOPPED", c.Order.CaptureFilter
	if c.Running {
		state = "RUNNING"
	}
	p.f("\tState: %s\n\tFile: /%s/%s\n", state, capture.Folder, c.Order.File)
	p.f("\tFilter: %s, both directions\n", followed(&api.TraceFilter{Proto: f.Proto, Src: f.Src, Dst: f.Dst, SrcPort: f.SrcPort, DstPort: f.DstPort}))
	p.f("\tStarted: %s\tEnds after: %d packets, %d sec, %d MB\n", date(c.Began.In(p.Now.Location())), f.Count, int(f.Time.Seconds()), c.Order.Most>>20)
	p.f("\tPackets: %d\tBytes: %d\tLost for want of room: %d\n", c.Frames, c.Bytes, c.Lost)
	if c.End != "" {
		p.f("\tEnded: %s\n", c.End)
	}
	return nil
}
