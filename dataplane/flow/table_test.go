package flow

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"sluice/dataplane/packet"
)

// open opens a small table with fixed seeds.
func open(t testing.TB, entries int, seed [2]uint64) *Table {
	tab, note, err := Open(Settings{Name: "sluice-flows-test", Entries: entries, Seed: seed})
	if err != nil || note != "" {
		t.Fatal(err, note)
	}
	t.Cleanup(func() { tab.Close() })
	return tab
}

// keeper is a Keeper for tests: one limit for all flows, and a list of those that are gone.
type keeper struct {
	limit uint32
	gone  []packet.Key // forward keys, or the reverse one if there was no forward entry
	pairs int
}

func (k *keeper) IdleLimit(*Entry) uint32 { return k.limit }
func (k *keeper) Ends(*Entry) bool        { return true }

func (k *keeper) Gone(fwd, rev *Entry) {
	if fwd == nil {
		fwd = rev
	} else if rev != nil {
		k.pairs++
	}
	k.gone = append(k.gone, fwd.Key())
}

// pair makes the two entries of flow n of a small universe: client n -> 50:80 becomes 5:(1000+n) -> 11:8080.
func pair(n int) (fwd, rev Entry) {
	in := packet.MakeKey(uint32(n), 50, uint16(n), 80, packet.ProtoTCP)
	out := packet.MakeKey(5, 11, uint16(1000+n), 8080, packet.ProtoTCP)
	fwd.Fill(in, out)
	rev.Fill(out.Reverse(), in.Reverse())
	rev.Kind = KindReverse
	fwd.Service, rev.Service = uint32(n), uint32(n)
	return fwd, rev
}

// universe is the number of flows that model tests choose from.
const universe = 24

// model is the naive table: a map.
type model struct {
	flows  map[int]bool // flow -> has both entries
	limit  int
	t      testing.TB
	tab    *Table
	keeper keeper
}

func (m *model) entries() (n int) {
	for _, both := range m.flows {
		n++
		if both {
			n++
		}
	}
	return n
}

// step does one operation, chosen by two bytes, to the table and the model.
func (m *model) step(op, arg byte) {
	n := int(arg) % universe
	fwd, rev := pair(n)
	switch op % 4 {
	case 0, 1:
		r := &rev
		if op%4 == 1 {
			fwd.Kind, r = KindSingle, nil
		}
		want, room := Created, m.limit-m.entries()
		if _, there := m.flows[n]; room < 1 || room < 2 && r != nil {
			want = Full
		} else if there {
			want = InUse
		}
		e, got := m.tab.Create(&fwd, r)
		if got != want || (e != nil) != (got == Created) {
			m.t.Fatalf("creating flow %d with %d of %d entries: result %d, want %d", n, m.entries(), m.limit, got, want)
		}
		if got == Created {
			m.flows[n] = r != nil
		}
	case 2, 3:
		k := fwd.Key()
		if op%4 == 3 {
			k = rev.Key()
		}
		e := m.tab.Lookup(k)
		if e == nil {
			break
		}
		m.keeper = keeper{}
		m.tab.Remove(e, &m.keeper)
		if len(m.keeper.gone) != 1 || m.keeper.gone[0] != fwd.Key() || (m.keeper.pairs == 1) != m.flows[n] {
			m.t.Fatalf("removing flow %d told %+v", n, m.keeper)
		}
		delete(m.flows, n)
	}
	m.check()
}

