package mgmt

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// TestRestartKeepsUnsavedChanges: management alone was killed; nobody has asked for the saved configuration.
func TestRestartKeepsUnsavedChanges(t *testing.T) {
	for i := range 3 {
		shell(t, fmt.Sprintf("add server kept%d 10.9.9.%d", i, i+1))
		journaled(t, fmt.Sprintf("kept%d", i))
		want := running(t)
		killMgmt(t)
		if got := running(t); got != want {
			t.Fatalf("after kill number %d:\n%s\nwant\n%s", i+1, got, want)
		}
	}
	if saved := shell(t, "show ns ns.conf"); strings.Contains(saved, "kept") {
		t.Errorf("nobody has saved:\n%s", saved)
	}
	shell(t, "rm server kept[0-2]")
}

// TestStartOfTheMachine: what is not saved is gone after it; a journal of another boot stands for it.
func TestStartOfTheMachine(t *testing.T) {
	saved := running(t)
	shell(t, "save ns config")
	shell(t, "add server unsaved 10.9.9.9")
	journaled(t, "unsaved")
	rewrite(t, "running.xml", `boot="[^"]*"`, `boot="00000000-0000-0000-0000-000000000000"`)
	killMgmt(t)
	if got := running(t); got != saved {
		t.Errorf("after a start of the machine:\n%s\nwant\n%s", got, saved)
	}
}

// TestKilledWhileSaving: whenever management dies, the next one has a whole configuration with all that was confirmed
// as saved.
func TestKilledWhileSaving(t *testing.T) {
	a := lab.Basic()
	for round := range 4 {
		stop := make(chan int)
		go func() {
			last := -1
			for i := 0; ; i++ {
				out, err := a.Shell(fmt.Sprintf("add server kill%d-%d 10.9.%d.%d; save ns config", round, i, round+1, i+1))
				if err != nil || strings.Count(out, " Done") != 2 {
					stop <- last
					return
				}
				last = i
			}
		}()
		time.Sleep(time.Duration(300+77*round) * time.Millisecond)
		killMgmt(t)
		last := <-stop
		got := shell(t, "show ns runningConfig")
		saved := shell(t, "show ns ns.conf")
		for i := range last + 1 {
			name := fmt.Sprintf("add server kill%d-%d ", round, i)
			if !strings.Contains(got, name) || !strings.Contains(saved, name) {
				t.Fatalf("round %d: %d was saved; running:\n%s\nsaved:\n%s", round, i, got, saved)
			}
		}
		if v := shell(t, "show version"); strings.Contains(v, "DEGRADED") {
			t.Errorf("round %d: %s", round, v)
		}
	}
	var clean strings.Builder
	for l := range strings.Lines(running(t)) {
		if f := strings.Fields(l); len(f) > 2 && strings.HasPrefix(f[2], "kill") {
			fmt.Fprintf(&clean, "rm server %s\n", f[2])
		}
	}
	if _, err := a.Script(clean.String() + "save ns config\n"); err != nil {
		t.Fatal(err)
	}
}

// TestBrokenStartupFiles: however the file is broken, the shell answers, says where, and the next save loses nothing.
func TestBrokenStartupFiles(t *testing.T) {
	settle(t)
	shell(t, "save ns config")
	good, err := os.ReadFile(lab.Path("adc/config/startup.xml"))
	if err != nil {
		t.Fatal(err)
	}
	bend := func(from, to string) string {
		if !strings.Contains(string(good), from) {
			t.Fatalf("no %s in\n%s", from, good)
		}
		return strings.Replace(string(good), from, to, 1)
	}
	half := string(good[:strings.Index(string(good), "<lb-vserver>")+20])
	for name, row := range map[string]struct{ text, says, keeps string }{
		"truncated":       {half, "cut off", "add service web-s1"},
		"binary":          {"\x00\x01\xff\xfe" + strings.Repeat("\x80\x00", 3000), "line 1", ""},
		"wrong enum":      {bend("<service-type>HTTP<", "<service-type>GOPHER<"), "GOPHER", "add lb vserver echo"},
		"unknown element": {bend("<server>", "<colour>blue</colour><server>"), "colour", "add lb vserver web"},
		"duplicate":       {bend("</server>", "</server><server><name>s1</name><ip-address>10.2.0.99</ip-address></server>"), "already exists", "add server s1 10.2.0.11"},
		"dangling":        {bend("<server>s1</server>", "<server>gone</server>"), "[serverName, gone]", "add service web-s2"},
		"empty":           {"", "empty", ""},
		"huge":            {string(good) + strings.Repeat("\n", 65<<20), "larger than", ""},
		"DTD":             {bend("?>\n", "?>\n<!DOCTYPE x [<!ENTITY a \"b\">]>\n"), "document type", "add lb vserver web"},
		"tag":             {bend("</server>", "</sever>"), "line ", "add lb vserver echo"},
	} {
		put(t, "startup.xml", row.text)
		killMgmt(t)
		if v := shell(t, "show version"); !strings.Contains(v, "DEGRADED") || !strings.Contains(v, row.says) {
			t.Errorf("%s: nothing of %q in\n%s", name, row.says, v)
		}
		if got := running(t); !strings.Contains(got, row.keeps) {
			t.Errorf("%s: %s is not kept in\n%s", name, row.keeps, got)
		}
		shell(t, "save ns config")
		if !keptSomewhere(t, row.text) {
			t.Errorf("%s: the broken file is lost by the next save", name)
		}
	}
	put(t, "startup.xml", string(good))
	killMgmt(t)
	settle(t)
}

// keptSomewhere tells whether a file of the configuration directory holds the text.
func keptSomewhere(t *testing.T, text string) bool {
	t.Helper()
	files, err := os.ReadDir(lab.Path("adc/config"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(lab.Path("adc/config/" + f.Name())); err == nil && string(b) == text {
			return true
		}
	}
	return false
}

// TestSecondManagement: one started beside the running one ends with a sentence and touches nothing of it.
func TestSecondManagement(t *testing.T) {
	shell(t, "add server beside 10.9.9.9")
	journaled(t, "beside")
	before, err := os.ReadFile(lab.Path("adc/config/running.xml"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := client("timeout", "5", lab.Bin+"/sluice-mgmt", "-config", lab.Path("adc/mgmt.yaml")).CombinedOutput()
	if err == nil || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "another management works on the configuration directory") {
		t.Errorf("a second management: %v, %s", err, out)
	}
	if after, _ := os.ReadFile(lab.Path("adc/config/running.xml")); string(after) != string(before) {
		t.Errorf("it has changed the journal:\n%s", after)
	}
	shell(t, "rm server beside")
}
