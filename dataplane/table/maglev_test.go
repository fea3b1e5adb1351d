package table

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"unsafe"

	"sluice/dataplane/api"
)

// backend is a service of a pool as the tests think of it.
type backend struct {
	ip     string
	port   uint16
	weight int
	down   bool
}

// String is how the tests call a service.
func (b backend) String() string { return fmt.Sprint(b.ip, ":", b.port) }

// backends are n services of weight 1.
func backends(n int) []backend {
	var list []backend
	for i := range n {
		list = append(list, backend{ip: fmt.Sprintf("10.%d.%d.%d", 2+i>>16, i>>8&255, i&255), port: 80, weight: 1})
	}
	return list
}

// hashConfig is a configuration of vservers with a hash method, one for each pool. Services of the same address and port are the
// same. IDs count from first on, in the order of list.
func hashConfig(first uint32, pools ...[]backend) *api.Tables {
	t := &api.Tables{Config: &api.Config{}, Health: &api.Health{}}
	known := map[string]uint32{}
	for i, list := range pools {
		v := api.Vserver{ID: uint32(i + 1), Name: fmt.Sprint("v", i+1), Proto: api.ProtoTCP, IP: netip.AddrFrom4([4]byte{192, 0, 2, byte(i + 1)}), Port: 80,
			Method: api.SourceIPHash}
		for _, b := range list {
			at := b.String()
			id, ok := known[at]
			if !ok {
				id = first + uint32(len(known))
				known[at] = id
				t.Config.Services = append(t.Config.Services, api.Service{ID: id, Name: at, Proto: api.ProtoTCP, IP: ip(b.ip), Port: b.port})
				if !b.down {
					t.Health.Up = append(t.Health.Up, id)
				}
			}
			v.Bindings = append(v.Bindings, api.Binding{Service: id, Weight: uint16(b.weight)})
		}
		t.Config.Vservers = append(t.Config.Vservers, v)
	}
	return t
}

func vserverNumber(t testing.TB, s *Set, i int) *Vserver {
	t.Helper()
	v := s.Vserver(ip4(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})), net16(80), api.ProtoTCP)
	if v == nil {
		t.Fatalf("vserver %d is not found", i)
	}
	return v
}

// owners are the servers that the slots of the first vserver's table belong to.
func owners(t testing.TB, s *Set) []string {
	t.Helper()
	p := s.Pool(vserverNumber(t, s, 1))
	out := make([]string, p.N)
	known := map[uint32]string{}
	for i := range out {
		member := *(*uint16)(unsafe.Add(nil, p.first+uintptr(i)*2))
		id := *u32(p.first + slotBytes(p.N) + uintptr(member)*4)
		if known[id] == "" {
			w := s.Service(id)
			known[id] = fmt.Sprint(Addr(w.IP), ":", net16(w.Port))
		}
		out[i] = known[id]
	}
	return out
}

// hashTable builds a pool and returns who owns its slots.
func hashTable(t testing.TB, list []backend) []string {
	t.Helper()
	prev := empty(t)
	s := mustBuild(t, hashConfig(1, list), prev)
	defer prev.Free(nil)
	defer s.Free(prev)
	return owners(t, s)
}

// naiveMaglev is the population of the lookup table as the paper has it (NSDI 2016, 3.4, pseudocode 1): each backend has a
// permutation (offset + j*skip) mod M of the slots, and takes the next slot of it that is free, in turns; by the weights,
// each gathers its weight in a round and takes a turn when it has 100. It knows nothing of the code under test but
// the names and the order of turns.
func naiveMaglev(list []backend, size uint64) []string {
	key := func(b backend, purpose byte) uint64 {
		a := netip.MustParseAddr(b.ip).As4()
		// Lowest byte first: protocol, port, address.
		m := []byte{api.ProtoTCP, byte(b.port), byte(b.port >> 8), a[3], a[2], a[1], a[0], purpose}
		return naiveSipHash(1, 3, defaultClusterKey[0], defaultClusterKey[1], m)
	}
	var up []backend
	for _, b := range list {
		if !b.down {
			up = append(up, b)
		}
	}
	slices.SortFunc(up, func(x, y backend) int {
		if x.weight != y.weight {
			return y.weight - x.weight
		}
		if c := netip.MustParseAddr(x.ip).Compare(netip.MustParseAddr(y.ip)); c != 0 {
			return c
		}
		return int(x.port) - int(y.port)
	})
	offset, skip, next, saved := make([]uint64, len(up)), make([]uint64, len(up)), make([]uint64, len(up)), make([]int, len(up))
	for i, b := range up {
		offset[i], skip[i] = key(b, 0)%size, key(b, 1)%(size-1)+1
	}
	entry, names := make([]string, size), make([]string, len(up))
	for i, b := range up {
		names[i] = b.String()
	}
	for n := uint64(0); ; {
		for i, b := range up {
			if saved[i] += b.weight; saved[i] < 100 {
				continue
			}
			saved[i] -= 100
			c := (offset[i] + next[i]*skip[i]) % size
			for entry[c] != "" {
				next[i]++
				c = (offset[i] + next[i]*skip[i]) % size
			}
			entry[c] = names[i]
			next[i]++
			if n++; n == size {
				return entry
			}
		}
	}
}

