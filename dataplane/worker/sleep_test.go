package worker

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"sluice/dataplane/flow"
	"sluice/dataplane/packet"
	"sluice/dataplane/port"
)

// deepQueue is a queue whose Wait ends by Wake alone: a wake-up that is lost is slept through for ever.
type deepQueue struct {
	port.Queue
	woken chan struct{} // holds one, as an eventfd that is readable
	waits atomic.Int64
	wakes atomic.Int64
}

func (q *deepQueue) Wait(int) { q.waits.Add(1); <-q.woken }

func (q *deepQueue) Wake() {
	q.wakes.Add(1)
	select {
	case q.woken <- struct{}{}:
	default:
	}
}

// TestHandOverWakes hands packets one by one to a worker that most often sleeps by then, or is just about to: none may be left
// lying until the next one comes. A worker that is awake is not woken.
func TestHandOverWakes(t *testing.T) {
	const packets = 3000
	m, err := port.NewMemoryQueues(4, 2, 64)
	if err != nil {
		t.Fatal(err)
	}
	mesh, err := NewMesh(2)
	if err != nil {
		t.Fatal(err)
	}
	var ws [2]*Worker
	var qs [2]*deepQueue
	for i := range ws {
		qs[i] = &deepQueue{Queue: m.Queue(i), woken: make(chan struct{}, 1)}
		if ws[i], err = New(Options{ID: i, Mesh: mesh, Queue: qs[i], Ports: testPorts, Flows: 64, FlowName: fmt.Sprint("sluice-flows-test", i)}); err != nil {
			t.Fatal(err)
		}
		oneVserver(t, ws[i])
	}
	sport := uint16(1000)
	for flow.OwnerByClient(packet.Addr4(query(0).SrcIP), packet.Swap16(sport), 2) != 1 {
		sport++
	}
	var stop atomic.Bool
	done := make(chan struct{}, 2)
	for _, w := range ws {
		go func() { w.Run(&stop); done <- struct{}{} }()
	}
	for i := range packets {
		if err := m.Inject(0, query(sport).Bytes()); err != nil {
			t.Fatal(err)
		}
		qs[0].Wake()
		for deadline := time.Now().Add(30 * time.Second); len(m.Sent(2)) == 0; {
			if time.Now().After(deadline) {
				t.Fatalf("packet %d of %d lies in the ring", i, packets)
			}
			time.Sleep(time.Duration(i%40) * time.Microsecond)
		}
	}
	stop.Store(true)
	for _, w := range ws {
		w.Wake()
	}
	<-done
	<-done
	if h, k := load(&ws[0].figures.handed), load(&ws[1].figures.taken); h != packets || k != packets {
		t.Errorf("%d packets were handed over and %d taken, not %d", h, k, packets)
	}
	slept := qs[1].waits.Load()
	if woken := qs[1].wakes.Load(); slept == 0 || woken > slept+4 { // those of Publish and of the end beside
		t.Errorf("worker 1 slept %d times and was woken %d times", slept, woken)
	}
	for _, w := range ws {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	for l := range 4 {
		m.Sent(l)
	}
	if m.PoolFree() != 64 || m.Err() != nil {
		t.Errorf("%d of 64 buffers came back, %v", m.PoolFree(), m.Err())
	}
	mesh.Close()
	m.Close()
}
