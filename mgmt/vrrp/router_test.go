package vrrp

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

// script plays a router through time, and writes down what it does.
type script struct {
	r       *router
	now     time.Time
	log     []string
	adverts []time.Time // of a priority above 0
	mute    bool        // the device takes nothing
}

var epoch = time.Unix(1000, 0)

func (s *script) ms() int64 { return s.now.Sub(epoch).Milliseconds() }

func (s *script) advertise(r *router, priority uint8) bool {
	if s.mute {
		return false
	}
	if priority == 0 {
		s.log = append(s.log, fmt.Sprintf("%d gives up", s.ms()))
	} else {
		s.adverts = append(s.adverts, s.now)
	}
	return true
}

func (s *script) changed(r *router) {
	s.log = append(s.log, fmt.Sprintf("%d %s", s.ms(), r.role))
}

// until lets time pass, with everything done when it is due.
func (s *script) until(ms int64) {
	end := epoch.Add(time.Duration(ms) * time.Millisecond)
	for due := s.r.due(); !due.After(end); due = s.r.due() {
		if due.After(s.now) {
			s.now = due
		}
		s.r.tick(s.now)
	}
	s.now = end
}

// event is what happens at a time.
type event struct {
	ms int64
	do func(*script)
}

func hear(ms int64, from string, priority uint8) event {
	return every(ms, ms, time.Second, from, priority)
}

// every has adverts of version 3 come in from one time to another.
func every(from, to int64, interval time.Duration, src string, priority uint8) event {
	return event{from, func(s *script) {
		for at := from; ; at += interval.Milliseconds() {
			s.until(at)
			h := heard{advert: sample(s.r.intent.Version, ChecksumRFC9568), src: netip.MustParseAddr("192.0.2." + src), mac: MAC(51)}
			h.priority, h.interval = priority, interval
			s.r.hear(s.now, h)
			if at >= to {
				return
			}
		}
	}}
}

func intend(ms int64, change func(*Intent)) event {
	return event{ms, func(s *script) {
		in := s.r.intent
		change(&in)
		s.r.update(s.now, in, true)
	}}
}

func unlink(ms int64) event {
	return event{ms, func(s *script) { s.r.update(s.now, s.r.intent, false) }}
}
func mute(ms int64, on bool) event { return event{ms, func(s *script) { s.mute = on }} }

// sleep has nothing done until a time, and then what is due.
func sleep(ms, until int64) event {
	return event{ms, func(s *script) {
		s.now = epoch.Add(time.Duration(until) * time.Millisecond)
		s.r.tick(s.now)
	}}
}

func intent(change func(*Intent)) Intent {
	in := Intent{ID: 51, Device: "tw0", Source: netip.MustParsePrefix("192.0.2.5/24"), VIPs: []netip.Addr{vip},
		Priority: 100, Preempt: true, Hello: time.Second, Dead: 3 * time.Second, Version: 3}
	if change != nil {
		change(&in)
	}
	return in
}

func play(in Intent, events []event, end int64) *script {
	s := &script{now: epoch}
	s.r = newRouter(in, s, epoch)
	s.r.update(epoch, in, true)
	for _, e := range events {
		s.until(e.ms)
		e.do(s)
	}
	s.until(end)
	return s
}

