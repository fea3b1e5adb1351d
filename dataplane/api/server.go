package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

const (
	maxConns    = 64               // connections served at once
	answerTime  = 10 * time.Second // a client that does not read its answer for so long is cut off
	probeTime   = time.Second      // how long Listen waits for a live dataplane to take a connection
	dyingTime   = 300 * time.Millisecond
	dyingPause  = 20 * time.Millisecond
	acceptPause = 100 * time.Millisecond
)

// Listen opens the Unix socket at path for its owner only. A socket that a dead dataplane has left is replaced; one
// that a live process serves is an error.
func Listen(path string) (net.Listener, error) {
	if fi, err := os.Lstat(path); err == nil {
		if fi.Mode()&os.ModeSocket == 0 {
			return nil, fmt.Errorf("%s exists and is not a socket: remove it or choose another `socket`", path)
		}
		if err := abandoned(path); err != nil {
			return nil, err
		}
		if err := os.Remove(path); err != nil {
			return nil, fmt.Errorf("cannot remove the socket of an earlier dataplane: %w", err)
		}
	}
	// The mask makes the socket private from its first instant. It is the process's: Listen belongs to the start.
	old := syscall.Umask(0o177)
	l, err := net.Listen("unix", path)
	syscall.Umask(old)
	if err != nil {
		return nil, fmt.Errorf("cannot open the management socket: %w", err)
	}
	return l, nil
}

// abandoned returns nil when nobody serves the socket at path. A dataplane that has just been killed answers for some
// milliseconds more, while its successor is already here: it is given the time to end.
func abandoned(path string) error {
	for deadline := time.Now().Add(dyingTime); ; time.Sleep(dyingPause) {
		conn, err := net.DialTimeout("unix", path, probeTime)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot tell whether another dataplane serves %s: %w", path, err)
		}
		conn.Close()
		if time.Now().After(deadline) {
			return fmt.Errorf("another dataplane serves %s: stop it first or choose another `socket`", path)
		}
	}
}

// Serve answers clients on l by calling d until ctx ends; then it closes l and all connections and returns nil. d is
// called from several goroutines at once. A client can neither block nor crash another one or d: it is cut off if its
// messages make no sense or it does not read.
func Serve(ctx context.Context, l net.Listener, d Dataplane) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	slots := make(chan struct{}, maxConns)
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			if errors.Is(err, net.ErrClosed) {
				return fmt.Errorf("the management socket was closed: %w", err)
			}
			time.Sleep(acceptPause) // e.g. out of descriptors: that passes
			continue
		}
		select {
		case slots <- struct{}{}:
			wg.Go(func() {
				defer func() { <-slots }()
				serveConn(ctx, conn, d)
			})
		default:
			wg.Go(func() { refuse(conn, fmt.Sprintf("it already serves %d connections", maxConns)) })
		}
	}
}

// refuse tells a client why it is not served.
func refuse(conn net.Conn, why string) {
	defer conn.Close()
	newStream(conn).send(&hello{Magic: wireMagic, Version: wireVersion, Refusal: why}, probeTime)
}

// serveConn serves one client until it leaves, misbehaves or ctx ends.
func serveConn(ctx context.Context, conn net.Conn, d Dataplane) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	defer conn.Close()
	s := newStream(conn)
	if conn.SetReadDeadline(time.Now().Add(helloTime)) != nil {
		return
	}
	var h hello
	if s.receive(&h) != nil {
		return
	}
	answer := hello{Magic: wireMagic, Version: wireVersion}
	switch {
	case h.Magic != wireMagic:
		answer.Refusal = "it expected a sluice program"
	case h.Version != wireVersion:
		answer.Refusal = fmt.Sprintf("it speaks version %08x and you speak version %08x: install programs of one release", wireVersion, h.Version)
	case h.Kind != kindCalls && h.Kind != kindEvents:
		answer.Refusal = fmt.Sprintf("it does not know connections of kind %d", h.Kind)
	}
	if s.send(&answer, answerTime) != nil || answer.Refusal != "" || conn.SetReadDeadline(time.Time{}) != nil {
		return
	}
	if h.Kind == kindEvents {
		serveEvents(ctx, cancel, s, d)
		return
	}
	serveCalls(ctx, s, d)
}

func serveCalls(ctx context.Context, s *stream, d Dataplane) {
	for {
		var q request
		if s.receive(&q) != nil {
			return
		}
		var r response
		var err error
		switch {
		case q.Call == callApply && q.Tables == nil:
			err = errors.New("no tables were given to apply")
		case q.Call == callApply:
			err = d.Apply(ctx, q.Tables)
		case q.Call == callStats:
			r.Stats, err = d.Stats(ctx)
		case q.Call == callWhere && q.Flow == nil:
			err = errors.New("no flow was given to look for")
		case q.Call == callWhere:
			r.Where, err = d.Where(ctx, q.Flow)
		case q.Call == callTrace && q.Trace == nil:
			err = errors.New("no order was given for the trace")
		case q.Call == callTrace:
			r.Trace, err = d.Trace(ctx, q.Trace)
		case q.Call == callCapture && q.Capture == nil:
			err = errors.New("no order was given for the capture")
		case q.Call == callCapture:
			r.Capture, err = d.Capture(ctx, q.Capture)
		case q.Call == callSessions && q.Sessions == nil:
			err = errors.New("no order was given for the persistence sessions")
		case q.Call == callSessions:
			r.Sessions, err = d.Sessions(ctx, q.Sessions)
		case q.Call == callLease && q.Lease == nil:
			err = errors.New("no lease was given")
		case q.Call == callLease:
			err = d.Lease(ctx, q.Lease)
		default:
			err = fmt.Errorf("the dataplane does not know call %d: install programs of one release", q.Call)
		}
		if err != nil {
			r = response{Refusal: err.Error()}
		}
		if s.send(&r, answerTime) != nil {
			return
		}
	}
}

// serveEvents passes d's events on. The client sends nothing more: a read ends when it leaves.
func serveEvents(ctx context.Context, cancel func(), s *stream, d Dataplane) {
	events, err := d.Events(ctx)
	if err != nil {
		return
	}
	go func() {
		s.conn.Read(make([]byte, 1))
		cancel()
	}()
	for {
		select {
		case e, ok := <-events:
			if !ok || s.send(&e, answerTime) != nil {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
