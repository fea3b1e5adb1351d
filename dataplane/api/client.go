package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// helloTime bounds the handshake if the context sets no earlier end.
const helloTime = 5 * time.Second

// Client is a Dataplane in another process. After an error other than RefusedError it is dead: each later call returns
// ErrDisconnected, and its owner dials again. It may be used from several goroutines; calls are made one at a time.
type Client struct {
	path string
	turn chan struct{} // holds the right to use calls
	call *stream

	mu   sync.Mutex
	lost error // why the client is dead, nil while it is alive
}

var _ Dataplane = (*Client)(nil)

// Dial connects to the dataplane that serves the Unix socket at path. It tries once: retries are the caller's.
func Dial(ctx context.Context, path string) (*Client, error) {
	s, err := open(ctx, path, kindCalls)
	if err != nil {
		return nil, err
	}
	return &Client{path: path, turn: make(chan struct{}, 1), call: s}, nil
}

// Close ends the connection of the calls. Event channels end with the context they were opened with.
func (c *Client) Close() error {
	c.die(net.ErrClosed)
	return nil
}

// Apply implements Dataplane.
func (c *Client) Apply(ctx context.Context, t *Tables) error {
	_, err := c.do(ctx, &request{Call: callApply, Tables: t})
	return err
}

// Stats implements Dataplane.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	r, err := c.do(ctx, &request{Call: callStats})
	return answer(r.Stats, err, "answered without counters")
}

// Where implements Dataplane.
func (c *Client) Where(ctx context.Context, flow *Tuple) (*Where, error) {
	r, err := c.do(ctx, &request{Call: callWhere, Flow: flow})
	return answer(r.Where, err, "has no answer about the flow")
}

// Trace implements Dataplane.
func (c *Client) Trace(ctx context.Context, order *TraceOrder) (*Trace, error) {
	r, err := c.do(ctx, &request{Call: callTrace, Trace: order})
	return answer(r.Trace, err, "has no answer about the trace")
}

// Capture implements Dataplane.
func (c *Client) Capture(ctx context.Context, order *CaptureOrder) (*Capture, error) {
	r, err := c.do(ctx, &request{Call: callCapture, Capture: order})
	return answer(r.Capture, err, "has no answer about the capture")
}

// Sessions implements Dataplane.
func (c *Client) Sessions(ctx context.Context, order *SessionOrder) (*Sessions, error) {
	r, err := c.do(ctx, &request{Call: callSessions, Sessions: order})
	return answer(r.Sessions, err, "has no answer about the sessions")
}

// Lease implements Dataplane. Calls of one client wait for each other: whoever renews leases has a client of its own.
func (c *Client) Lease(ctx context.Context, lease *Lease) error {
	_, err := c.do(ctx, &request{Call: callLease, Lease: lease})
	return err
}

// answer is the part of a response that answers a call, or the call's error. What is said tells that the part is not there.
func answer[T any](part *T, err error, said string) (*T, error) {
	if err == nil && part == nil {
		err = fmt.Errorf("the dataplane %s: it may be of another version", said)
	}
	if err != nil {
		return nil, err
	}
	return part, nil
}

// Events implements Dataplane. It opens a connection of its own.
func (c *Client) Events(ctx context.Context) (<-chan Event, error) {
	if err := c.alive(); err != nil {
		return nil, err
	}
	s, err := open(ctx, c.path, kindEvents)
	if err != nil {
		return nil, err
	}
	events := make(chan Event, 256)
	stop := context.AfterFunc(ctx, func() { s.conn.Close() })
	go func() {
		defer close(events)
		defer stop()
		defer s.conn.Close()
		for {
			var e Event
			if s.receive(&e) != nil {
				return
			}
			select {
			case events <- e:
			case <-ctx.Done():
				return
			}
		}
	}()
	return events, nil
}

func (c *Client) do(ctx context.Context, q *request) (r response, err error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return r, fmt.Errorf("the dataplane was still busy with an earlier call: %w", ctx.Err())
	}
	defer func() { <-c.turn }()
	if err := c.alive(); err != nil {
		return r, err
	}
	err = bounded(ctx, c.call.conn, func() error {
		if err := c.call.send(q, 0); err != nil {
			return err
		}
		return c.call.receive(&r)
	})
	if err != nil {
		// The stream may be in the middle of a message: it cannot be used any more.
		c.die(err)
		return r, fmt.Errorf("%w: %w", ErrDisconnected, err)
	}
	if r.Refusal != "" {
		return r, &RefusedError{r.Refusal}
	}
	return r, nil
}

func (c *Client) alive() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		return nil
	}
	return fmt.Errorf("%w (%w): dial again", ErrDisconnected, c.lost)
}

func (c *Client) die(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost == nil {
		c.lost = why
		c.call.conn.Close()
	}
}

// bounded runs fn and makes reads and writes on conn fail once ctx ends.
func bounded(ctx context.Context, conn net.Conn, fn func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	err := fn()
	if !stop() {
		// The deadline is set or about to be: this connection is spent even if fn was just in time.
		return ctx.Err()
	}
	return err
}

// open connects and shakes hands.
func open(ctx context.Context, path string, kind uint8) (*stream, error) {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("no dataplane serves %s: start sluice-dataplane: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot connect to the dataplane: %w", err)
	}
	s := newStream(conn)
	var answer hello
	err = bounded(ctx, conn, func() error {
		// A dataplane that refuses may have said so and closed before our word reached it: what it said is read all the same.
		sent := s.send(&hello{Magic: wireMagic, Version: wireVersion, Kind: kind}, 0)
		if err := s.receive(&answer); err != nil {
			return cmp.Or(sent, err)
		}
		return nil
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("the dataplane at %s does not answer, it may be waiting for its ports: see its log: %w", path, err)
	case errors.Is(err, io.EOF):
		err = fmt.Errorf("the dataplane at %s closed the connection, it may be of another release: %w", path, err)
	case err != nil:
		err = fmt.Errorf("the dataplane at %s does not understand us: %w", path, err)
	case answer.Refusal != "":
		err = fmt.Errorf("the dataplane at %s refuses the connection: %s", path, answer.Refusal)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return s, nil
}
