package lb

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math/bits"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sluice/dataplane/port/asm"
	"sluice/dataplane/table"
)

// Sessions are the persistence sessions of all workers: which service a client had last, so that its next flow goes there too.
// Several workers serve one client, since flows belong to them by address and port. Therefore there is one table, off the Go heap
// and without locks, of two words a session that are only ever changed by compare and swap:
//
//	key   the bits of the packet's addresses that count, inverted, so that 0 is a free slot
//	word  vserver (18 bits), kind (2), service (18), and the tick of the last flow (26); 0 while the slot is only claimed
//
// The kind is an api.Persistence. No persistence has the number 0, so that is the kind of clients who were spilled over: in the place
// of the service there is the backup vserver with which they stay.
//
// Whoever claims a slot first, then swaps its word in; the next one finds it. Two workers that choose for one client at the same
// moment meet at that swap, and the later one takes the earlier one's choice. A slot is freed in three steps, of which the first,
// a swap of the word for gone, says who frees it. A key has a bucket of eight slots, two cache lines, and no other place, so that
// a search never depends on what was freed before.
//
// The table holds so many sessions and no more: what finds no room goes without, and is counted by the caller. It has four times
// as many slots, so that a bucket is full before the table is for one new session in a thousand at most.
type Sessions struct {
	base    uintptr // of the buckets
	buckets uint64
	limit   uint64
	seed    [2]uint64
	shared  *sessionCounts
	open    uintptr // uint32 by vserver ID: how many sessions it has

	zero, perTick uint64 // cycles at tick 0, and a tick's

	mem []byte
}

// sessionCounts are counted by all workers, on cache lines of their own.
type sessionCounts struct {
	used uint64
	_    [15]uint64
}

// session is a slot.
type session struct{ key, word uint64 }

const (
	sessionSize = unsafe.Sizeof(session{})
	bucketSlots = 8
	bucketSize  = bucketSlots * sessionSize

	tickBits    = 26 // 77 days in tenths of a second: more than a session's longest idle time and the time to sweep it away
	tickMask    = 1<<tickBits - 1
	serviceAt   = tickBits
	serviceMask = table.MaxID
	kindAt      = serviceAt + 18
	vserverAt   = kindAt + 2
	whoMask     = ^uint64(1<<kindAt - 1)

	gone = uint64(1) // the word of a slot that is being freed: of no vserver

	// freshTicks is how old the tick in a word may be before a new flow writes another one: many flows of a client share a write.
	freshTicks = table.TicksPerSecond
)

var _ = [1]struct{}{}[serviceMask-(1<<18-1)]

// MaxSessions bounds a table to 64 GiB.
const MaxSessions = 1 << 30

// NewSessions returns a table of n sessions at most. Pages that are never used cost no memory. cycles is the clock now and hz its
// rate.
func NewSessions(n int, cycles, hz uint64, huge bool) (*Sessions, error) {
	if n < 1 || n > MaxSessions {
		return nil, fmt.Errorf("%d persistence sessions asked for: give a number from 1 to %d", n, MaxSessions)
	}
	buckets := uint64(1) << bits.Len64(uint64(4*n-1)/bucketSlots)
	size := int(buckets)*int(bucketSize) + int(unsafe.Sizeof(sessionCounts{})) + entries*4
	mem, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("no memory for %d persistence sessions (%d bytes), lower sessions: %w", n, size, err)
	}
	if huge {
		_ = syscall.Madvise(mem, syscall.MADV_HUGEPAGE) // a wish only
	}
	s := &Sessions{base: uintptr(unsafe.Pointer(&mem[0])), buckets: buckets, limit: uint64(n), zero: cycles,
		perTick: max(hz/table.TicksPerSecond, 1), mem: mem}
	s.shared = (*sessionCounts)(unsafe.Add(nil, s.base+uintptr(buckets)*bucketSize))
	s.open = uintptr(unsafe.Pointer(s.shared)) + unsafe.Sizeof(sessionCounts{})
	var b [16]byte
	rand.Read(b[:]) // it never fails
	s.seed = [2]uint64{binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])}
	return s, nil
}

// Close returns the memory; every worker has come to rest.
func (s *Sessions) Close() error {
	if s.mem == nil {
		return nil
	}
	mem := s.mem
	s.mem = nil
	return syscall.Munmap(mem)
}

// Tick is the tick of the sessions' clock at cycles: the same for every worker, whenever it started.
func (s *Sessions) Tick(cycles uint64) uint32 {
	return uint32((cycles - min(cycles, s.zero)) / s.perTick)
}

// Len is how many sessions there are. Any goroutine may ask.
func (s *Sessions) Len() uint64 { return atomic.LoadUint64(&s.shared.used) }

// Limit is how many there may be.
func (s *Sessions) Limit() uint64 { return s.limit }

