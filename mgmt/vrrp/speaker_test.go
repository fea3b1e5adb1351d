package vrrp

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// fast has takeovers within two seconds. A machine that is so busy that a master is not heard for longer has them elect
// another one, which is as it should be: tests look for what they have caused.
func fast(priority uint8) func(*Intent) {
	return func(in *Intent) { in.Hello, in.Priority = 500*time.Millisecond, priority }
}

// because tells whether a router has ever changed its role because of what some address said.
func (s State) because(of string) bool {
	return slices.ContainsFunc(s.History, func(t Transition) bool { return strings.Contains(t.Reason, of) })
}

// TestSpeakersElectOneMaster: three on a switch; the best is master, the second takes over when it gives up or vanishes.
func TestSpeakersElectOneMaster(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	a, b, c := l.host(1), l.host(2), l.host(3)
	sa, sb, sc := a.speak(a.intend(fast(210))), b.speak(b.intend(fast(160))), c.speak(c.intend(fast(110)))
	sa.becomes(Master)
	eventually(t, "both others know the master", func() bool {
		return sb.state().MasterAddress == a.addr.Addr() && sc.state().MasterAddress == a.addr.Addr()
	})
	if got := sb.state(); got.MasterPriority != 210 || got.MasterMAC != MAC(51) || got.MasterInterval != 500*time.Millisecond || got.Role != Backup {
		t.Errorf("backup: %+v", got)
	}
	sa.end()
	if got := sa.told[len(sa.told)-1]; got.Role != Init || got.Reason != "management ends" {
		t.Errorf("the last word was %+v", got)
	}
	sb.becomes(Master)
	if got := sb.state().Reason; got != "192.0.2.1 gave up" {
		t.Errorf("reason: %s", got)
	}
	b.unplug()
	sb.becomes(Init)
	sc.becomes(Master)
	b.plug() // as the device of another dataplane: the same name, another index
	sb.becomes(Master)
	sc.becomes(Backup)
}

// TestReleaseStopsFirst: Changed is told before the advert of priority 0 leaves, and after the first advert of a takeover.
func TestReleaseStopsFirst(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h := l.host(1)
	s := h.speak(h.intend(fast(100)))
	s.becomes(Master)
	held := h.intend(fast(100))
	held.Held = true
	s.Update([]Intent{held})
	s.becomes(Backup)
	eventually(t, "the advert of priority 0 is seen", func() bool {
		list, _ := l.advertsOf(h)
		return len(list) > 0 && list[len(list)-1].priority == 0
	})
	list, _ := l.advertsOf(h)
	if zero := slices.IndexFunc(list, func(a heard) bool { return a.priority == 0 }); zero != len(list)-1 {
		t.Errorf("after the advert of priority 0 came %d others", len(list)-1-zero)
	}
	if h := s.state(); h.Reason != "an operator holds it as backup" {
		t.Errorf("%+v", h)
	}
}

// TestGratuitousARPOfAMaster: ten for each address in two bursts, with the virtual MAC as source in Ethernet and in ARP.
func TestGratuitousARPOfAMaster(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h := l.host(1)
	in := h.intend(fast(100))
	for i := range byte(40) {
		in.VIPs = append(in.VIPs, netip.AddrFrom4([4]byte{192, 0, 2, 101 + i}))
	}
	s := h.speak(in)
	s.becomes(Master)
	eventually(t, "all gratuitous ARP is seen", func() bool { return len(l.gratuitousOf(MAC(51))) >= 41*garpRounds })
	count := map[netip.Addr]int{}
	for _, f := range l.gratuitousOf(MAC(51)) {
		ip := netip.AddrFrom4([4]byte(f.data[28:]))
		count[ip]++
		if want := gratuitous(51, ip); string(f.data[:42]) != string(want) {
			t.Fatalf("%x, want %x", f.data, want)
		}
	}
	for _, ip := range in.VIPs {
		if count[ip] < garpRounds {
			t.Errorf("%s was told %d times", ip, count[ip])
		}
	}
	if got := s.count(51); got.Gratuitous < 41*garpRounds || got.Transitions == 0 || got.Sent == 0 {
		t.Errorf("counted %+v", got)
	}
}

