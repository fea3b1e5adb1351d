package shell

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// library is an appliance that keeps files of commands.
type library struct {
	*appliance
	files map[string]string
}

func (l library) Commands(_ string, op *grammar.Op) ([]byte, error) {
	text, ok := l.files[op.Key[0]]
	if !ok {
		return nil, schema.Refuse(schema.NoSuchRow, "fileName", op.Key[0])
	}
	return []byte(text), nil
}

// TestSource: the lines of a file are executed as if they were typed, up to the first that fails; what is in force then stays.
func TestSource(t *testing.T) {
	files := map[string]string{
		"good":  "# two servers\nadd server a 10.0.0.1\r\n\n  add server b 10.0.0.2 -comment \"x;y|z\"\nshow server | grep -c .\n",
		"wrong": "add server a 10.0.0.1\nadd server a 10.0.0.2\nadd server c 10.0.0.3\n",
		"deep":  "add server a 10.0.0.1\nsource deep\n", "other": "batch -fileName good",
		"exit": "add server a 10.0.0.1\nexit\nadd server b 10.0.0.2\n", "clear": "clear ns config basic", "empty": "",
		"long": strings.Repeat("\n", sourceMost), "secret": "add system user u hunter22\n",
	}
	for _, row := range []struct {
		line, out, err string
		servers        int
	}{
		{"source good", "2\n Done\n", "", 2},
		{"source good | grep 7", " Done\n", "", 2},
		{"source good; show server | grep -c .", "2\n Done\n2\n Done\n", "", 2},
		{"batch -fileName good", "exec: add server a 10.0.0.1\n Done\nexec: add server b 10.0.0.2 -comment \"x;y|z\"\n Done\nexec: show server | grep -c .\n2\n Done\n Done\n", "", 2},
		{"source wrong", "", "ERROR: line 2 of wrong: Resource already exists [server, a]; those before it are executed\n", 1},
		{"source deep", "", "ERROR: line 2 of deep: Operation not permitted [source, deep]: a file of commands cannot name another one; those before it are executed\n", 1},
		{"source other", "", "ERROR: line 1 of other: Operation not permitted [batch, good]: a file of commands cannot name another one; those before it are executed\n", 0},
		{"source exit; show server | grep -c .", " Done\n1\n Done\n", "", 1},
		{"source clear", "", "ERROR: line 1 of clear: Operation not permitted [clear ns config]: nobody can be asked here; give -force; those before it are executed\n", 0},
		{"source empty", " Done\n", "", 0},
		{"source long", "", "ERROR: String length exceeds maximum [long, 20000]: it has too many lines; import ns.conf takes longer files\n", 0},
		{"source nobody", "", "ERROR: No such resource [fileName, nobody]\n", 0},
	} {
		l := library{newAppliance(), files}
		var out, errs bytes.Buffer
		code := Exec(t.Context(), l, "nsroot", row.line, &out, &errs)
		if out.String() != row.out || errs.String() != row.err || (code == 0) != (row.err == "") {
			t.Errorf("%q: exit %d, stdout %q, stderr %q; want %q, %q", row.line, code, out.String(), errs.String(), row.out, row.err)
		}
		if n := l.Config().Len(schema.Of[schema.Server]()); n != row.servers {
			t.Errorf("%q: %d servers, want %d", row.line, n, row.servers)
		}
	}
	var out, errs bytes.Buffer
	if Exec(t.Context(), newAppliance(), "nsroot", "source good", &out, &errs); errs.Len() == 0 {
		t.Error("a backend without files executes one")
	}
	out.Reset()
	if Exec(t.Context(), library{newAppliance(), files}, "nsroot", "batch -fileName secret", &out, &errs); strings.Contains(out.String(), "hunter22") || !strings.Contains(out.String(), "exec: add system user u") {
		t.Errorf("batch shows %q", out.String())
	}
}

// TestSourceIsBounded: a file whose commands print without end is ended, and the session goes on.
func TestSourceIsBounded(t *testing.T) {
	l := library{newAppliance(), map[string]string{"flood": strings.Repeat("show hardware\n", sourceMost-1)}}
	var out, errs bytes.Buffer
	code := Exec(t.Context(), l, "nsroot", "source flood; whoami", &out, &errs)
	if want := fmt.Sprintf("print more than %d MiB", sourceOutputMost>>20); code != 1 || !strings.Contains(errs.String(), want) || out.Len() > 100 {
		t.Errorf("exit %d, %d bytes, %q", code, out.Len(), errs.String())
	}
}
