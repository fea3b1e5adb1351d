package lb

import (
	"sync/atomic"
	"unsafe"
)

// Account is where a worker counts the packets between one vserver and one service, in one cache line off the Go heap. What a
// vserver or a service has seen is the sum over its accounts.
type Account struct {
	In, Out          Traffic // from clients, to clients
	Flows, Open      uint64
	Vserver, Service uint32
	next             uintptr // of the same service
}

// Traffic counts packets and their bytes from the IP header on. Both wrap without harm: only differences are used.
type Traffic struct{ Packets, Bytes uint64 }

var _ = [1]struct{}{}[unsafe.Sizeof(Account{})-64]

// Link adds an account, whose Vserver and Service are set, to those whose packets its service has received and sent. It stays.
func (s *State) Link(a *Account) {
	if a.Service >= entries {
		return
	}
	first := &s.service(a.Service).accounts
	a.next = uintptr(*first)
	atomic.StoreUint64(first, uint64(uintptr(unsafe.Pointer(a)))) // for Recent, which must not see a without next
	s.top = max(s.top, a.Service)
}

// total is what this worker has counted for a service since it began: packets or bytes, by their place in Traffic.
func (v *serviceState) total(field uintptr) (sum uint64) {
	for p := uintptr(v.accounts); p != 0; {
		a := (*Account)(unsafe.Add(nil, p))
		sum += a.In.field(field) + a.Out.field(field)
		p = a.next
	}
	return sum
}

func (t *Traffic) field(at uintptr) uint64 { return *(*uint64)(unsafe.Add(unsafe.Pointer(t), at)) }