// check compares the whole table with the model.
func (m *model) check() {
	if int(m.tab.Len()) != m.entries() {
		m.t.Fatalf("the table counts %d entries, the model %d", m.tab.Len(), m.entries())
	}
	for n := range universe {
		fwd, rev := pair(n)
		both, there := m.flows[n]
		f, r := m.tab.Lookup(fwd.Key()), m.tab.Lookup(rev.Key())
		if (f != nil) != there || (r != nil) != (there && both) {
			m.t.Fatalf("flow %d: forward found %v, reverse %v; the model has it: %v, both ways: %v", n, f != nil, r != nil, there, both)
		}
		if f != nil && (f.Key() != fwd.Key() || f.Service != uint32(n) || m.tab.Peer(f) != r) || r != nil && (r.Rewrite != rev.Rewrite || m.tab.Peer(r) != f) {
			m.t.Fatalf("flow %d: wrong entries %+v %+v", n, f, r)
		}
	}
	used := 0
	for n := range m.tab.fresh {
		if m.tab.entry(n).B != 0 {
			used++
		}
	}
	if used != m.entries() || int(m.tab.fresh-firstNumber-m.tab.freed) != used || m.tab.Slots() > m.tab.Limit() {
		m.t.Fatalf("%d lines are in use, %d of %d are free again, the model has %d entries", used, m.tab.freed, m.tab.Slots(), m.entries())
	}
	m.checkIndex()
}

// checkIndex looks at every bucket: a word for each entry, and the counts that follow from where entries are and should be.
func (m *model) checkIndex() {
	passed, words := make([]uint32, m.tab.Buckets), 0
	for i := range m.tab.Buckets {
		b := m.tab.Base + uintptr(i)*packet.BucketSize
		for _, word := range bucketAt(b).words {
			if word == 0 {
				continue
			}
			words++
			e := m.tab.entry(word & m.tab.buckets.Numbers)
			hash := m.tab.Hash(e.A, e.B)
			if e.B == 0 || word&^m.tab.buckets.Numbers != m.tab.buckets.Tag(hash) {
				m.t.Fatalf("a word %#x leads to an entry %+v of hash %#x", word, e, hash)
			}
			for home := m.tab.BucketOf(hash); home != b; home = m.tab.next(home) {
				passed[(home-m.tab.Base)/packet.BucketSize]++
			}
		}
	}
	for i, n := range passed {
		if got := bucketAt(m.tab.Base + uintptr(i)*packet.BucketSize).passed; got != n {
			m.t.Fatalf("bucket %d counts %d entries that went past it, there are %d", i, got, n)
		}
	}
	if words != m.entries() {
		m.t.Fatalf("%d words of the index are in use, the model has %d entries", words, m.entries())
	}
}

// seeds: an ordinary one; one under which all replies, which share no address but B's high half, crowd together; and one under which the
// first flows all hash to 0.
var seeds = [][2]uint64{{3, 5}, {50 << 32, 1 << 63}, {uint64(11) | 5<<32, 77}}

func newModel(t testing.TB, entries int, seed [2]uint64) *model {
	return &model{flows: map[int]bool{}, limit: entries, t: t, tab: open(t, entries, seed)}
}

