package tool

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestWhatProgramsAreTold(t *testing.T) {
	b := Box{Epoch: time.Unix(1234567890, 0), Log: io.Discard}
	out, err := b.Output(t.Context(), "sh", "-c", "echo $SOURCE_DATE_EPOCH $LC_ALL $TZ; date +%Z")
	if err != nil || out != "1234567890 C UTC\nUTC\n" {
		t.Errorf("%q, %v", out, err)
	}
	var copied strings.Builder
	if err := b.Pipe(t.Context(), strings.NewReader("in"), &copied, "cat"); err != nil || copied.String() != "in" {
		t.Errorf("%q, %v", copied.String(), err)
	}
}

func TestWhyAProgramFailed(t *testing.T) {
	b := Box{Log: io.Discard}
	if err := b.Run(t.Context(), "sh", "-c", "echo no room >&2; exit 3"); err == nil || !strings.Contains(err.Error(), "no room") || !strings.Contains(err.Error(), "sh failed") {
		t.Errorf("%v", err)
	}
	if err := b.Run(t.Context(), "no-such-program-of-ours"); err == nil || !strings.Contains(err.Error(), "make deps") {
		t.Errorf("%v", err)
	}
	if err := b.Run(t.Context(), "sh", "-c", "head -c 100000 /dev/zero | tr '\\0' x >&2; exit 1"); err == nil || len(err.Error()) > 2*tail {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}
