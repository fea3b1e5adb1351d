package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/cli/shell"
	"sluice/mgmt/aaa"
)

// policy is a guard that allows what begins with one of its words.
type policy []string

func (p policy) May(_ aaa.Person, op *grammar.Op) error {
	for _, begin := range p {
		if strings.HasPrefix(aaa.Command(op), begin) {
			return nil
		}
	}
	return errors.New("Not authorized to execute this command [" + aaa.Command(op) + "]")
}

// TestSourceHoldsEachLineAgainstThePolicies: that a file may be executed allows none of its lines.
func TestSourceHoldsEachLineAgainstThePolicies(t *testing.T) {
	dir := t.TempDir()
	d := newDesk(t, dir)
	d.put("x.conf", "add server a 10.1.0.11\nrm server a\nadd server b 10.1.0.12\n")
	d.put("big", "")
	if err := os.Truncate(filepath.Join(dir, "big"), sourceMost+1); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		guard      policy
		line, want string
	}{
		{policy{"add server"}, "source x.conf", "ERROR: Not authorized to execute this command [source x.conf]\n"},
		{policy{"add server", "source x"}, "batch -fileName x.conf", "ERROR: Not authorized to execute this command [batch x.conf]\n"},
		{policy{"add server", "source"}, "so /config/x.conf", "ERROR: line 2 of /config/x.conf: Not authorized to execute this command [rm server a]; those before it are executed\n"},
		{policy{"source"}, "source link", "ERROR: link is not executed: only files in /config can be read: "},
		{policy{"source"}, "source ../../etc/passwd", "ERROR: ../../etc/passwd is not executed: only files in /config can be read: "},
		{policy{"source"}, "source big", "ERROR: String length exceeds maximum [big, 1048576]: import ns.conf takes longer files"},
		{policy{"source"}, "source missing", "ERROR: missing is not executed: there is no such file in /config"},
	} {
		d.o.guard = row.guard
		var out, errs bytes.Buffer
		if code := shell.Exec(t.Context(), d.o, "oper", row.line, &out, &errs); code != 1 || !strings.HasPrefix(errs.String(), row.want) {
			t.Errorf("%s: exit %d, %q, want %q", row.line, code, errs.String(), row.want)
		}
	}
	d.o.guard = nil
	if got := d.do("show ns runningConfig"); !strings.Contains(got, "add server a 10.1.0.11") || strings.Contains(got, "add server b") {
		t.Error(got)
	}
}