func TestTableIsMap(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for _, entries := range []int{2, 5, 6, 12, 23, 24, 47} {
		for _, seed := range append(seeds, [2]uint64{r.Uint64(), r.Uint64()}) {
			m := newModel(t, entries, seed)
			for range 1500 {
				m.step(byte(r.Uint32()), byte(r.Uint32()))
			}
			m.tab.Close()
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add(byte(0), byte(12), []byte{0, 1, 0, 2, 1, 3, 2, 1, 3, 2})
	f.Add(byte(2), byte(5), []byte{0, 0, 0, 1, 0, 2, 0, 3, 3, 0, 3, 1})
	f.Fuzz(func(t *testing.T, seed, entries byte, ops []byte) {
		m := newModel(t, 2+int(entries)%48, seeds[int(seed)%len(seeds)])
		for ; len(ops) >= 2; ops = ops[2:] {
			m.step(ops[0], ops[1])
		}
	})
}

// TestSmallTablesThatWereFull: entries have gone past every bucket of a table, which is not full any more; the search for room ends
// all the same.
func TestSmallTablesThatWereFull(t *testing.T) {
	for seed := range uint64(100) {
		tab := open(t, 24, [2]uint64{seed + 1, seed + 2}) // two buckets
		r := rand.New(rand.NewPCG(seed, 3))
		flows := map[int]*Entry{}
		for range 2000 {
			n := r.IntN(40)
			if e := flows[n]; e != nil {
				tab.Remove(e, &keeper{})
				delete(flows, n)
				continue
			}
			fwd, rev := pair(n)
			if e, result := tab.Create(&fwd, &rev); result == Created {
				flows[n] = e
			} else if result != Full || len(flows) < 12 {
				t.Fatalf("flow %d of %d: %v", n, len(flows), result)
			}
		}
	}
}

func TestCreateRefusesItsOwnReverse(t *testing.T) {
	tab := open(t, 8, [2]uint64{1, 2})
	k := packet.MakeKey(1, 1, 7, 7, packet.ProtoUDP)
	var fwd, rev Entry
	fwd.Fill(k, k.Reverse())
	rev.Fill(k, k.Reverse())
	if _, got := tab.Create(&fwd, &rev); got != InUse || tab.Len() != 0 || tab.Lookup(k) != nil {
		t.Errorf("result %d, %d entries", got, tab.Len())
	}
}

func TestCreateIsAllOrNothing(t *testing.T) {
	tab := open(t, 100, [2]uint64{1, 2})
	fwd, rev := pair(1)
	tab.Create(&fwd, &rev)
	other, _ := pair(2)
	if _, got := tab.Create(&other, &rev); got != InUse {
		t.Errorf("a reverse key of another flow: result %d", got)
	}
	if tab.Lookup(other.Key()) != nil || tab.Len() != 2 {
		t.Error("half a flow has stayed")
	}
}

func TestLimitIsExact(t *testing.T) {
	tab := open(t, 1000, [2]uint64{})
	made := 0
	for n := range 2000 {
		fwd, rev := pair(n)
		if _, got := tab.Create(&fwd, &rev); got == Created {
			made++
		} else if got != Full {
			t.Fatal(got)
		}
	}
	if made != 500 || tab.Len() != 1000 || tab.Limit() != 1000 || tab.Slots() != 1000 {
		t.Errorf("%d flows fit, %d entries, limit %d, %d slots", made, tab.Len(), tab.Limit(), tab.Slots())
	}
}

func TestSeedsDiffer(t *testing.T) {
	a, b := open(t, 2, [2]uint64{}), open(t, 2, [2]uint64{})
	if a.Seed0 == b.Seed0 || a.Seed1 == b.Seed1 || a.Seed0 == 0 {
		t.Error("two tables share a hash seed")
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, n := range []int{-1, 0, 1, maxEntries + 1} {
		if tab, _, err := Open(Settings{Name: "x", Entries: n}); err == nil || tab != nil {
			t.Errorf("a table of %d entries was opened", n)
		}
	}
}

func TestHugePagesOrNote(t *testing.T) {
	tab, note, err := Open(Settings{Name: "sluice-flows-huge", Entries: 1000, Huge: true, Populate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer tab.Close()
	h := (*header)(unsafe.Pointer(unsafe.SliceData(tab.mapping.mem)))
	if huge := len(tab.mapping.mem)%hugePage == 0; huge == (note != "") {
		t.Errorf("mapped %d bytes with the note %q", len(tab.mapping.mem), note)
	}
	if h.magic != headerMagic || h.version != headerVersion || h.entrySize != EntrySize || h.buckets != tab.Buckets || h.limit != 1000 || h.seed[0] != tab.Seed0 {
		t.Errorf("header %+v", h)
	}
	start := uintptr(unsafe.Pointer(h))
	if tab.Base&63 != 0 || tab.BucketOf(^uint64(0)) != tab.buckets.End-packet.BucketSize || tab.buckets.End > tab.buckets.Lines ||
		tab.buckets.Lines != start+uintptr(h.lines) || tab.buckets.Lines&4095 != 0 || uintptr(unsafe.Pointer(tab.entry(1001)))+EntrySize > tab.stack ||
		tab.stack+4*1000 > start+uintptr(len(tab.mapping.mem)) {
		t.Error("index, entries and stack do not lie in the mapping one behind the other, a line each")
	}
	if err := tab.Close(); err != nil {
		t.Error(err)
	}
	if err := tab.Close(); err != nil {
		t.Error("closing twice:", err)
	}
}
