package grammar

import (
	"slices"
	"strings"
	"testing"
)

// TestRename: a row keeps its place under its new name, and all that speaks of it goes on doing so.
func TestRename(t *testing.T) {
	c := configOf(t, "add server s1 10.2.0.11", "add service web s1 HTTP 80", "add lb vserver v HTTP 10.1.0.50 80", "bind lb vserver v web -weight 3",
		"add lb vserver w HTTP 10.1.0.51 80 -backupVServer v", "add cs vserver c HTTP 10.1.0.60 80", "bind cs vserver c -lbvserver v")
	want := slices.Clone(Lines(c))
	for from, to := range map[string]string{"server s1": "s9", "service web": "web9", "lb vserver v": "v9", "cs vserver c": "c9"} {
		next, err := do(c, "rename "+from+" "+to)
		if err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		c = next
	}
	text := strings.Join(want, "\n") + "\n"
	for from, to := range map[string]string{" s1 ": " s9 ", " web ": " web9 ", " v ": " v9 ", " v\n": " v9\n", " c ": " c9 "} {
		text = strings.ReplaceAll(text, from, to)
	}
	text = strings.ReplaceAll(text, "-backupVServer v ", "-backupVServer v9 ")
	if got := strings.Join(Lines(c), "\n") + "\n"; got != text {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}
	if err := Check(c); err != nil {
		t.Error(err)
	}
	readBack(t, c)
}