// Of is how many sessions a vserver has. Any goroutine may ask.
func (s *Sessions) Of(vserver uint32) uint32 {
	if vserver >= entries {
		return 0
	}
	return atomic.LoadUint32(word(s.open, vserver))
}

// Slots is how many slots Sweep goes over in a round.
func (s *Sessions) Slots() uint64 { return s.buckets * bucketSlots }

// Client is what a session is looked for by.
type Client struct {
	key    uint64 // as in the slot
	who    uint64 // vserver and kind, as in the word
	bucket uintptr
	limit  uint32 // ticks without a new flow until it is forgotten

	Leaving bool // it stays with a service that is leaving
}

// serves tells whether the service may take a new flow of the client, whose service it is; or for one who was spilled over whether the
// vserver is there.
func (c *Client) serves(t *table.Set, service uint32) bool {
	if c.who>>kindAt&3 == 0 {
		return t.VserverOf(service) != nil
	}
	return t.Up(service) || c.Leaving && t.Leaving(service)
}

// Client finds the place of the sessions of a vserver for packets whose addresses, narrowed to what counts, are a (see packet.Key).
// limit is the time in ticks that a session may be idle.
func (s *Sessions) Client(vserver uint32, kind uint8, a uint64, limit uint32) Client {
	who := uint64(vserver)<<vserverAt | uint64(kind&3)<<kindAt
	hi, lo := bits.Mul64(a^s.seed[0], who^s.seed[1]|1)
	number, _ := bits.Mul64((hi^lo)*0x9e3779b97f4a7c15, s.buckets)
	return Client{key: ^a, who: who, bucket: s.base + uintptr(number)*bucketSize, limit: limit}
}

// Fetch has the place of a client's session fetched into the cache.
func (c Client) Fetch() {
	asm.Prefetch1(c.bucket)
	asm.Prefetch1(c.bucket + bucketSize/2)
}

func at(p uintptr) *session { return (*session)(unsafe.Add(nil, p)) }

// find is the slot of a client's session and its word; 0 if it has none.
func (c *Client) find() (slot uintptr, word uint64) {
	for slot = c.bucket; slot != c.bucket+bucketSize; slot += sessionSize {
		e := at(slot)
		if atomic.LoadUint64(&e.key) == c.key {
			if word = atomic.LoadUint64(&e.word); word&whoMask == c.who {
				return slot, word
			}
		}
	}
	return 0, 0
}

func serviceIn(word uint64) uint32 { return uint32(word>>serviceAt) & serviceMask }

// age is how many ticks lie between a word's and now. A tick that another worker wrote may lie a little ahead.
func age(word uint64, now uint32) uint32 {
	n := (now - uint32(word)) & tickMask
	if n > tickMask/2 {
		return 0
	}
	return n
}

// Find returns the service of the client's session; 0 if there is none, it has been idle too long, or the service may not take
// new flows.
func (c *Client) Find(now uint32, t *table.Set) (service uint32) {
	_, word := c.find()
	if service = serviceIn(word); word == 0 || age(word, now) >= c.limit || !c.serves(t, service) {
		return 0
	}
	return service
}

// Use is Find for a flow that is about to be opened: the session's idle time begins anew.
func (c *Client) Use(now uint32, t *table.Set) (service uint32) {
	slot, word := c.find()
	if word == 0 {
		return 0
	}
	idle, service := age(word, now), serviceIn(word)
	if idle >= c.limit || !c.serves(t, service) {
		return 0
	}
	if idle >= freshTicks {
		// It fails if somebody else wrote, and what he wrote is as good.
		atomic.CompareAndSwapUint64(&at(slot).word, word, word&^tickMask|uint64(now&tickMask))
	}
	return service
}

// tries bounds how often Keep begins again because others write to the same slots at the same moment.
const tries = 4

// Keep makes service the client's, or tells who else is: another worker may have chosen meanwhile, and its choice holds if the
// service may take flows. kept is false if the table has no room: then the choice is for this flow only.
func (s *Sessions) Keep(c *Client, now uint32, t *table.Set, service uint32) (chosen uint32, kept bool) {
	fresh := c.who | uint64(service)<<serviceAt | uint64(now&tickMask)
	for range tries {
		slot, word := c.find()
		switch {
		case word == 0:
			full := false
			if slot, full = s.claim(c); full {
				return service, false
			}
			if slot != 0 && s.settle(c, slot, fresh) {
				return service, true
			}
		case age(word, now) < c.limit && c.serves(t, serviceIn(word)):
			return serviceIn(word), true
		case atomic.CompareAndSwapUint64(&at(slot).word, word, fresh):
			return service, true
		}
	}
	return service, true
}

