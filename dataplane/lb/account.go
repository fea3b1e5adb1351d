package lb

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// Account is what a worker has counted between one vserver and one service, in one cache line off the Go heap. What a vserver or a
// service has seen is the sum over its accounts.
//
// A packet touches nothing of it but one word elsewhere (Running), of which eight are on a line: with 10,000 vservers those lines
// stay in a core's caches where the accounts would not. Once a second the words are emptied into In and Out; until then they
// belong to what was counted.
type Account struct {
	In, Out          Traffic // from clients, to clients: without what runs
	Flows            uint64
	Running          uintptr // address of the word of packets from clients; RunningOut bytes on is that of packets to clients
	Open             uint32
	Vserver, Service uint32
	next             int32 // of the same service: so many accounts on in memory; 0: there is none
}

// Traffic counts packets and their bytes from the IP header on. Both wrap without harm: only differences are used.
type Traffic struct{ Packets, Bytes uint64 }

const accountSize = unsafe.Sizeof(Account{})

var _ = [1]struct{}{}[accountSize-64]

// A running word has the bytes in its lower bits and packets above them. It is emptied every two seconds at least, in which a worker
// carries less than 2^36 bytes (275 Gbit/s) and 2^28 packets.
const (
	runningShift = 36

	// RunningPacket is what a packet adds to a running word beside its bytes.
	RunningPacket = 1 << runningShift
	// RunningOut is how far the word of packets to clients is from that of packets from clients.
	RunningOut = 1 << 21
)

func (a *Account) running(at uintptr) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(nil), a.Running+at))
}

// traffic is what a running word holds.
func traffic(word uint64) Traffic { return Traffic{word >> runningShift, word & (RunningPacket - 1)} }

func (t *Traffic) add(o Traffic) {
	t.Packets += o.Packets
	t.Bytes += o.Bytes
}

// less is what has come since o.
func (t Traffic) less(o Traffic) Traffic { return Traffic{t.Packets - o.Packets, t.Bytes - o.Bytes} }

// settle empties the running words.
func (a *Account) settle() {
	in, out := a.running(0), a.running(RunningOut)
	a.In.add(traffic(*in))
	a.Out.add(traffic(*out))
	*in, *out = 0, 0
}

// counted is all that was counted so far. Only the worker may ask, and whoever asks by whole.
func (a *Account) counted() (in, out Traffic) {
	in, out = a.In.read(), a.Out.read()
	in.add(traffic(atomic.LoadUint64(a.running(0))))
	out.add(traffic(atomic.LoadUint64(a.running(RunningOut))))
	return in, out
}

func (t *Traffic) read() Traffic {
	return Traffic{atomic.LoadUint64(&t.Packets), atomic.LoadUint64(&t.Bytes)}
}

// Counted is what was counted in an account so far. Any goroutine may ask.
func (s *State) Counted(a *Account) (in, out Traffic) {
	s.whole(func() { in, out = a.counted() })
	return in, out
}

// whole reads while no running word is being emptied: again and again until that is so. The worker never waits for readers.
func (s *State) whole(read func()) {
	for {
		if n := s.settling.Load(); n&1 == 0 {
			if read(); s.settling.Load() == n {
				return
			}
		}
		runtime.Gosched()
	}
}

// Link adds an account, whose Vserver, Service and Running are set, to those whose packets its service has received and sent. It
// stays. All accounts of a state are an array.
func (s *State) Link(a *Account) {
	if a.Service >= entries {
		return
	}
	first := &s.service(a.Service).accounts
	if *first != 0 {
		a.next = int32((int(*first) - int(uintptr(unsafe.Pointer(a)))) / int(accountSize))
	}
	atomic.StoreUint64(first, uint64(uintptr(unsafe.Pointer(a)))) // for Recent, which must not see a without next
	s.top = max(s.top, a.Service)
}

// after is the next account of the same service; nil if there is none.
func (a *Account) after() *Account {
	if a.next == 0 {
		return nil
	}
	return (*Account)(unsafe.Add(unsafe.Pointer(a), int(a.next)*int(accountSize)))
}

// first is the first account of a service; nil if it has none.
func (v *serviceState) first() *Account {
	return (*Account)(unsafe.Add(unsafe.Pointer(nil), uintptr(atomic.LoadUint64(&v.accounts))))
}

// total is what this worker has counted for a service since it began.
func (v *serviceState) total() (sum Traffic) {
	for a := v.first(); a != nil; a = a.after() {
		in, out := a.counted()
		sum.add(in)
		sum.add(out)
	}
	return sum
}
