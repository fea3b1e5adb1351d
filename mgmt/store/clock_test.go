package store

import (
	"testing"
	"time"
)

// TestWallClockJumps: versions are ordered by their numbers and a way back keeps its time since the start of the machine, wherever
// the wall clock has been set meanwhile.
func TestWallClockJumps(t *testing.T) {
	s := open(t)
	for n, year := range []int{2030, 1980, 2100, 1971} {
		v := at(uint64(n + 1))
		v.At = time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		s.Record(servers("a", string(rune('b'+n))), v)
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
		r := wayBack("a")
		r.At = v.At
		if err := s.KeepReturn(r); err != nil {
			t.Fatal(err)
		}
		got, problems, err := s.ReturnPoint()
		if err != nil || len(problems) > 0 || got.Until != r.Until || !got.At.Equal(r.At) {
			t.Fatalf("in %d: %+v %v %v", year, got, problems, err)
		}
	}
	all := s.History()
	if len(all) != 4 || all[0].Number != 4 || all[0].At.Year() != 1971 || all[3].Number != 1 || s.LastVersion() != 4 {
		t.Errorf("%+v", all)
	}
}