// TestSeveralRoutersAndDevices: what is not configured any more gives up, what stays is not touched, what is wrong is left out.
func TestSeveralRouters(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h := l.host(1)
	var intents []Intent
	for id := range uint8(20) {
		in := h.intend(fast(100))
		in.ID, in.VIPs = id+1, []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 101 + id})}
		intents = append(intents, in)
	}
	s := h.speak(intents...)
	eventually(t, "all are master", func() bool {
		return len(s.States()) == 20 && !slices.ContainsFunc(s.States(), func(s State) bool { return s.Role != Master })
	})
	intents[3].Hello = time.Millisecond // wrong
	s.Update(slices.Delete(slices.Clone(intents), 10, 11))
	eventually(t, "two are gone", func() bool { return len(s.States()) == 18 })
	for _, now := range s.States() {
		if i := slices.IndexFunc(now.History, func(t Transition) bool { return t.To == Init }); i >= 0 {
			t.Errorf("vrID %d: %+v", now.ID, now.History)
		}
	}
	eventually(t, "both gave up", func() bool {
		list, _ := l.advertsOf(h)
		gone := map[uint8]bool{}
		for _, a := range list {
			if a.priority == 0 {
				gone[a.id] = true
			}
		}
		return len(gone) == 2 && gone[4] && gone[11]
	})
	for range 1000 { // commits come in any number
		s.Update(intents)
	}
	s.Update(nil)
	eventually(t, "all are gone", func() bool { return len(s.States()) == 0 })
}

// forge sends frames from a host.
func (h *host) forge(frames func(send func([]byte))) {
	t := h.lan.t
	t.Helper()
	within(h.ns, func() {
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer unix.Close(fd)
		to := &unix.SockaddrLinklayer{Protocol: bigEndian(unix.ETH_P_IP), Ifindex: h.device().Attrs().Index}
		frames(func(f []byte) {
			if err := unix.Sendto(fd, f, 0, to); err != nil {
				t.Error(err)
			}
		})
	})
}

// TestForgedAdverts: what cannot be from a neighbor is counted by what is wrong with it, and nothing else happens.
func TestForgedAdverts(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h, evil := l.host(1), l.host(66)
	s := h.speak(h.intend(fast(100)))
	s.becomes(Master)
	good := advert{version: 3, id: 51, priority: 255, interval: time.Second, addresses: []netip.Addr{vip}, checksum: ChecksumRFC9568}
	other := func(change func(*advert)) []byte {
		a := good
		change(&a)
		return a.frame(evil.addr.Addr())
	}
	far := good.frame(evil.addr.Addr())
	far[22] = 254
	spoilt := good.frame(evil.addr.Addr())
	spoilt[36]++
	unicast := good.frame(evil.addr.Addr())
	unicast[30] = 192
	rows := []struct {
		id    uint8
		why   Refusal
		frame []byte
	}{
		{51, TTL, resum(far)}, {51, Sum, spoilt}, {51, Destination, resum(unicast)},
		{51, OwnAddress, good.frame(h.addr.Addr())},
		{51, OffLink, good.frame(netip.MustParseAddr("198.51.100.1"))},
		{51, Version, other(func(a *advert) { a.version = 2 })},
		{51, Length, other(func(a *advert) { a.addresses = nil })},
		{51, Interval, other(func(a *advert) { a.interval = 0 })},
		{0, ID, other(func(a *advert) { a.id = 52 })},
	}
	evil.forge(func(send func([]byte)) {
		for i, row := range rows {
			for range i + 1 {
				send(row.frame)
			}
		}
	})
	for i, row := range rows {
		eventually(t, fmt.Sprintf("%d forged adverts are counted as %s", i+1, row.why), func() bool {
			return s.count(row.id).Refused[row.why] == uint64(i+1)
		})
	}
	if st := s.state(); st.because("192.0.2.66") || s.count(51).Received != 0 {
		t.Errorf("%+v, %+v", st, s.count(51))
	}
}

// TestStormOfAdverts: 10,000 a second of each kind, and the roles stay as they are.
func TestStormOfAdverts(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	a, b, evil := l.host(1), l.host(2), l.host(66)
	slow := func(priority uint8) func(*Intent) { // so that a busy machine is not the cause of anything
		return func(in *Intent) { in.Hello, in.Dead, in.Priority = 2*time.Second, 20*time.Second, priority }
	}
	sa := a.speak(a.intend(slow(210)))
	sa.becomes(Master)
	sb := b.speak(b.intend(slow(160)))
	eventually(t, "the backup knows its master", func() bool { return sb.state().MasterAddress == a.addr.Addr() })
	good := advert{version: 3, id: 51, priority: 1, interval: 500 * time.Millisecond, addresses: []netip.Addr{vip}, checksum: ChecksumRFC9568}
	far := good.frame(evil.addr.Addr())
	far[22] = 1
	stray := good
	stray.id = 200
	zero := good
	zero.priority = 0
	kinds := [][]byte{good.frame(evil.addr.Addr()), zero.frame(evil.addr.Addr()), resum(far), stray.frame(evil.addr.Addr()), good.frame(a.addr.Addr())}
	const seconds = 2
	evil.forge(func(send func([]byte)) {
		begin := time.Now()
		for i := range 10000 * seconds {
			send(kinds[i%len(kinds)])
			if i%100 == 99 { // 100 frames each 10 ms
				time.Sleep(time.Until(begin.Add(time.Duration(i+1) * 100 * time.Microsecond)))
			}
		}
	})
	// Some may have found no room in the socket.
	eventually(t, "many lesser adverts have been heard", func() bool { return sa.count(51).Received >= 1000 && sb.count(51).Received >= 1000 })
	eventually(t, "many others were refused", func() bool {
		return sa.count(51).Refused[TTL] >= 500 && sa.count(51).Refused[OwnAddress] >= 500 && sa.count(0).Refused[ID] >= 500
	})
	for _, s := range []*speaking{sa, sb} {
		if got := s.state(); got.because("192.0.2.66") {
			t.Errorf("%+v", got)
		}
	}
	sa.becomes(Master)
	sb.becomes(Backup)
	if sent := sa.count(51).Sent; sent > 1000*seconds {
		t.Errorf("the master answered with %d adverts", sent)
	}
	sb.mu.Lock()
	told := len(sb.told)
	sb.mu.Unlock()
	if told > 20*(seconds+60) { // ten a second; the machine may be slow
		t.Errorf("the backup told of %d changes", told)
	}
	for range 3 { // the loop is alive
		sa.beats()
	}
}

