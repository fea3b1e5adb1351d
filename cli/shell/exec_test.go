package shell

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

func TestExec(t *testing.T) {
	for _, row := range []struct {
		line, out, err string
		code           int
	}{
		{"show server", "1)\ts\n Done\n", "", 0},
		{"add server t 10.0.0.2", " Done\n", "", 0},
		{"", "", "", 0},
		{"frob", "", "ERROR: No such command [frob]\n", 1},
		{"rm server nobody", "", "ERROR: No such resource [server, nobody]\n", 1},
		{"add server t 10.0.0.2; show server", " Done\n1)\ts\n2)\tt\n Done\n", "", 0},
		{"rm server x; show server", "1)\ts\n Done\n", "ERROR: command 1: No such resource [server, x]\n", 1},
		{"show server; exit; frob", "1)\ts\n Done\n", "", 0},
		{`add server t 10.0.0.2 -comment "a;b"; show server`, " Done\n1)\ts\n2)\tt\n Done\n", "", 0},
		{"show server | grep -c s", "1\n Done\n", "", 0},
		{"clear ns config basic", "", "ERROR: Operation not permitted [clear ns config]: nobody can be asked here; give -force\n", 1},
		{"reboot", "", "ERROR: Operation not permitted [reboot]: nobody can be asked here; give -f\n", 1},
		{"shutdown", "", "ERROR: Operation not permitted [shutdown]: nobody can be asked here; give -f\n", 1},
		{"clear ns config -force basic", " Done\n", "", 0},
		{"set cli mode -page OFF", " Done\n", "", 0},
		{"cls", " Done\n", "", 0},
	} {
		var out, errs bytes.Buffer
		code := Exec(t.Context(), newAppliance("add server s 10.0.0.1"), "nsroot", row.line, &out, &errs)
		if out.String() != row.out || errs.String() != row.err || code != row.code {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want %d, %q, %q", row.line, code, out.String(), errs.String(), row.code, row.out, row.err)
		}
	}
}

func TestScript(t *testing.T) {
	a := newAppliance()
	var out, errs bytes.Buffer
	script := "# build it\nadd server a 10.0.0.1\r\nfrob\n\nadd server b 10.0.0.2\nadd server a 10.0.0.3\n"
	s := New(terminal{strings.NewReader(script), &out}, a, Options{User: "nsroot", Stderr: &errs})
	if code := s.Run(t.Context()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if want := "ERROR: line 3: No such command [frob]\nERROR: line 6: Resource already exists [server, a]\n"; errs.String() != want {
		t.Errorf("stderr %q, want %q", errs.String(), want)
	}
	if out.String() != " Done\n Done\n" {
		t.Errorf("stdout %q: want two times Done, no prompt and no echo", out.String())
	}
	if n := a.config.Len(schema.Of[schema.Server]()); n != 2 {
		t.Errorf("%d servers, want 2: the script goes on after an error", n)
	}
}

// batching executes several changes at once.
type batching struct {
	*appliance
	sizes []int
}

func (b *batching) DoAll(user string, ops []*grammar.Op) (all []Outcome) {
	b.sizes = append(b.sizes, len(ops))
	for _, op := range ops {
		text, err := b.Do(user, op)
		all = append(all, Outcome{text, err})
	}
	return all
}

// TestScriptInBatches: a backend that takes several changes at once gets those that follow each other, and the operator reads the
// same as from one that does not.
func TestScriptInBatches(t *testing.T) {
	script := "# build it\nadd server a 10.0.0.1\nadd server b 10.0.0.2\nfrob\n\nadd server c 10.0.0.3\nadd server a 10.0.0.4\nadd server d 10.0.0.5\n" +
		"show server\nrm server a\nadd server e 10.0.0.6 | grep x\nrm server b\nclear ns config -force basic\nadd server f 10.0.0.7\r\nadd server g 10.0.0.8\nexit\nadd server h 10.0.0.9"
	run := func(b Backend) (out, errs bytes.Buffer, code int) {
		s := New(terminal{strings.NewReader(script), &out}, b, Options{User: "nsroot", Stderr: &errs})
		return out, errs, s.Run(t.Context())
	}
	plain, b := newAppliance(), &batching{appliance: newAppliance()}
	wantOut, wantErrs, wantCode := run(plain)
	out, errs, code := run(b)
	if out.String() != wantOut.String() || errs.String() != wantErrs.String() || code != wantCode {
		t.Errorf("exit %d, stdout %q, stderr %q; want %d, %q, %q", code, out.String(), errs.String(), wantCode, wantOut.String(), wantErrs.String())
	}
	if !b.config.Equal(plain.config) || b.config.Len(schema.Of[schema.Server]()) != 2 {
		t.Error("the configurations differ")
	}
	if !slices.Equal(b.sizes, []int{2, 3, 2}) {
		t.Errorf("changes came in groups of %v, want 2, 3 and 2", b.sizes)
	}
}

func TestScriptEndsAtExit(t *testing.T) {
	a := newAppliance()
	var out bytes.Buffer
	s := New(terminal{strings.NewReader("exit\nadd server a 10.0.0.1\n"), &out}, a, Options{User: "nsroot"})
	if code := s.Run(t.Context()); code != 0 || len(a.ops) != 0 {
		t.Errorf("exit code %d and %d commands after exit, want 0 and 0", code, len(a.ops))
	}
}

func TestScriptLineTooLong(t *testing.T) {
	var out, errs bytes.Buffer
	a := newAppliance()
	script := "add server a 10.0.0.1\n" + strings.Repeat("x", 3*maxLine) + "\nadd server b 10.0.0.2\r\n#" + strings.Repeat("y", maxLine-1) + "\nadd server c 10.0.0.3"
	s := New(terminal{strings.NewReader(script), &out}, a, Options{Stderr: &errs})
	code := s.Run(t.Context())
	if want := "ERROR: line 2: String length exceeds maximum [line, 1048576]\n"; code != 1 || errs.String() != want {
		t.Errorf("exit code %d, stderr %q, want %q", code, errs.String(), want)
	}
	if n := a.config.Len(schema.Of[schema.Server]()); n != 3 {
		t.Errorf("%d servers, want 3: the script goes on after the line", n)
	}
}
