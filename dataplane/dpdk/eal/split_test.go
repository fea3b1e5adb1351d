package eal

import (
	"slices"
	"testing"
)

func TestSplitArgs(t *testing.T) {
	for _, row := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"  a\tb\n", []string{"a", "b"}},
		{`a --vdev="net_null0,size=60" 'b c'd`, []string{"a", "--vdev=net_null0,size=60", "b cd"}},
		{`a "" 'it"s'`, []string{"a", "", `it"s`}},
	} {
		got, err := splitArgs(row.in)
		if err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%q: %q, %v", row.in, got, err)
		}
	}
	for _, in := range []string{`'`, `a "b`} {
		if got, err := splitArgs(in); err == nil {
			t.Errorf("%q: %q", in, got)
		}
	}
}