// TestRouter: the rows are adc.md 5.2 and RFC 9568, section 6.4. Times are in ms; 0 BACKUP begins each of them.
func TestRouter(t *testing.T) {
	v2 := func(in *Intent) { in.Version = 2 }
	fast := func(in *Intent) { in.Hello, in.Dead = 200*time.Millisecond, time.Second }
	second, half, fifth := time.Second, 500*time.Millisecond, 200*time.Millisecond
	for _, row := range []struct {
		name   string
		in     Intent
		events []event
		end    int64
		want   string
	}{
		{"alone: 3 s and the skew of 156/256 s", intent(nil), nil, 9000, "3609 MASTER"},
		{"alone, version 2", intent(v2), nil, 9000, "3609 MASTER"},
		{"alone, fast: 600 ms and 156/256 of 200 ms", intent(fast), nil, 2000, "721 MASTER"},
		{"alone, priority 255: it listens first, too", intent(func(in *Intent) { in.Priority = 255 }), nil, 9000, "3003 MASTER"},
		{"alone, priority 0", intent(func(in *Intent) { in.Priority = 0 }), nil, 60000, ""},
		{"alone, held", intent(func(in *Intent) { in.Held = true }), nil, 60000, ""},
		{"alone, the delay of preemption is not for it", intent(func(in *Intent) { in.Delay = time.Minute }), nil, 9000, "3609 MASTER"},
		{"the dead interval is shorter than three intervals", intent(func(in *Intent) { in.Dead = time.Second }), []event{every(0, 5000, second, "9", 150)}, 9000, "6609 MASTER"},
		{"a better master", intent(nil), []event{every(0, 20000, second, "9", 150)}, 20000, ""},
		{"a better master falls silent", intent(nil), []event{every(0, 5000, second, "9", 150)}, 9000, "8609 MASTER"},
		{"an equal master", intent(nil), []event{every(0, 20000, second, "1", 100)}, 20000, ""},
		{"a lesser master: after our master-down time", intent(nil), []event{every(500, 4500, second, "9", 90)}, 4500, "3609 MASTER"},
		{"a lesser master, delay of 2 s", intent(func(in *Intent) { in.Delay = 2 * second }), []event{every(500, 7500, second, "9", 90)}, 7500, "5609 MASTER"},
		{"a lesser master dies during the delay", intent(func(in *Intent) { in.Delay = time.Minute }), []event{every(500, 4500, second, "9", 90)}, 9000, "8109 MASTER"},
		{"a lesser master, no preemption", intent(func(in *Intent) { in.Preempt = false }), []event{every(0, 20000, second, "9", 1)}, 20000, ""},
		{"a lesser master dies, no preemption", intent(func(in *Intent) { in.Preempt = false }), []event{every(0, 5000, second, "9", 1)}, 9000, "8609 MASTER"},
		{"a lesser master, held", intent(func(in *Intent) { in.Held = true }), []event{every(0, 20000, second, "9", 1)}, 40000, ""},
		{"the master gives up: skew alone", intent(nil), []event{hear(1000, "9", 150), hear(2000, "9", 0)}, 4000, "2609 MASTER"},
		{"the master gives up, no preemption", intent(func(in *Intent) { in.Preempt = false }), []event{hear(1000, "9", 150), hear(2000, "9", 0)}, 4000, "2609 MASTER"},
		{"the master gives up, delay", intent(func(in *Intent) { in.Delay = time.Minute }), []event{hear(1000, "9", 150), hear(2000, "9", 0)}, 4000, "2609 MASTER"},
		{"the master gives up, fast", intent(fast), []event{every(0, 1000, fifth, "9", 150), every(1100, 1100, fifth, "9", 0)}, 2000, "1221 MASTER"},
		{"the master gives up, version 2: skew in seconds", intent(v2), []event{hear(1000, "9", 150), hear(2000, "9", 0)}, 4000, "2609 MASTER"},
		{"the master gives up and a better one is quicker", intent(nil), []event{hear(1000, "9", 150), hear(2000, "9", 0), every(2400, 9400, second, "8", 120)}, 9400, ""},
		{"the master gives up and a lesser one is quicker", intent(nil), []event{hear(1000, "9", 150), hear(2000, "9", 0), hear(2400, "8", 90)}, 4000, "2609 MASTER"},
		{"the master gives up, we are held", intent(func(in *Intent) { in.Held = true }), []event{hear(1000, "9", 150), hear(2000, "9", 0)}, 40000, ""},
		{"one that is not master gives up", intent(nil), []event{every(0, 3000, second, "9", 150), hear(3100, "8", 0), every(4000, 9000, second, "9", 150)}, 9000, ""},
		{"a lesser one says that it is master and gives up", intent(nil), []event{every(0, 3000, second, "9", 150), hear(3100, "8", 50), hear(3200, "8", 0), every(4000, 9000, second, "9", 150)}, 9000, ""},
		{"the master dies, and a lesser one is there", intent(func(in *Intent) { in.Delay = time.Minute }), []event{every(0, 3000, second, "9", 150), every(3100, 7100, second, "8", 50)}, 7100, "6609 MASTER"},
		{"somebody gives up before any is known", intent(nil), []event{hear(100, "9", 0)}, 4000, "709 MASTER"},
		{"the interval is learned: 1.5 s and 156/256 of 500 ms", intent(nil), []event{every(0, 5000, half, "9", 150)}, 9000, "6804 MASTER"},
		{"a longer one, which the dead interval bounds: 3 s and 156/256 of 2 s", intent(nil), []event{every(0, 8000, 2*second, "9", 150)}, 20000, "12218 MASTER"},
		{"a longer one than the dead interval, which is not meant for it", intent(fast), []event{every(0, 8000, 2*second, "9", 150)}, 20000, "15218 MASTER"},
		{"our own interval is back with our mastership", intent(nil), []event{every(0, 1000, fifth, "9", 150), hear(3000, "9", 150)}, 8000, "1721 MASTER|3000 BACKUP|6609 MASTER"},
		{"a better one appears", intent(nil), []event{every(5000, 20000, second, "9", 101)}, 20000, "3609 MASTER|5000 BACKUP"},
		{"an equal one of the higher address", intent(nil), []event{every(5000, 20000, second, "9", 100)}, 20000, "3609 MASTER|5000 BACKUP"},
		{"an equal one of the lower address", intent(nil), []event{every(5000, 20000, second, "1", 100)}, 20000, "3609 MASTER"},
		{"a lesser one", intent(nil), []event{every(5000, 20000, second, "9", 99)}, 20000, "3609 MASTER"},
		{"one gives up while we are master", intent(nil), []event{hear(5000, "9", 0)}, 20000, "3609 MASTER"},
		{"we yield without preemption, too", intent(func(in *Intent) { in.Preempt = false }), []event{every(5000, 9000, second, "9", 101)}, 9000, "3609 MASTER|5000 BACKUP"},
		{"the priority is 0 and comes back", intent(nil), []event{intend(5000, func(in *Intent) { in.Priority = 0 }), intend(30000, func(in *Intent) { in.Priority = 100 })}, 40000,
			"3609 MASTER|5000 BACKUP|5000 gives up|30609 MASTER"},
		{"held and let go", intent(nil), []event{intend(5000, func(in *Intent) { in.Held = true }), every(5400, 9400, second, "9", 50), intend(9500, func(in *Intent) { in.Held = false })}, 13100,
			"3609 MASTER|5000 BACKUP|5000 gives up|13009 MASTER"},
		{"our priority is raised", intent(nil), []event{every(0, 5000, second, "9", 150), intend(5100, func(in *Intent) { in.Priority = 200 }), every(6000, 9000, second, "9", 150)}, 9000, "8218 MASTER"},
		{"our priority is raised and lowered before we take over", intent(nil), []event{every(0, 5000, second, "9", 150), intend(5100, func(in *Intent) { in.Priority = 200 }),
			every(6000, 8000, second, "9", 150), intend(8100, func(in *Intent) { in.Priority = 100 }), every(9000, 20000, second, "9", 150)}, 20000, ""},
		{"the master's priority falls below ours", intent(nil), []event{every(0, 5000, second, "9", 150), every(6000, 9000, second, "9", 75)}, 9000, "8609 MASTER"},
		{"our priority falls as master, below the backup's", intent(nil), []event{intend(5000, func(in *Intent) { in.Priority = 50 }), every(8000, 9000, second, "9", 99)}, 9000, "3609 MASTER|8000 BACKUP"},
		{"the device goes as master", intent(nil), []event{unlink(5000), intend(7000, func(*Intent) {})}, 12000, "3609 MASTER|5000 INIT|5000 gives up|7000 BACKUP|10609 MASTER"},
		{"the port is down, then up", intent(nil), []event{intend(1000, func(in *Intent) { in.Down = "interface 1/1 is DOWN" }), intend(9000, func(in *Intent) { in.Down = "" })}, 13000,
			"1000 INIT|9000 BACKUP|12609 MASTER"},
		{"no source address", intent(func(in *Intent) { in.Source = netip.Prefix{} }), nil, 60000, "-"},
		{"our sleep is not the master's death", intent(nil), []event{every(0, 5000, second, "9", 150), sleep(5100, 15000), every(15001, 20000, second, "9", 150)}, 20000, ""},
		{"after our sleep there is nobody", intent(nil), []event{every(0, 5000, second, "9", 150), sleep(5100, 15000)}, 20000, "16000 MASTER"},
		{"a master that slept listens", intent(nil), []event{sleep(5000, 15000), every(15001, 18000, second, "9", 99)}, 19000, "3609 MASTER|15000 BACKUP|18609 MASTER"},
		{"a master that was a little late", intent(nil), []event{sleep(4000, 6000)}, 20000, "3609 MASTER"},
		{"a master that cannot be heard yields, and waits", intent(nil), []event{mute(5000, true), mute(20000, false)}, 30000, "3609 MASTER|7609 BACKUP|22046 MASTER"},
	} {
		s := play(row.in, row.events, row.end)
		got := strings.Join(s.log, "|")
		want := "0 BACKUP|" + row.want
		if row.want == "-" {
			want = ""
		}
		if got != strings.TrimSuffix(want, "|") {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, want)
		}
	}
}