// TestMaglevAgainstThePaper compares whole tables with the naive computation: random pools with random weights, some members down.
func TestMaglevAgainstThePaper(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 1))
	for round := range 24 {
		list := backends(1 + r.IntN(60))
		top := 1 + r.IntN(100)
		for i := range list {
			list[i].weight, list[i].port, list[i].down = 1+r.IntN(top), uint16(1+r.IntN(3)), r.IntN(4) == 0
		}
		list[0].down = false
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		size := uint64(smallTable)
		if len(list) > smallPool {
			size = middleTable
		}
		if got, want := hashTable(t, list), naiveMaglev(list, size); !slices.Equal(got, want) {
			t.Fatalf("round %d: the table of %+v differs from the naive one", round, list)
		}
	}
}

func TestMaglevOfAThousandAgainstThePaper(t *testing.T) {
	list := backends(1000)
	list[7].weight, list[8].down = 5, true
	if !slices.Equal(hashTable(t, list), naiveMaglev(list, largeTable)) {
		t.Fatal("the table differs from the naive one")
	}
}

// TestMaglevDisruptionAndBalance: what moves though it need not, in parts of the whole table (the mean over some members that
// change), and how far shares are from the weights.
func TestMaglevDisruptionAndBalance(t *testing.T) {
	for _, n := range []int{3, 10, 100, 1000} {
		trials := 4
		if n == 1000 {
			trials = 1
		}
		base := backends(n + trials)
		all := base[:n]
		before := hashTable(t, all)
		balanced(t, fmt.Sprint(n, " services"), all, before)
		heavy := slices.Clone(all)
		for i := range heavy {
			heavy[i].weight = 10
		}
		if !slices.Equal(before, hashTable(t, heavy)) {
			t.Errorf("%d services: ten times the weight for everybody changes the table", n)
		}
		for _, tc := range []struct {
			name string
			bend func(i int) (after []backend, changed backend)
			due  float64
		}{
			{"one more", func(i int) ([]backend, backend) { return append(slices.Clone(all), base[n+i]), base[n+i] }, 1 / float64(n+1)},
			{"one fewer", func(i int) ([]backend, backend) {
				i %= n
				return slices.Concat(all[:i], all[i+1:]), all[i]
			}, 1 / float64(n)},
			{"one down", func(i int) ([]backend, backend) {
				list := slices.Clone(all)
				list[i%n].down = true
				return list, all[i%n]
			}, 1 / float64(n)},
			{"weight 10 to 9", func(i int) ([]backend, backend) {
				list := slices.Clone(heavy)
				list[i%n].weight = 9
				return list, all[i%n]
			}, 1/float64(n) - 9/(10*float64(n)-1)},
		} {
			moved, needless := 0.0, 0.0
			for i := range trials {
				list, changed := tc.bend(i)
				after := hashTable(t, list)
				balanced(t, fmt.Sprint(n, " services, ", tc.name), list, after)
				m, un := moves(before, after, changed.String())
				moved, needless = moved+m/float64(trials), needless+un/float64(trials)
			}
			t.Logf("%4d services, %-14s: %.3f %% move, due are %.3f %%, needless %.3f %%", n, tc.name, 100*moved, 100*tc.due, 100*needless)
			if needless > 0.006 {
				t.Errorf("%d services, %s: %.2f %% of the slots move needlessly", n, tc.name, 100*needless)
			}
			if moved < tc.due*0.98 || moved > tc.due+0.0065 {
				t.Errorf("%d services, %s: %.3f %% of the slots move, due are %.3f %%", n, tc.name, 100*moved, 100*tc.due)
			}
		}
	}
}

// moves are the parts of a table that change, and of those what the member that changed has neither lost nor won.
func moves(before, after []string, changed string) (moved, needless float64) {
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		moved++
		if before[i] != changed && after[i] != changed {
			needless++
		}
	}
	return moved / float64(len(before)), needless / float64(len(before))
}

