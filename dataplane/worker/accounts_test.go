package worker

import (
	"math/rand/v2"
	"testing"

	"sluice/dataplane/lb"
	"sluice/dataplane/table"
)

// newAccounts are accounts of nobody yet.
func newAccounts(t *testing.T) *accounts {
	t.Helper()
	state, err := lb.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { state.Close() })
	var a accounts
	if err := a.open(state, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.close() })
	return &a
}

// TestAccountsAreMap opens more accounts than the small index holds, of pairs that crowd together and of pairs that do not, and asks
// for each again and again.
func TestAccountsAreMap(t *testing.T) {
	a := newAccounts(t)
	r := rand.New(rand.NewPCG(12, 13))
	pair := func() [2]uint32 {
		if r.IntN(2) == 0 {
			return [2]uint32{1 + r.Uint32N(300), 1 + r.Uint32N(64)}
		}
		return [2]uint32{1 + r.Uint32N(table.MaxID), 1 + r.Uint32N(table.MaxID)}
	}
	numbers := map[[2]uint32]uint32{}
	for range 60000 {
		p := pair()
		a.fetch(p[0], p[1])
		n := a.number(p[0], p[1])
		if was, known := numbers[p]; known && n != was {
			t.Fatalf("vserver %d and service %d have account %d, had %d", p[0], p[1], n, was)
		}
		numbers[p] = n
		if c := a.at(n); n == 0 || c.Vserver != p[0] || c.Service != p[1] {
			t.Fatalf("vserver %d and service %d have account %d of %d and %d", p[0], p[1], n, c.Vserver, c.Service)
		}
	}
	if n := a.used.Load() - 1; int(n) != len(numbers) || n < 2*fewAccounts {
		t.Errorf("%d accounts are open for %d pairs; more than %d are wanted for the test", n, len(numbers), 2*fewAccounts)
	}
	for p, n := range numbers {
		if got := a.number(p[0], p[1]); got != n {
			t.Fatalf("vserver %d and service %d have account %d at last, had %d", p[0], p[1], got, n)
		}
	}
}

func TestAccountsKeepPairsApart(t *testing.T) {
	a := newAccounts(t)
	pairs := map[[2]uint32]uint32{}
	for v := range uint32(200) {
		for s := range uint32(50) {
			n := a.number(v, s)
			if n == 0 || a.at(n).Vserver != v || a.at(n).Service != s {
				t.Fatalf("pair %d, %d has account %d", v, s, n)
			}
			pairs[[2]uint32{v, s}] = n
		}
	}
	seen := map[uint32]bool{}
	for k, n := range pairs {
		if a.number(k[0], k[1]) != n || seen[n] {
			t.Fatalf("the account of %v changed or is another's", k)
		}
		seen[n] = true
	}
	a.used.Store(maxAccounts)
	if n := a.number(1000, 1000); n != 0 {
		t.Errorf("beyond the last account comes %d", n)
	}
	if a.number(3, 3) != pairs[[2]uint32{3, 3}] {
		t.Error("a full array lost a pair")
	}
}