// claim takes a free slot for a client: its key is there then and its word to be swapped in. One that was claimed for the same key
// and not yet used serves as well. It returns 0 if somebody else was faster.
func (s *Sessions) claim(c *Client) (slot uintptr, full bool) {
	free := uintptr(0)
	for slot = c.bucket; slot != c.bucket+bucketSize; slot += sessionSize {
		e := at(slot)
		key := atomic.LoadUint64(&e.key)
		if key != 0 && key != c.key || atomic.LoadUint64(&e.word) != 0 {
			continue
		}
		if key == c.key {
			return slot, false
		}
		if free == 0 {
			free = slot
		}
	}
	if free == 0 {
		return 0, true
	}
	if atomic.AddUint64(&s.shared.used, 1) > s.limit {
		atomic.AddUint64(&s.shared.used, ^uint64(0))
		return 0, true
	}
	if !atomic.CompareAndSwapUint64(&at(free).key, 0, c.key) {
		atomic.AddUint64(&s.shared.used, ^uint64(0))
		return 0, false
	}
	return free, false
}

// settle swaps the word of a claimed slot in. It reports false if somebody else did, or freed the slot before.
func (s *Sessions) settle(c *Client, slot uintptr, word uint64) bool {
	e := at(slot)
	if !atomic.CompareAndSwapUint64(&e.word, 0, word) {
		return false
	}
	if atomic.LoadUint64(&e.key) != c.key {
		// A sweep took the slot for one that nobody was about to use. From now on the word keeps others away from it.
		atomic.CompareAndSwapUint64(&e.word, word, 0)
		return false
	}
	atomic.AddUint32(wordOf(s.open, c.who), 1)
	return true
}

// wordOf is a vserver's place in the array at p, by what is in a word.
func wordOf(p uintptr, w uint64) *uint32 { return word(p, uint32(w>>vserverAt)) }

// free empties a slot whose word is w. It reports false if somebody else has changed the word.
func (s *Sessions) free(e *session, w uint64) bool {
	if w == gone || !atomic.CompareAndSwapUint64(&e.word, w, gone) {
		return false
	}
	atomic.StoreUint64(&e.key, 0)
	atomic.StoreUint64(&e.word, 0)
	atomic.AddUint64(&s.shared.used, ^uint64(0))
	if w != 0 {
		atomic.AddUint32(wordOf(s.open, w), ^uint32(0))
	}
	return true
}

// Session is one for who reads the table.
type Session struct {
	Vserver, Service uint32
	Kind             uint8
	A                uint64 // the addresses that count, as in a packet.Key
	Idle             uint32 // ticks since its last flow
}

func sessionOf(key, w uint64, now uint32) Session {
	return Session{Vserver: uint32(w >> vserverAt), Service: serviceIn(w), Kind: uint8(w>>kindAt) & 3, A: ^key, Idle: age(w, now)}
}

// Sweep looks at n slots from a cursor on, around the end, and frees those whose session has been idle for longer than its
// vserver's tables say, and those that were claimed and never used. It returns the cursor for the next time.
func (s *Sessions) Sweep(cursor uint64, n int, now uint32, t *table.Set) uint64 {
	slots := s.Slots()
	for ; n > 0; n-- {
		if cursor >= slots {
			cursor = 0
		}
		e := at(s.base + uintptr(cursor)*sessionSize)
		cursor++
		if atomic.LoadUint64(&e.key) == 0 {
			continue
		}
		w := atomic.LoadUint64(&e.word)
		if w == 0 || w != gone && age(w, now) >= t.SessionLimit(uint32(w>>vserverAt), uint8(w>>kindAt)&3) {
			s.free(e, w)
		}
	}
	return cursor
}

// Drop frees the sessions that match, and says how many. Any goroutine may do so.
func (s *Sessions) Drop(match func(Session) bool) (dropped uint64) {
	for i := range s.Slots() {
		e := at(s.base + uintptr(i)*sessionSize)
		key, w := atomic.LoadUint64(&e.key), atomic.LoadUint64(&e.word)
		if key == 0 || w>>vserverAt == 0 {
			continue
		}
		// A worker may write the tick meanwhile: then it is another word of the same session.
		for k := 0; k < tries && match(sessionOf(key, w, 0)); k++ {
			if s.free(e, w) {
				dropped++
				break
			}
			if w = atomic.LoadUint64(&e.word); w>>vserverAt == 0 {
				break
			}
		}
	}
	return dropped
}

// List tells the sessions from a cursor on, until tell has had enough or the end is reached: then next is 0. A session that comes
// or goes meanwhile may be told or not.
func (s *Sessions) List(cursor uint64, now uint32, tell func(Session) (more bool)) (next uint64) {
	for slots := s.Slots(); cursor < slots; cursor++ {
		e := at(s.base + uintptr(cursor)*sessionSize)
		key := atomic.LoadUint64(&e.key)
		w := atomic.LoadUint64(&e.word)
		if key == 0 || w>>vserverAt == 0 || atomic.LoadUint64(&e.key) != key {
			continue
		}
		if !tell(sessionOf(key, w, now)) {
			return cursor
		}
	}
	return 0
}