// TestAdvertsOfAMaster: one at once, one each interval, one as soon as what they say is different, and none of a backup.
func TestAdvertsOfAMaster(t *testing.T) {
	s := play(intent(nil), []event{
		intend(5000, func(in *Intent) { in.Priority = 90 }),
		intend(5500, func(in *Intent) { in.Delay = time.Second }),
		intend(6200, func(in *Intent) { in.VIPs = append(slices.Clone(in.VIPs), vip.Next()) }),
		hear(7300, "9", 91),
	}, 10000)
	var at []int64
	for _, a := range s.adverts {
		at = append(at, a.Sub(epoch).Milliseconds())
	}
	if want := []int64{3609, 4609, 5000, 6000, 6200, 7200}; !slices.Equal(at, want) {
		t.Errorf("adverts at %v, want %v", at, want)
	}
}

// TestFloodOfLesserAdverts: each is answered, so that its sender yields, but not a flood by a flood.
func TestFloodOfLesserAdverts(t *testing.T) {
	flood := event{5000, func(s *script) {
		for i := range 10000 {
			s.now = epoch.Add(5*time.Second + time.Duration(i)*100*time.Microsecond)
			s.r.tick(s.now)
			s.r.hear(s.now, heard{advert: advert{version: 3, id: 51, priority: 1, interval: time.Second, addresses: []netip.Addr{vip}}, src: peer})
		}
	}}
	s := play(intent(nil), []event{flood}, 6000)
	if n := len(s.adverts); n < 20 || n > 60 {
		t.Errorf("%d adverts in all", n)
	}
	if s.r.role != Master {
		t.Errorf("it is %s", s.r.role)
	}
}

