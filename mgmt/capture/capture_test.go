package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopacket/gopacket/pcapgo"

	"sluice/dataplane/api"
	"sluice/dataplane/packet"
)

// source is a dataplane that gives frames until it has given enough.
type source struct {
	mu      sync.Mutex
	left    int
	frames  uint64
	stopped bool
	gone    error
}

func (s *source) Capture(_ context.Context, o *api.CaptureOrder) (*api.Capture, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.gone != nil:
		return nil, s.gone
	case o.Stop:
		s.stopped = true
	}
	c := &api.Capture{Lost: 3}
	if o.Most > 0 {
		for range min(s.left, 10) {
			f := packet.Frame{Proto: packet.ProtoUDP, SrcIP: [4]byte{10, 1, 0, 9}, DstIP: [4]byte{10, 1, 0, 50}, SrcPort: 40001, DstPort: 9}
			b := f.Bytes()
			c.Frames = append(c.Frames, api.CapturedFrame{UnixNano: 1e18 + int64(s.frames), Port: uint16(s.frames % 2), Sent: s.frames%2 == 1, Length: uint32(len(b)), Data: string(b)})
			s.frames++
			s.left--
		}
	}
	c.Running, c.More = !s.stopped && s.left > 0, s.left > 0
	return c, nil
}

func recorder(t *testing.T, s *source) *Recorder {
	r := New(s, t.TempDir(), []string{"1/1", "1/2"}, slog.New(slog.NewTextHandler(io.Discard, nil)))
	r.free = func(string) uint64 { return 1 << 40 }
	t.Cleanup(r.Close)
	return r
}

func order(file string, most uint64) Order {
	return Order{File: file, Most: most, CaptureFilter: api.CaptureFilter{Count: 1, Time: time.Minute}}
}

// ended waits for the end of a capture.
func ended(t *testing.T, r *Recorder) State {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); r.State().Running; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the capture does not end")
		}
	}
	return r.State()
}

// tcpdump reads a file.
func tcpdump(t *testing.T, r *Recorder, name string) string {
	t.Helper()
	cmd := exec.Command("tcpdump", "-nn", "-r", filepath.Join(r.dir, Folder, name))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || strings.Contains(errs.String(), "truncated") {
		t.Fatalf("tcpdump: %v: %s", err, errs.String())
	}
	return string(out)
}