// balanced checks that shares are as the weights say. At the end each member may be short of less than one turn, and what all of them
// are short of went to the others by their weights.
func balanced(t *testing.T, what string, list []backend, table []string) {
	t.Helper()
	slots, sum, up := map[string]int{}, 0, 0
	for _, o := range table {
		slots[o]++
	}
	for _, b := range list {
		if !b.down {
			sum, up = sum+b.weight, up+1
		}
	}
	for _, b := range list {
		if b.down {
			if slots[b.String()] != 0 {
				t.Errorf("%s: %v is down and has %d slots", what, b, slots[b.String()])
			}
			continue
		}
		due := float64(len(table)) * float64(b.weight) / float64(sum)
		most := float64(up*b.weight) / float64(sum)
		if off := float64(slots[b.String()]) - due; off < -1 || off > max(1, most) {
			t.Errorf("%s: %v has %d slots, due are %.1f", what, b, slots[b.String()], due)
		}
	}
}

// TestMaglevWeights: shares are exact whatever the weights are, from 1 to 100.
func TestMaglevWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	rows := [][]int{{1}, {100}, {1, 100}, {1, 2, 3, 10}, {99, 100}, {1, 1, 1, 100}}
	var each, chance []int
	for w := 1; w <= 100; w++ {
		each, chance = append(each, w), append(chance, 1+r.IntN(100))
	}
	for _, weights := range append(rows, each, chance) {
		list := backends(len(weights))
		for i := range list {
			list[i].weight = weights[i]
		}
		balanced(t, fmt.Sprint("weights ", weights), list, hashTable(t, list))
	}
}

// TestMaglevIsTheSameEverywhere: neither the order of binding nor the numbers that an appliance gives change a choice.
func TestMaglevIsTheSameEverywhere(t *testing.T) {
	list := backends(30)
	for i := range list {
		list[i].weight = 1 + i%3
	}
	here, there := mustBuild(t, hashConfig(1, list), empty(t)), (*Set)(nil)
	slices.Reverse(list)
	there = mustBuild(t, hashConfig(5000, list[:7], list), empty(t))
	defer here.Free(nil)
	defer there.Free(nil)
	r := rand.New(rand.NewPCG(13, 1))
	for range 10000 {
		a, b := r.Uint64(), r.Uint64()
		v, w := vserverNumber(t, here, 1), vserverNumber(t, there, 2)
		x, y := here.Service(here.Hashed(v, here.Pool(v), a, b)), there.Service(there.Hashed(w, there.Pool(w), a, b))
		if x.IP != y.IP {
			t.Fatalf("the same client goes to %v here and to %v there", Addr(x.IP), Addr(y.IP))
		}
	}
}

// TestMaglevTablesAreShared follows tables through sets: which vservers share one, that it stays while its pool does, that it is
// freed with its last pool.
func TestMaglevTablesAreShared(t *testing.T) {
	five, four := backends(5), backends(4)
	table := func(s *Set, i int) uintptr { return s.Pool(vserverNumber(t, s, i)).first }
	first := mustBuild(t, hashConfig(1, five, four, five), empty(t))
	if table(first, 1) != table(first, 3) || table(first, 1) == table(first, 2) || len(first.pools.tables) != 2 {
		t.Fatal("vservers 1 and 3 must share a table, 2 must have another")
	}
	var kept, lost *maglev
	for _, m := range first.pools.tables {
		if len(m.members) == 5 {
			kept = m
		} else {
			lost = m
		}
	}
	change := hashConfig(1, five, four, five)
	change.Config.Vservers[1].Bindings[0].Weight = 2
	second := mustBuild(t, change, first)
	if table(second, 1) != table(first, 1) || table(second, 2) == table(first, 2) {
		t.Error("the table of a pool that did not change is built again, or that of one that did is not")
	}
	first.Free(second)
	if kept.owners != 1 || lost.owners != 0 || lost.mem.mem != nil {
		t.Errorf("the kept table has %d owners, the lost one %d", kept.owners, lost.owners)
	}
	broken := &api.Tables{Health: &api.Health{}, FIB: &api.FIB{Routes: []api.Route{{}}}}
	if _, err := Build(broken, second); err == nil || kept.owners != 1 {
		t.Error("a set that is not built keeps a table")
	}
	moved := hashConfig(1, five, four, five)
	moved.Config.Services[4].IP = ip("10.9.9.9") // in pools 1 and 3
	third := mustBuild(t, moved, second)
	if table(third, 1) == table(second, 1) || table(third, 1) != table(third, 3) || kept.owners != 1 {
		t.Error("a service at another address has the place of the one before")
	}
	third.Free(second)
	none := mustBuild(t, &api.Tables{Health: &api.Health{}}, second)
	second.Free(none)
	if p := none.Pool(vserverNumber(t, none, 1)); p.N != 0 || kept.mem.mem != nil {
		t.Errorf("with nobody up the pool has %d places", p.N)
	}
	none.Free(nil)
}

