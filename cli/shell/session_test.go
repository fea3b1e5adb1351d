package shell

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/vendor-config/schema"
)

func TestPromptDoneAndError(t *testing.T) {
	c := login(t, newAppliance(), Options{Banner: "Welcome to Sluice"})
	c.sees("Welcome to Sluice\r\n")
	c.sees("> ")
	c.types("add server s1 10.2.0.11\r")
	c.sees("add server s1 10.2.0.11\r\n Done\r\n> ")
	c.types("add server s1 10.2.0.12\r")
	c.sees("\r\nERROR: Resource already exists [server, s1]\r\n> ")
	c.types("show server\r")
	c.sees("1)\ts1\r\n Done\r\n> ")
	c.types("\r")
	c.sees("\r\n> ")
	c.quiet("Done")
	c.types("  # only a comment\r")
	c.sees("comment\r\n> ")
	c.types("exit\r")
	c.sees("Bye!")
	if code := c.ends(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestUserReachesBackend(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{User: "oper"})
	c.sees("> ")
	c.types("save config\rwhoami\rquit\r")
	c.sees("UserName: oper\r\n Done")
	c.ends()
	if a.saves != 1 || a.users[0] != "oper" {
		t.Errorf("saves %d, users %v: want one save by oper", a.saves, a.users)
	}
}

func TestControlD(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	c.types("show ser\x04") // with text on the line Ctrl-D deletes the character under the cursor, here none
	c.types("\x15\x04")
	if code := c.ends(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

func TestControlCKillsLine(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("rm lb vserver precious\x03")
	c.sees("\r\n> ")
	c.types("add server kept 10.0.0.9\r")
	c.sees("Done")
	if len(a.ops) != 1 || a.ops[0].Verb != "add" {
		t.Errorf("backend saw %d commands, want the add alone", len(a.ops))
	}
}

func TestControlCInTheMiddleOfALine(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("add server precious 10.0.0.9\x01\x03") // cursor at the start, then Ctrl-C
	c.sees("\r\n> ")
	c.types("whoami\r")
	c.sees("UserName")
	if len(a.ops) != 0 {
		t.Errorf("the killed line reached the backend: %q", a.ops[0].Line)
	}
}

func TestControlCLeavesRunningCommand(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("stat ns\r")
	a.receives(t, 1)
	c.types("show server\r") // typed ahead: Ctrl-C drops it
	c.types("\x03")
	c.sees("^C\r\n> ")
	close(a.blocked)
	c.types("whoami\r")
	out := c.sees("UserName: nsroot\r\n Done\r\n> ")
	if strings.Contains(out, "late answer") || strings.Contains(out, "show server") {
		t.Errorf("output of the cancelled command or dropped keys appear: %q", out)
	}
}

// TestControlCDoesNotHideAChange: a command that changes something ends as it ends, and the operator reads how.
func TestControlCDoesNotHideAChange(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("add server slow 10.0.0.1\r")
	a.receives(t, 1)
	c.types("\x03")
	close(a.blocked)
	c.sees("\r\n Done\r\n> ")
	c.types("add server slow 10.0.0.1\r")
	c.sees("ERROR: Resource already exists [server, slow]\r\n> ")
}

func TestTypeAhead(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.types("add server a 10.0.0.1\radd server b 10.0.0.2\r\nadd server c 10.0.0.3\nshow server\r")
	c.sees("1)\ta\r\n2)\tb\r\n3)\tc\r\n Done")
	if len(a.ops) != 4 {
		t.Errorf("backend saw %d commands, want 4", len(a.ops))
	}
}

func TestHistory(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("add server a 10.0.0.1\r")
	c.sees("Done\r\n> ")
	c.types("show server\rshow server\r")
	c.sees("Done\r\n> ")
	c.types("history\r")
	c.sees("    1  add server a 10.0.0.1\r\n    2  show server\r\n    3  history\r\n Done")
	c.types("\x1b[A\x1b[A\x1b[A\r") // up, up, up: the add again
	c.sees("ERROR: Resource already exists [server, a]")
	c.types("\x1b[A\x1b[A\x1b[B\r") // two up and one down: the add
	c.sees("ERROR: Resource already exists [server, a]")
}

func TestEditing(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("add server ax 10.0.0.1\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x7f\r")
	c.sees("Done")
	if a.ops[0].Key[0] != "a" {
		t.Errorf("edited line gave server %q, want a", a.ops[0].Key[0])
	}
}

func TestUTF8(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	for _, b := range []byte("add server a 10.0.0.1 -comment \"Zürich 東京\"\r") {
		c.types(string([]byte{b})) // each byte on its own
	}
	c.sees("Done")
	c.types("set server a -comment \"bad\xff\xfe bytes\"\r")
	c.sees("Done")
	if v, _ := a.ops[0].Arg("comment"); v != "Zürich 東京" {
		t.Errorf("comment %q", v)
	}
	if v, _ := a.ops[1].Arg("comment"); v != "bad bytes" {
		t.Errorf("comment %q: bytes that are no UTF-8 must be dropped", v)
	}
}

func TestTabAndQuestionMark(t *testing.T) {
	a := newAppliance("add server web 10.2.0.1", "add lb vserver vip_one HTTP 10.1.0.50 80", "add lb vserver vip_two TCP 10.1.0.51 80")
	c := login(t, a, Options{Width: 200})
	c.sees("> ")
	c.types("sh\tlb v\tvi\t")
	c.sees("show lb vserver vip_")
	c.types("\t")
	c.sees("vip_one")
	c.sees("vip_two")
	c.sees("> show lb vserver vip_")
	c.types("t\t\r")
	c.sees("vip_two ")
	c.sees("Done\r\n> ")
	if got := a.ops[0].Key[0]; got != "vip_two" {
		t.Fatalf("Tab gave %q", got)
	}
	c.types("set lb vserver vip_two -lbM\tr?")
	c.sees("ROUNDROBIN")
	c.sees("> set lb vserver vip_two -lbMethod r")
	c.types("\t")
	c.sees("ROUNDROBIN ")
	c.types("?")
	c.sees("<cr>")
	c.types("\r")
	c.sees("Done")
	if v, _ := a.ops[1].Arg("lbMethod"); v != "ROUNDROBIN" {
		t.Errorf("lbMethod %q", v)
	}
	c.types(`set server web -comment "what?"` + "\r") // inside quotes ? is a character
	c.sees("Done")
	if v, _ := a.ops[2].Arg("comment"); v != "what?" {
		t.Errorf("comment %q", v)
	}
	c.types("add serverx ?")
	c.sees("No such command [serverx]")
}

func TestPaging(t *testing.T) {
	for _, row := range []struct{ name, keys, last, absent string }{
		{"space", " ", "row 17 of", "row 18 of"},
		{"enter", "\r", "row 9 of", "row 10 of"},
		{"quit", "q", "Done", "row 9 of"},
		{"control-c", "\x03", "^C", "row 9 of"},
		{"to the end", "G", "row 99 of the table\r\n Done\r\n> ", more},
		{"space and other keys", "x ", "row 17 of", "row 18 of"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := login(t, newAppliance(), Options{Height: 10})
			c.types("set cli mode -page ON\r")
			c.sees("Done\r\n> ")
			c.types("show hardware\r")
			c.sees("row 8 of the table\r\n")
			c.sees(more)
			c.quiet("row 9 of")
			c.types(row.keys)
			switch row.name {
			case "quit", "control-c":
				c.sees("> ")
				c.quiet("row 9 of")
				c.types("whoami\r")
				c.sees("nsroot")
			case "to the end":
				c.sees(row.last)
			default:
				c.sees(row.last)
				c.sees(more)
				c.quiet(row.absent)
			}
		})
	}
}

func TestNoPagingByDefault(t *testing.T) {
	c := login(t, newAppliance(), Options{Height: 5})
	c.sees("> ")
	c.types("show hardware\r")
	if out := c.sees("row 99 of the table\r\n Done\r\n> "); strings.Contains(out, more) {
		t.Error("paged although paging is off")
	}
}

func TestResize(t *testing.T) {
	c := login(t, newAppliance(), Options{Width: 0, Height: 0})
	if w, h := c.s.size(); w != 80 || h != 24 {
		t.Errorf("a terminal of 0x0 is taken for %dx%d, want 80x24", w, h)
	}
	c.sees("> ")
	c.types("set cli mode -page ON\r")
	c.sees("Done")
	c.s.Resize(80, 6)
	c.types("show hardware\r")
	c.sees("row 4 of the table\r\n")
	c.sees(more)
	c.quiet("row 5 of")
	c.s.Resize(80, 12) // while the pager waits
	c.types(" ")
	c.sees("row 15 of")
	c.sees(more)
	c.quiet("row 16 of")
	c.types("q")
}

func TestWrappedLinesCountAsRows(t *testing.T) {
	c := login(t, newAppliance(), Options{Width: 10, Height: 7}) // "row 0 of the table" takes two rows
	c.types("set cli mode -page ON\r")
	c.sees("Done")
	c.types("show hardware\r")
	c.sees("row 2 of the table\r\n")
	c.sees(more)
	c.quiet("row 3 of")
}

func TestIdleTimeout(t *testing.T) {
	c := login(t, newAppliance(), Options{Idle: 2 * time.Second})
	c.sees("> ")
	for range 5 {
		time.Sleep(500 * time.Millisecond) // each key starts the time anew
		c.types("x")
	}
	select {
	case <-c.exit:
		t.Fatal("ended although keys came")
	default:
	}
	c.sees("session closed")
	if code := c.ends(); code != 255 {
		t.Errorf("exit code %d, want 255", code)
	}
}

func TestIdleTimeoutIsSet(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	c.types("show cli mode\r")
	c.sees("Page: OFF\r\nColor: OFF\r\nTimeout: 900\r\n Done")
	c.types("set cli mode -timeout 1\rshow cli mode\r")
	c.sees("Timeout: 1\r\n Done\r\n> ")
	start := time.Now()
	c.ends()
	if d := time.Since(start); d < 500*time.Millisecond || d > patience {
		t.Errorf("ended after %v, want 1s", d)
	}
}

func TestPromptCodes(t *testing.T) {
	c := login(t, newAppliance(), Options{Host: "lb1"})
	c.sees("> ")
	c.types(`set cli prompt "%u@%h %!"` + "\r")
	c.sees("nsroot@lb1 2> ")
	c.types("clear cli prompt\r")
	c.sees("\r\n Done\r\n> ")
}

func TestColor(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	c.types("set cli mode -color ON\rfrob\r")
	c.sees("\x1b[31mERROR: No such command [frob]\x1b[0m\r\n> ")
}

func TestClearAsks(t *testing.T) {
	for _, row := range []struct {
		answer string
		left   int
	}{{"n", 1}, {"\r", 1}, {"y", 0}, {"Y\r", 0}, {"\x03", 1}} {
		a := newAppliance("add server s 10.0.0.1")
		c := login(t, a, Options{})
		c.sees("> ")
		c.types("clear ns config basic\r")
		c.sees("(Y/N)? [N]: ")
		c.types(row.answer)
		c.sees("\r\n")
		c.types("whoami\r")
		c.sees("nsroot\r\n Done")
		if n := a.Config().Len(schema.Of[schema.Server]()); n != row.left {
			t.Errorf("answer %q leaves %d servers, want %d", row.answer, n, row.left)
		}
	}
}

// A Ctrl-C between a question and the wait for its answer is the answer; the keys behind it are for the next prompt.
func TestInterruptAsSoonAsAsked(t *testing.T) {
	a := newAppliance("add server s 10.0.0.1")
	c := login(t, a, Options{Height: 10})
	c.sees("> ")
	c.typesAt("(Y/N)? [N]: ", "\x03")
	c.types("clear ns config basic\r")
	c.sees("(Y/N)? [N]: N\r\n")
	c.types("whoami\r")
	c.sees("nsroot\r\n Done")
	if n := a.Config().Len(schema.Of[schema.Server]()); n != 1 {
		t.Errorf("%d servers are left, want 1", n)
	}
	c.types("set cli mode -page ON\r")
	c.sees("Done")
	c.typesAt(more, "\x03")
	c.types("show hardware\r")
	c.sees(more)
	c.sees("> ")
	c.types("whoami\r")
	c.sees("nsroot\r\n Done")
}

func TestTerminalIsNotPlayedWith(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	c.types("show version\r")
	if out := c.sees("Done"); strings.Contains(out, "\x1b]0") || strings.Contains(out, "\x07") {
		t.Errorf("control characters of a text reach the terminal: %q", out)
	}
}

func TestPastedLines(t *testing.T) {
	a := newAppliance()
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("\x1b[200~add server a 10.0.0.1 -comment \"why?\"\radd server b 10.0.0.2\r\x1b[201~")
	c.sees("Done")
	c.sees("Done")
	if v, _ := a.ops[0].Arg("comment"); v != "why?" {
		t.Errorf("pasted ? was taken for help: comment %q", v)
	}
	c.types("\x1b[200~show ser\x03") // a paste that never ends does not lock the operator out
	c.sees("\r\n> ")
	c.types("whoami\r")
	c.sees("UserName")
}

func TestHelp(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	c.types("help\r")
	c.sees("unbind")
	c.sees("Done\r\n> ")
	c.types("help add lb vserver\r")
	c.sees("add lb vserver <name> <serviceType>")
	c.sees("-lbMethod")
	c.sees("Done\r\n> ")
	c.types("man add\r")
	c.sees("service")
	c.sees("Done\r\n> ")
	c.types("help load\r")
	c.sees("load ns config <fileName>")
	c.sees("Done\r\n> ")
	c.types("help import\r")
	c.sees("import ns ns.conf <file>")
	c.sees("Done\r\n> ")
	c.types("help frob\r")
	c.sees("ERROR: No such command [frob]")
	c.types("help exit\r")
	c.sees("End the session")
}

func TestGrep(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	for _, row := range []struct{ filter, want string }{
		{"| grep -i ROW.42", "row 42 of the table\r\n Done"},
		{"| grep -c row", "100\r\n Done"},
		{"| grep -v row", "\r\n Done"},
		{"| grep -E 'row (3|4) '", "row 3 of the table\r\nrow 4 of the table\r\n Done"},
		{"| grep -w 7", "row 7 of the table\r\n Done"},
		{"| grep 9 | grep 8", "row 89 of the table\r\nrow 98 of the table\r\n Done"},
		{"| grep -c (3|4)", "0\r\n Done"},
		{"| grep -ci ROW.42", "1\r\n Done"},
		{"| grep -z row", "ERROR: No such argument [-z]: grep has -c -E -i -v -w -x\r\n"},
		{"| grep -iA4 row", "ERROR: No such argument [-iA4]: grep has"},
		{"| grep - row", "ERROR: No such argument [-]"},
		{"| sort", "ERROR: No such command [sort]: only grep stands behind |"},
		{"| grep", "ERROR: Required argument missing [pattern]"},
		{"| grep -E (((", "ERROR: Invalid syntax"},
		{"| grep -E [", "ERROR: Invalid value [pattern, []: it is no regular expression"},
		{"| grep a b", "ERROR: No such argument [b]"},
	} {
		c.types("show hardware " + row.filter + "\r")
		c.sees("hardware " + row.filter + "\r\n")
		if out := c.sees("> "); !strings.HasPrefix(out, strings.TrimPrefix(row.want, "\r\n")) {
			t.Errorf("%s prints %q, want %q", row.filter, out, row.want)
		}
	}
}

// TestGrepIsBounded: no pattern and no row of filters keeps a processor busy beyond what an operator would wait for.
func TestGrepIsBounded(t *testing.T) {
	for filter, want := range map[string]string{
		"grep -E '" + strings.Repeat("a{1000}", 100) + "'":        "it repeats too much",
		"grep -E '" + strings.Repeat("a{1000}", 3000) + "'":       "pattern, 1000",
		"grep -E '((a{100}){100}){100}'":                          "it is no regular expression",
		"grep -E '" + strings.Repeat("(", 2000) + "'":             "pattern, 1000",
		"grep x" + strings.Repeat(" | grep x", filtersMost):       "16 of them at most",
		"grep row" + strings.Repeat(" | grep row", filtersMost-1): "",
		"grep -E '(.{0,50}x){0,10}|row'":                          "",
	} {
		var out, errs bytes.Buffer
		if Exec(t.Context(), newAppliance(), "nsroot", "show hardware | "+filter, &out, &errs); !strings.Contains(errs.String(), want) || (want == "") != (errs.Len() == 0) {
			t.Errorf("%.40s: %.200q", filter, errs.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, err := parseFilter("grep row")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := filtered(ctx, strings.Repeat("a row\n", 1000), []*filter{f}); err == nil || text != "" {
		t.Errorf("an operator who has gone gets %d bytes", len(text))
	}
}

// TestLongLinesAreNotRemembered: a script of the longest lines takes no memory for arrow keys that nobody has.
func TestLongLinesAreNotRemembered(t *testing.T) {
	h := &history{}
	for _, line := range []string{"show server", strings.Repeat("x", historyLine), strings.Repeat("x", historyLine+1), "whoami"} {
		h.Add(line)
	}
	if h.Len() != 3 || h.At(0) != "whoami" || h.At(2) != "show server" {
		t.Errorf("%d lines are remembered", h.Len())
	}
}

func TestLongListing(t *testing.T) {
	a := newAppliance()
	for i := range 300 {
		row := schema.Of[schema.Server]().Fresh().(*schema.Server)
		row.Name = fmt.Sprintf("server%03d", i)
		schema.Put(a.config, row)
	}
	c := login(t, a, Options{})
	c.sees("> ")
	c.types("show server ?")
	c.sees("server099")
	c.sees("... and 201 more")
}

func TestEndlessKeySequence(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	go c.keys.Write([]byte("\x1b[" + strings.Repeat("1", 4000)))
	c.ends()
}

func TestContextEndsSession(t *testing.T) {
	c := login(t, newAppliance(), Options{})
	c.sees("> ")
	c.cancel()
	c.ends()
}
