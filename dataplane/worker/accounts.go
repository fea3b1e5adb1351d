package worker

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sluice/dataplane/lb"
	"sluice/dataplane/port/asm"
)

// account is where the packets between one vserver and one service are counted, so that a packet touches one line of counters
// and not two.
type account = lb.Account

const (
	accountSize = 64

	// flow.Entry.Account is the place of a direction's traffic in units of its size: four to an account, the first is in, the
	// second is out. So a packet's counters are one shift away.
	accountShift = 4
	perAccount   = accountSize >> accountShift
	outward      = 1

	// maxAccounts is how many pairs of vserver and service can be told apart. What is beyond is counted in account 0, which is
	// nobody's.
	maxAccounts  = 1 << 18
	accountIndex = 2 * maxAccounts
)

var (
	_ = [1]struct{}{}[unsafe.Sizeof(account{})-accountSize]
	_ = [1]struct{}{}[unsafe.Offsetof(account{}.Out)-outward<<accountShift]
)

// accounts are all accounts, off the Go heap, with a hash index of their numbers. The worker alone writes; accounts are never
// removed, so that figures never fall.
type accounts struct {
	base  uintptr // array of account
	index uintptr // uint32 numbers, 0 = empty, linear probing
	used  atomic.Uint32
	mem   []byte

	lb *lb.State // learns of every account
}

func (a *accounts) open(s *lb.State, huge bool) error {
	const size = maxAccounts*accountSize + accountIndex*4
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("no memory for the counters of vservers and services (%d bytes): %w", size, err)
	}
	if huge {
		_ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) // a wish only
	}
	a.mem, a.base = mem, uintptr(unsafe.Pointer(&mem[0]))
	a.index = a.base + maxAccounts*accountSize
	a.lb = s
	a.used.Store(1)
	return nil
}

func (a *accounts) close() error {
	if a.mem == nil {
		return nil
	}
	return syscall.Munmap(a.mem)
}

// at is the account of a number.
func (a *accounts) at(n uint32) *account {
	return (*account)(at(a.base + uintptr(n&(maxAccounts-1))*accountSize))
}

// of is the account of a flow, by its entry's Account.
func (a *accounts) of(place uint32) *account { return a.at(place / perAccount) }

// counts is where the packets of a flow's direction are counted.
func (a *accounts) counts(place uint32) *lb.Traffic {
	return (*lb.Traffic)(at(a.base + uintptr(place)<<accountShift))
}

// place is where the search for a pair's number begins.
func place(vserver, service uint32) uint32 {
	hi, lo := bits.Mul64((uint64(vserver)<<32|uint64(service))^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return uint32(hi ^ lo)
}

// fetch has the place fetched at which number will look.
func (a *accounts) fetch(vserver, service uint32) {
	asm.Prefetch1(a.index + uintptr(place(vserver, service)&(accountIndex-1))*4)
}

// number finds the account of a pair, or opens it.
func (a *accounts) number(vserver, service uint32) uint32 {
	for i := place(vserver, service); ; i++ {
		p := u32(a.index + uintptr(i&(accountIndex-1))*4)
		if *p == 0 {
			n := a.used.Load()
			if n == maxAccounts {
				return 0
			}
			c := a.at(n)
			c.Vserver, c.Service = vserver, service
			a.lb.Link(c)
			*p = n
			a.used.Store(n + 1)
			return n
		}
		if c := a.at(*p); c.Vserver == vserver && c.Service == service {
			return *p
		}
	}
}
