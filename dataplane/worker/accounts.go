package worker

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sluice/dataplane/lb"
	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// account has what was counted between one vserver and one service, so that a packet touches one counter and not two.
type account = lb.Account

const (
	accountSize = 64

	// flow.Entry.Account is the number of an account, with outward for packets to clients: the place of the running word in
	// which a direction's packets are counted.
	runningShift = 3
	outward      = maxAccounts
	runningSize  = 2 * maxAccounts << runningShift

	// maxAccounts is how many pairs of vserver and service can be told apart. What is beyond is counted in account 0, which is
	// nobody's.
	maxAccounts  = 1 << 18
	accountIndex = 2 * maxAccounts
	fewAccounts  = 1 << 13

	// nearAccounts is of how many accounts the running words stay in a core's caches by themselves. Where there are more, those of
	// a burst are fetched ahead. With 10,000 that gains nothing.
	nearAccounts = 1 << 15

	// A word of the index is the number of an account, above it the ID of its service, above that the vserver's.
	accountBits = 18
)

var (
	_ = [1]struct{}{}[unsafe.Sizeof(account{})-accountSize]
	_ = [1]struct{}{}[lb.RunningOut-outward<<runningShift]
	_ = [1]struct{}{}[runningShift-3] // as asm.PrefetchIndexed has it
	_ = [1]struct{}{}[maxAccounts>>accountBits-1]
	_ = [1]struct{}{}[table.MaxID>>accountBits]
)

// accounts are all accounts, off the Go heap, with a hash index of their numbers. The worker alone writes; accounts are never
// removed, so that figures never fall.
type accounts struct {
	running uintptr // array of running words: see lb.Account
	base    uintptr // array of account
	index   uintptr // uint64 words, 0 = empty, linear probing
	mask    uint32  // of the index: a small part of it serves as long as it can, since fewer pages are quicker
	used    atomic.Uint32
	mem     []byte

	lb *lb.State // learns of every account
}

func (a *accounts) open(s *lb.State, huge bool) error {
	const size = runningSize + maxAccounts*accountSize + accountIndex*8
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return fmt.Errorf("no memory for the counters of vservers and services (%d bytes): %w", size, err)
	}
	if huge {
		_ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) // a wish only
	}
	a.mem, a.running = mem, uintptr(unsafe.Pointer(&mem[0]))
	a.base = a.running + runningSize
	a.index = a.base + maxAccounts*accountSize
	a.lb, a.mask = s, 2*fewAccounts-1
	a.used.Store(1)
	return nil
}

func (a *accounts) close() error {
	if a.mem == nil {
		return nil
	}
	return syscall.Munmap(a.mem)
}

// at is the account of a number, or of a flow by its entry's Account.
func (a *accounts) at(n uint32) *account {
	return (*account)(at(a.base + uintptr(n&(maxAccounts-1))*accountSize))
}

// count counts a packet of a flow's direction.
func (a *accounts) count(place uint32, bytes uint64) {
	*u64(a.running + uintptr(place)<<runningShift) += lb.RunningPacket + bytes
}

// place is where the search for a pair's word begins. The services that a vserver is bound to mostly have IDs one behind the other,
// and so few lines of the index are in use.
func place(vserver, service uint32) uint32 {
	const line = 8
	hi, lo := bits.Mul64((uint64(vserver)<<32|uint64(service/line))^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return uint32(hi^lo)*line + service%line
}

// pairOf is what the word of a pair has above the number.
func pairOf(vserver, service uint32) uint64 { return uint64(vserver)<<accountBits | uint64(service) }

func (a *accounts) word(i uint32) *uint64 { return u64(a.index + uintptr(i&a.mask)*8) }

// fetch has the account fetched that number will find, if it is open.
func (a *accounts) fetch(vserver, service uint32) {
	pair := pairOf(vserver, service)
	for i := place(vserver, service); ; i++ {
		w := *a.word(i)
		if w>>accountBits == pair {
			asm.Prefetch1(a.base + uintptr(w&(maxAccounts-1))*accountSize)
		} else if w != 0 {
			continue
		}
		return
	}
}

// number finds the account of a pair, or opens it.
func (a *accounts) number(vserver, service uint32) uint32 {
	pair := pairOf(vserver, service)
	for i := place(vserver, service); ; i++ {
		w := a.word(i)
		if *w == 0 {
			n := a.used.Load()
			if n == maxAccounts {
				return 0
			}
			c := a.at(n)
			c.Vserver, c.Service, c.Running = vserver, service, a.running+uintptr(n)<<runningShift
			a.lb.Link(c)
			*w = pair<<accountBits | uint64(n)
			a.used.Store(n + 1)
			if n == fewAccounts {
				a.spread()
			}
			return n
		}
		if *w>>accountBits == pair {
			return uint32(*w) & (maxAccounts - 1)
		}
	}
}

// spread goes on with the whole index. It comes once, when many accounts have come up, and takes about as long as a rush of new flows
// in some bursts.
func (a *accounts) spread() {
	clear(unsafe.Slice(a.word(0), a.mask+1))
	a.mask = accountIndex - 1
	for n := a.used.Load() - 1; n > 0; n-- {
		c := a.at(n)
		i := place(c.Vserver, c.Service)
		for *a.word(i) != 0 {
			i++
		}
		*a.word(i) = pairOf(c.Vserver, c.Service)<<accountBits | uint64(n)
	}
}