// statistics are what the file says of all its ports: frames that are lost, and all with them.
func statistics(t *testing.T, r *Recorder, name string) (lost, received uint64) {
	t.Helper()
	f, err := os.Open(filepath.Join(r.dir, Folder, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := pcapgo.NewNgReader(f, pcapgo.NgReaderOptions{})
	for err == nil {
		_, _, err = in.ReadPacketData()
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	for i := range in.NInterfaces() {
		face, err := in.Interface(i)
		if err != nil {
			t.Fatal(err)
		}
		received += face.Statistics.PacketsReceived
		if n := face.Statistics.PacketsDropped; n != pcapgo.NgNoValue64 {
			lost += n
		}
	}
	return lost, received
}

// TestTcpdumpReadsACapture: every frame, from both ports, in a file that nobody else may read.
func TestTcpdumpReadsACapture(t *testing.T) {
	r := recorder(t, &source{left: 1000})
	if err := r.Start(t.Context(), order("a", 1<<20), time.Now()); err != nil {
		t.Fatal(err)
	}
	st := ended(t, r)
	if st.Frames != 1000 || st.Lost != 3 || st.End != done {
		t.Errorf("state %+v", st)
	}
	info, err := os.Stat(filepath.Join(r.dir, Folder, "a.pcapng"))
	if err != nil || info.Mode().Perm() != 0o600 || uint64(info.Size()) != st.Bytes {
		t.Errorf("%v %v, want %d bytes", info, err, st.Bytes)
	}
	if lost, received := statistics(t, r, "a.pcapng"); lost != 3 || received != 1003 {
		t.Errorf("the file says that %d of %d are lost", lost, received)
	}
	if out := tcpdump(t, r, "a.pcapng"); strings.Count(out, "10.1.0.9.40001 > 10.1.0.50.9:") != 1000 {
		t.Errorf("tcpdump:\n%s", out[:min(len(out), 1000)])
	}
}

// TestFilesAreBounded: a file ends below its size and is whole; a full disk and a full folder are refused before anything begins.
func TestFilesAreBounded(t *testing.T) {
	s := &source{left: 1 << 30}
	r := recorder(t, s)
	if err := r.Start(t.Context(), order("a", 10000), time.Now()); err != nil {
		t.Fatal(err)
	}
	if st := ended(t, r); st.Bytes > 10000 || st.Bytes < 5000 || !strings.Contains(st.End, "size that it may have") || !s.stopped {
		t.Errorf("state %+v", st)
	}
	tcpdump(t, r, "a.pcapng")
	for i := range maxFiles {
		os.WriteFile(filepath.Join(r.dir, Folder, fmt.Sprintf("f%d", i)), nil, 0o600)
	}
	if err := r.Start(t.Context(), order("b", 10000), time.Now()); err == nil || !strings.Contains(err.Error(), "remove some by SFTP") {
		t.Errorf("a full folder: %v", err)
	}
	r.free = func(string) uint64 { return spare - 1 }
	if err := r.Start(t.Context(), order("b", 10000), time.Now()); err == nil || !strings.Contains(err.Error(), "must stay so") {
		t.Errorf("a full disk: %v", err)
	}
}

// TestCaptureEndsWithTheDataplane: what came until then is in the file, and the next capture begins.
func TestCaptureEndsWithTheDataplane(t *testing.T) {
	s := &source{left: 1 << 30}
	r := recorder(t, s)
	s.gone = errors.New("gone")
	if err := r.Start(t.Context(), order("a", 1<<30), time.Now()); err == nil {
		t.Error("a capture began without a dataplane")
	}
	s.gone = nil
	if err := r.Start(t.Context(), order("a", 100<<20), time.Now()); err != nil {
		t.Fatal(err) // the name is free: nothing was left
	}
	if err := r.Start(t.Context(), order("b", 1<<30), time.Now()); err == nil || !strings.Contains(err.Error(), "a capture is running into traces/a.pcapng") {
		t.Errorf("a second one: %v", err)
	}
	s.mu.Lock()
	s.gone = errors.New("gone")
	s.mu.Unlock()
	if st := ended(t, r); !strings.Contains(st.End, "gone") {
		t.Errorf("state %+v", st)
	}
	tcpdump(t, r, "a.pcapng")
	s.gone, s.left, s.stopped = nil, 5, false
	if err := r.Start(t.Context(), order("a", 1<<30), time.Now()); err == nil || !strings.Contains(err.Error(), "a.pcapng") {
		t.Errorf("over a file that is there: %v", err)
	}
	if err := r.Start(t.Context(), order("", 1<<30), time.Now()); err != nil {
		t.Fatal(err)
	}
	ended(t, r)
	if err := r.Stop(); err == nil {
		t.Error("ended twice")
	}
}

// TestNamesStayInTheFolder: whatever an operator types, and whatever lies there.
func TestNamesStayInTheFolder(t *testing.T) {
	r := recorder(t, &source{left: 1})
	for _, name := range []string{"..", "../x", "a/b", "/etc/passwd", ".x", "a b", "a\x00", "\n", "traces/", "traces/../x", "é"} {
		if err := r.Start(t.Context(), order(name, 1<<20), time.Now()); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	for name, want := range map[string]string{"/traces/x": "x.pcapng", "traces/x.pcapng": "x.pcapng", "x.pcap": "x.pcap.pcapng"} {
		if got, err := fileName(name, time.Now()); got != want || err != nil {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(r.dir, Folder)); err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), order("x", 1<<20), time.Now()); err == nil {
		t.Error("a link led out of the configuration directory")
	}
	if there, _ := os.ReadDir(outside); len(there) != 0 {
		t.Errorf("outside: %v", there)
	}
}