// TestTaggedAdvertsAreAnotherVLANs: a tag that the kernel keeps beside the frame does not make it ours.
func TestTaggedAdvertsAreAnotherVLANs(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h, evil := l.host(1), l.host(66)
	s := h.speak(h.intend(fast(100)))
	s.becomes(Master)
	good := advert{version: 3, id: 51, priority: 255, interval: time.Second, addresses: []netip.Addr{vip}, checksum: ChecksumRFC9568}
	plain := good.frame(evil.addr.Addr())
	tagged := slices.Concat(plain[:12], []byte{0x81, 0, 0, 7}, plain[12:])
	evil.forge(func(send func([]byte)) {
		for range 10 {
			send(tagged)
		}
		good.id = 9 // marks the end
		send(good.frame(evil.addr.Addr()))
	})
	eventually(t, "the last frame is counted", func() bool { return s.count(0).Refused[ID] == 1 })
	if st := s.state(); st.because("192.0.2.66") || s.count(51).Received != 0 {
		t.Errorf("%+v, %+v", st, s.count(51))
	}
}

// TestBeatEndsWithAHungLoop: a listener that does not return stops the beat, and with it the lease in the dataplane.
func TestBeatEndsWithAHungLoop(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	h := l.host(1)
	s := h.speak(h.intend(fast(100)))
	s.becomes(Master)
	s.mu.Lock() // Changed waits for it
	in := h.intend(fast(100))
	in.Held = true
	s.Update([]Intent{in})
	time.Sleep(3 * beat) // it may have been between two beats
	select {
	case <-s.Beat():
	default:
	}
	hardly(t, 5*beat, "a hung loop beats", func() bool {
		select {
		case <-s.Beat():
			return true
		default:
			return false
		}
	})
	s.mu.Unlock()
	s.beats() // after it went on
}

// TestManyTakeOverAtOnce: a hundred virtual routers lose their master, and telling of each takes a while. Those that have taken
// over go on advertising meanwhile, or others would take over from them.
func TestManyTakeOverAtOnce(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	a, b := l.host(1), l.host(2)
	intents := func(h *host, priority uint8) (list []Intent) {
		for id := range uint8(100) {
			list = append(list, h.intend(func(in *Intent) {
				fast(priority)(in)
				in.ID, in.VIPs = id+1, []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, 101 + id})}
			}))
		}
		return list
	}
	all := func(s *speaking, role Role) bool {
		list := s.States()
		return len(list) == 100 && !slices.ContainsFunc(list, func(s State) bool { return s.Role != role })
	}
	sa := a.speak(intents(a, 200)...)
	eventually(t, "the first is master of all", func() bool { return all(sa, Master) })
	sb := b.speak()
	sb.mu.Lock()
	sb.pause = 20 * time.Millisecond // two seconds for all; a master is dead after one and a half
	sb.mu.Unlock()
	sb.Update(intents(b, 100))
	eventually(t, "the second is backup of all", func() bool { return all(sb, Backup) })
	a.unplug()
	eventually(t, "the second is master of all", func() bool { return all(sb, Master) })
	last := map[uint8]time.Time{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.frames {
		h, why := read(f.data)
		if why != "" || h.src != b.addr.Addr() {
			continue
		}
		if gap := f.at.Sub(last[h.id]); !last[h.id].IsZero() && gap > 1500*time.Millisecond {
			t.Errorf("vrID %d was not heard for %v", h.id, gap)
		}
		last[h.id] = f.at
	}
}