// TestMaglevSizes: the size follows the services that are bound, up or not. A pool that grows past its class takes the next
// size; one that shrinks keeps its own until its vserver leaves the hash methods.
func TestMaglevSizes(t *testing.T) {
	s := empty(t)
	for _, step := range []struct {
		bound  int
		method api.Method
		want   uint32
	}{
		{1, api.SourceIPHash, smallTable}, {20, api.SourceIPHash, smallTable}, {21, api.SourceIPHash, middleTable}, {20, api.SourceIPHash, middleTable},
		{3, api.SourceDestinationIPHash, middleTable}, {3, api.LeastConnection, 1}, {3, api.SourceIPHash, smallTable}, {650, api.SourceIPHash, middleTable},
		{651, api.SourceIPHash, largeTable}, {1, api.SourceIPHash, largeTable},
	} {
		list := backends(step.bound)
		for i := range list {
			list[i].down = i > 0
		}
		tab := hashConfig(1, list)
		tab.Config.Vservers[0].Method = step.method
		next := mustBuild(t, tab, s)
		s.Free(next)
		s = next
		if p := s.Pool(vserverNumber(t, s, 1)); p.N != step.want {
			t.Errorf("%d services bound with method %d: size %d, not %d", step.bound, step.method, p.N, step.want)
		}
	}
	s.Free(nil)
}

// TestMaglevMethods: what a method hashes, and what it does not.
func TestMaglevMethods(t *testing.T) {
	const port, source, dest, low = 0x1234, 0x0a00_0a0a, uint64(0x0b0b_000a) << 32, uint64(1) << 63
	type key struct{ a, b uint64 }
	base := key{dest | source, 80<<16 | port | low}
	for _, row := range []struct {
		method api.Method
		mask   uint32
		same   []key // keys that must go where base goes
		other  []key // keys of which some must go elsewhere: the last 8 bits of the word given are varied
	}{
		{api.SourceIPHash, 0, []key{{base.a ^ 0xff<<32, base.b}, {base.a, base.b ^ 0xffffffff}}, []key{{1, 0}, {1 << 24, 0}}},
		{api.SourceIPHash, 0xffffff00, []key{{base.a ^ 0xff<<24, base.b}}, []key{{1, 0}, {1 << 16, 0}}},
		{api.DestinationIPHash, 0, []key{{base.a ^ 0xff, base.b}, {base.a, base.b ^ 0xffffffff}}, []key{{1 << 32, 0}, {1 << 56, 0}}},
		{api.DestinationIPHash, 0xffff0000, []key{{base.a ^ 0xffff<<48, base.b}}, []key{{1 << 32, 0}, {1 << 40, 0}}},
		{api.SourceDestinationIPHash, 0xff000000, []key{{base.a, base.b ^ 0xffffffff}}, []key{{1, 0}, {1 << 24, 0}, {1 << 32, 0}, {1 << 56, 0}}},
		{api.SourceIPSourcePortHash, 0xff000000, []key{{base.a ^ 0xff<<32, base.b}, {base.a, base.b ^ 0xffff<<16}}, []key{{1, 0}, {1 << 24, 0}, {0, 1}, {0, 1 << 8}}},
	} {
		tab := hashConfig(1, backends(10))
		tab.Config.Vservers[0].Method, tab.Config.Vservers[0].HashMask = row.method, row.mask
		s := mustBuild(t, tab, empty(t))
		v := vserverNumber(t, s, 1)
		choose := func(k key) uint32 { return s.Hashed(v, s.Pool(v), k.a, k.b) }
		for _, k := range row.same {
			if choose(k) != choose(base) {
				t.Errorf("method %d mask %#x: %x and %x go to two services", row.method, row.mask, k, base)
			}
		}
		for _, k := range row.other {
			chosen := map[uint32]bool{}
			for i := range uint64(256) {
				chosen[choose(key{base.a ^ k.a*i, base.b ^ k.b*i})] = true
			}
			if len(chosen) != 10 {
				t.Errorf("method %d mask %#x: the byte at %x sends keys to %d of 10 services", row.method, row.mask, k, len(chosen))
			}
		}
		s.Free(nil)
	}
}

func BenchmarkMaglev(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		list := hashConfig(1, backends(n))
		members := make([]hashMember, n)
		for i := range members {
			members[i] = hashMember{hashName(&list.Config.Services[i]), uint64(i + 1), uint32(i + 1), 1}
		}
		size := hashSize(n, 0)
		b.Run(fmt.Sprintf("build-%d-of-%d", size, n), func(b *testing.B) {
			for b.Loop() {
				m := &maglev{size: size, members: members}
				if err := m.fill(&defaultClusterKey); err != nil {
					b.Fatal(err)
				}
				m.mem.free()
			}
		})
	}
	s := mustBuild(b, hashConfig(1, backends(10)), empty(b))
	v := vserverNumber(b, s, 1)
	b.Run("choose", func(b *testing.B) {
		sum := uint64(0)
		for b.Loop() {
			sum = uint64(s.Hashed(v, s.Pool(v), sum, 0))
		}
	})
}
