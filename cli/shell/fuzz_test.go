package shell

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// FuzzKeys: whatever an operator's terminal sends, the session goes on and ends when the input does.
func FuzzKeys(f *testing.F) {
	for _, s := range []string{"show server\r", "sh\tse\t?\r", "\x03\x03add server a 10.0.0.1\r\n", "\x1b[A\x1b[B\x1b[200~a?\rb\x1b[201~\x04",
		"set cli mode -page ON\rshow hardware\r qG\x03", "clear ns config basic\ry", "\xff\xc3(\xe2\x82", "history\rcls\rexit\r", "add server \"a b\t", "show run | grep x\r"} {
		f.Add([]byte(s), uint8(80), uint8(24))
	}
	f.Fuzz(func(t *testing.T, keys []byte, width, height uint8) {
		a := newAppliance("add server s1 10.0.0.1", "add lb vserver v HTTP 10.0.0.9 80")
		close(a.blocked)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		var out bytes.Buffer
		s := New(terminal{bytes.NewReader(keys), &out}, a, Options{User: "nsroot", PTY: true, Width: int(width), Height: int(height)})
		s.Run(ctx)
		if ctx.Err() != nil {
			t.Fatal("the session hangs")
		}
	})
}

// FuzzExec: a command line from outside gives exit code 0 without error text, or 1 with one line for each error.
func FuzzExec(f *testing.F) {
	for _, s := range []string{"show server", "show server | grep -E '(a|b'", "a;b;c", "show hardware|grep -c row", "exit;x", "rm server s1; ;", "show server | grep -vwx \"", "#;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a := newAppliance("add server s1 10.0.0.1")
		close(a.blocked)
		var out, errs bytes.Buffer
		code := Exec(t.Context(), a, "nsroot", line, &out, &errs)
		if code == 0 && errs.Len() > 0 || code == 1 && errs.Len() == 0 || code < 0 || code > 1 {
			t.Fatalf("%q: exit %d with %q", line, code, errs.String())
		}
		for l := range strings.Lines(errs.String()) {
			if !strings.HasPrefix(l, "ERROR: ") || !strings.HasSuffix(l, "\n") {
				t.Fatalf("%q: error line %q", line, l)
			}
		}
	})
}
