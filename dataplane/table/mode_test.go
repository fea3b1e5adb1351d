package table

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sluice/dataplane/api"
)

// sessionlessConfig is hashConfig with sessionless vservers.
func sessionlessConfig(first uint32, list []backend) *api.Tables {
	t := hashConfig(first, list)
	for i := range t.Config.Vservers {
		v := &t.Config.Vservers[i]
		v.Sessionless, v.Mode, v.Method = true, api.ModeMAC, api.SourceDestinationIPHash
	}
	return t
}

// TestSessionlessIsAlikeEverywhere: whatever the order of binding, the numbers, and how many services there have been before, the slots
// of a sessionless vserver's table belong to the same servers. (A vserver with flows may keep the size that its table had.)
func TestSessionlessIsAlikeEverywhere(t *testing.T) {
	list := backends(20)
	want := owners(t, mustBuild(t, sessionlessConfig(1, list), empty(t)))
	r := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		other := slices.Clone(list)
		r.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		before := mustBuild(t, sessionlessConfig(300, backends(1+r.IntN(600))), empty(t))
		if got := owners(t, mustBuild(t, sessionlessConfig(uint32(1+r.IntN(1000)), other), before)); !slices.Equal(got, want) {
			t.Fatal("the same services in another order, after others, have another table")
		}
	}
	if n := len(owners(t, mustBuild(t, sessionlessConfig(1, backends(651)), empty(t)))); n != largeTable {
		t.Errorf("651 services have a table of %d slots", n)
	}
}

func TestModesThatCannotBe(t *testing.T) {
	for want, change := range map[string]func(v *api.Vserver){
		"the mode 4":             func(v *api.Vserver) { v.Mode = api.ModeTunnel + 1 },
		"TOS ID 0":               func(v *api.Vserver) { v.Mode = api.ModeTOS },
		"TOS ID 64":              func(v *api.Vserver) { v.Mode, v.DSCP = api.ModeTOS, 64 },
		"rewrite it back":        func(v *api.Vserver) { v.Sessionless, v.Method = true, api.SourceIPHash },
		"does not choose by a h": func(v *api.Vserver) { v.Sessionless, v.Mode = true, api.ModeMAC },
	} {
		c := sample()
		change(&c.Vservers[0])
		if _, err := Build(&api.Tables{Config: c}, empty(t)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "vserver "+c.Vservers[0].Name) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
