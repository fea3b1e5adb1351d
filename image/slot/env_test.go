package slot

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// block is a block with that text.
func block(text string) []byte {
	return append([]byte(head+text), bytes.Repeat([]byte("#"), blockSize-len(head)-len(text))...)
}

func TestEnv(t *testing.T) {
	e, err := ParseEnv(block("cur=A\nnext=A\ntry=0\nhp=96\nisol=1-3,7\nextra=\n"))
	if err != nil {
		t.Fatal(err)
	}
	if e.current() != A || e.tried() != "" || e.Get("hp") != "96" || e.Get("isol") != "1-3,7" || e.Get("nosuch") != "" {
		t.Errorf("%+v", e)
	}
	e.try(B)
	if e.current() != A || e.tried() != B {
		t.Errorf("%+v", e)
	}
	e.Set("extra", "quiet nomodeset")
	got, err := e.Block()
	if want := block("cur=A\nnext=B\ntry=1\nhp=96\nisol=1-3,7\nextra=quiet nomodeset\n"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
	e.boot(B)
	if e.current() != B || e.tried() != "" {
		t.Errorf("%+v", e)
	}
	for _, value := range []string{"a\nb", `a\b`, "a#b", "ä", strings.Repeat("x", sector)} {
		e.Set("extra", value)
		if _, err := e.Block(); err == nil {
			t.Errorf("the value %q is written", value)
		}
	}
}

func TestBlocksThatAreDamaged(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": nil, "zeros": make([]byte, blockSize), "short": block("cur=A\n")[:1000], "long": append(block("cur=A\n"), '#'),
		"no head": bytes.Repeat([]byte("#"), blockSize), "no sign": block("cur\n"), "no key": block("=A\n"), "twice": block("cur=A\ncur=B\n"),
		"no end": append(bytes.ReplaceAll(block(""), []byte("##"), nil), bytes.Repeat([]byte("cur=AAAA"), 125)...)[:blockSize-25],
	} {
		if e, err := ParseEnv(b); err == nil {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// TestGRUBEditenv: GRUB's own program reads what we write, and we what it writes.
func TestGRUBEditenv(t *testing.T) {
	name := filepath.Join(t.TempDir(), envFile)
	grub := func(args ...string) string {
		out, err := exec.Command("grub-editenv", append([]string{name}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("grub-editenv %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	var e Env
	e.boot(A)
	e.Set("hp", "96")
	e.Set("extra", "console=ttyS0,115200 quiet")
	e.try(B)
	b, err := e.Block()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := grub("list"), "cur=A\nnext=B\ntry=1\nhp=96\nextra=console=ttyS0,115200 quiet\n"; got != want {
		t.Errorf("GRUB reads %q", got)
	}
	grub("set", "try=0")
	if b, err = os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
	back, err := ParseEnv(b)
	if err != nil || back.tried() != "" || back.Get("try") != "0" || back.Get("extra") != "console=ttyS0,115200 quiet" {
		t.Errorf("%+v, %v", back, err)
	}
}

func FuzzEnv(f *testing.F) {
	f.Add(block("cur=A\nnext=B\ntry=1\nhp=96\n"))
	f.Add(block(""))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := ParseEnv(data)
		if err != nil {
			return
		}
		b, err := e.Block()
		if err != nil {
			return // it is longer than a sector
		}
		again, err := ParseEnv(b)
		if err != nil || len(again.pairs) != len(e.pairs) {
			t.Fatalf("%q is read back as %+v, %v", b, again, err)
		}
		for _, p := range e.pairs {
			if again.Get(p.key) != p.value {
				t.Fatalf("%s is %q, not %q", p.key, again.Get(p.key), p.value)
			}
		}
	})
}
