package sshd

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"sluice/cli/grammar"
	"sluice/cli/shell"
)

// shelf is a backend with one file.
type shelf struct{ shell.Backend }

func (shelf) Commands(string, *grammar.Op) ([]byte, error) { return []byte("whoami\n"), nil }

// TestFilesOfCommandsAreRecorded: that a file was asked for is in the log, whether or not the backend has files.
func TestFilesOfCommandsAreRecorded(t *testing.T) {
	for want, b := range map[string]shell.Backend{"msg=command line=\"source x\" result=Done": shelf{}, "msg=\"command refused\" line=\"source x\"": nil} {
		var log bytes.Buffer
		a := &audited{b, slog.New(slog.NewTextHandler(&log, nil))}
		op, err := grammar.Parse("source x")
		if err != nil {
			t.Fatal(err)
		}
		if text, err := a.Commands("oper", op); (err == nil) != (len(text) > 0) || !strings.Contains(log.String(), want) {
			t.Errorf("%v, log %s, want %s", err, &log, want)
		}
	}
}