func TestChecksumFormFollowsTheLastAdvert(t *testing.T) {
	s := play(intent(nil), nil, 1000)
	for _, form := range []Checksum{ChecksumRFC5798, ChecksumRFC9568} {
		h := heard{advert: sample(3, form), src: peer}
		h.priority = 1
		s.r.hear(s.now, h)
		if got := s.r.advert(100).checksum; got != form {
			t.Errorf("%s after %s", got, form)
		}
		s.r.intent.Checksum = ChecksumRFC9568
		if got := s.r.advert(100).checksum; got != ChecksumRFC9568 {
			t.Errorf("%s although rfc9568 is configured", got)
		}
		s.r.intent.Checksum = ChecksumAuto
	}
}

// TestRefusals: what is well formed, but not for this router.
func TestRefusals(t *testing.T) {
	for _, row := range []struct {
		name    string
		version uint8
		src     string
		every   time.Duration
		want    Refusal
	}{
		{"as it should be", 3, "192.0.2.9", time.Second, ""},
		{"another interval in version 3", 3, "192.0.2.9", 300 * time.Millisecond, ""},
		{"the other version", 2, "192.0.2.9", time.Second, Version},
		{"our address", 3, "192.0.2.5", time.Second, OwnAddress},
		{"off the link", 3, "192.0.3.9", time.Second, OffLink},
		{"no address", 3, "0.0.0.0", time.Second, OffLink},
		{"a further subnet of the link", 3, "10.9.0.7", time.Second, ""},
	} {
		r := newRouter(intent(func(in *Intent) { in.OnLink = []netip.Prefix{netip.MustParsePrefix("10.9.0.1/24")} }), nil, epoch)
		h := heard{advert: sample(row.version, 0), src: netip.MustParseAddr(row.src)}
		h.interval = row.every
		if got := r.refusal(&h); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
	r := newRouter(intent(func(in *Intent) { in.Version = 2 }), nil, epoch)
	for every, want := range map[time.Duration]Refusal{time.Second: "", 2 * time.Second: Interval} {
		h := heard{advert: sample(2, 0), src: peer}
		h.interval = every
		if got := r.refusal(&h); got != want {
			t.Errorf("version 2 each %v: %q, want %q", every, got, want)
		}
	}
}

func TestReasons(t *testing.T) {
	for _, row := range []struct {
		events []event
		end    int64
		want   string
	}{
		{nil, 1000, "it has begun to listen"},
		{nil, 4000, "nobody was heard for 3.609s"},
		{[]event{hear(1000, "9", 150)}, 5000, "192.0.2.9 was not heard for 3.609s"},
		{[]event{hear(1000, "9", 150), hear(1500, "9", 0)}, 5000, "192.0.2.9 gave up"},
		{[]event{every(0, 4000, time.Second, "9", 90)}, 4000, "priority 100 is higher than 90 of 192.0.2.9"},
		{[]event{hear(4000, "9", 150)}, 4000, "192.0.2.9 has priority 150, which is higher than 100"},
		{[]event{hear(4000, "9", 100)}, 4000, "192.0.2.9 has the same priority and the higher address"},
		{[]event{intend(4000, func(in *Intent) { in.Priority, in.Reason = 0, "all vservers are DOWN" })}, 4000, "its priority is 0 (all vservers are DOWN)"},
		{[]event{intend(4000, func(in *Intent) { in.Held = true })}, 4000, "an operator holds it as backup"},
		{[]event{unlink(4000)}, 4000, "nothing carries frames of tw0"},
	} {
		s := play(intent(nil), row.events, row.end)
		if got := s.r.state().Reason; got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

func TestStateTellsOfTheMaster(t *testing.T) {
	s := play(intent(nil), []event{hear(1000, "9", 150)}, 1000)
	if got := s.r.state(); got.MasterAddress != netip.MustParseAddr("192.0.2.9") || got.MasterPriority != 150 || got.MasterMAC != MAC(51) || got.MasterInterval != time.Second {
		t.Errorf("backup: %+v", got)
	}
	s.until(6000)
	got := s.r.state()
	if got.MasterAddress != s.r.intent.Source.Addr() || got.MasterPriority != 100 || got.Lease != 2700*time.Millisecond || got.Since != epoch.Add(4609375*time.Microsecond) {
		t.Errorf("master: %+v", got)
	}
	for i := range 100 {
		s.r.update(s.now, s.r.intent, i%2 == 1)
	}
	if h := s.r.state().History; len(h) != historyLen || h[historyLen-1].To != Backup || h[historyLen-2].To != Init {
		t.Errorf("history: %v", h)
	}
}

// TestBurst: each address ten times in two halves, never more than 32 frames at once, and due at no other time.
func TestBurst(t *testing.T) {
	for _, n := range []int{1, 3, 32, 33, 1000} {
		var b burst
		b.start(epoch, n)
		sent, half := make([]int, n), 0
		for !b.done() {
			now := b.due()
			from, to := b.take(now)
			if to-from > garpChunk {
				t.Fatalf("%d frames at once", to-from)
			}
			for i := from; i < to; i++ {
				sent[i]++
			}
			if now.Sub(epoch) < garpRest {
				half += to - from
			}
		}
		if slices.Min(sent) != garpRounds || slices.Max(sent) != garpRounds || half != n*garpRounds/2 {
			t.Errorf("%d addresses: told %d to %d times, %d frames in the first second", n, slices.Min(sent), slices.Max(sent), half)
		}
	}
}

func TestIntentsAreChecked(t *testing.T) {
	for _, row := range []struct {
		want   string
		change func(*Intent)
	}{
		{"", nil},
		{"vrID 0", func(in *Intent) { in.ID = 0 }},
		{"no device", func(in *Intent) { in.Device = "" }},
		{"version 4", func(in *Intent) { in.Version = 4 }},
		{"seconds", func(in *Intent) { in.Version, in.Hello = 2, 1500*time.Millisecond }},
		{"hello interval", func(in *Intent) { in.Hello = 100 * time.Millisecond }},
		{"hello interval", func(in *Intent) { in.Hello = 41 * time.Second }},
		{"dead interval", func(in *Intent) { in.Dead = 500 * time.Millisecond }},
		{"no address", func(in *Intent) { in.VIPs = nil }},
		{"not an IPv4", func(in *Intent) { in.VIPs = []netip.Addr{netip.MustParseAddr("2001:db8::1")} }},
		{"not an IPv4", func(in *Intent) { in.Source = netip.MustParsePrefix("2001:db8::1/64") }},
	} {
		in := intent(row.change)
		err := in.Check()
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%v, want %q", err, row.want)
		}
	}
}
