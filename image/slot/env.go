package slot

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// blockSize is how long GRUB's environment block is, always.
const blockSize = 1024

// sector is what a disk writes whole or not at all when the power goes. Everything that is said in a block lies in its first
// one, so that a cut leaves the old words or the new ones.
const sector = 512

// head begins a block.
const head = "# GRUB Environment Block\n"

// Keys of the block that choose the slot. What else is in it (hp, isol, extra) becomes kernel arguments, and is sluice-boot's.
const (
	keyCurrent = "cur"  // slot that is started
	keyNext    = "next" // slot that is tried once while try is 1
	keyTry     = "try"
)

// Env is what GRUB's environment block says.
type Env struct{ pairs []pair }

type pair struct{ key, value string }

// errBlock says that a block is none.
var errBlock = errors.New("the boot loader's environment block is damaged")

// ParseEnv reads a block.
func ParseEnv(block []byte) (*Env, error) {
	if len(block) != blockSize || !bytes.HasPrefix(block, []byte(head)) {
		return nil, errBlock
	}
	e := &Env{}
	for line := range bytes.Lines(block[len(head):]) {
		if line[0] == '#' { // filling up to the end
			continue
		}
		key, value, ok := strings.Cut(strings.TrimSuffix(string(line), "\n"), "=")
		if !ok || !fit(key, value) || e.Get(key) != "" || len(line) == len(value)+len(key)+1 {
			return nil, errBlock
		}
		e.pairs = append(e.pairs, pair{key, value})
	}
	return e, nil
}

// fit tells whether GRUB reads a pair as it is written: what it escapes, and what would end the line, has no place in any value of ours.
func fit(key, value string) bool {
	return key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_") == "" &&
		!strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c > '~' || c == '\\' || c == '#' })
}

// Get is the value of a key, or empty.
func (e *Env) Get(key string) string {
	if i := e.find(key); i >= 0 {
		return e.pairs[i].value
	}
	return ""
}

// Set gives a key a value.
func (e *Env) Set(key, value string) {
	if i := e.find(key); i >= 0 {
		e.pairs[i].value = value
		return
	}
	e.pairs = append(e.pairs, pair{key, value})
}

func (e *Env) find(key string) int {
	return slices.IndexFunc(e.pairs, func(p pair) bool { return p.key == key })
}

// Block is the block as GRUB reads it.
func (e *Env) Block() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(head)
	for _, p := range e.pairs {
		if !fit(p.key, p.value) {
			return nil, fmt.Errorf("the boot loader cannot hold %q as %s: printable ASCII without \\ and # may be in it", p.value, p.key)
		}
		fmt.Fprintf(&b, "%s=%s\n", p.key, p.value)
	}
	if b.Len() > sector {
		return nil, fmt.Errorf("the kernel arguments of the boot loader's environment are too long: all of it may have %d bytes, and has %d", sector, b.Len())
	}
	return append(b.Bytes(), bytes.Repeat([]byte("#"), blockSize-b.Len())...), nil
}

// current is the slot that is started as things stand.
func (e *Env) current() Slot { return Slot(e.Get(keyCurrent)) }

// tried is the slot that the next start tries, or empty.
func (e *Env) tried() Slot {
	if s := Slot(e.Get(keyNext)); e.Get(keyTry) == "1" && (s == A || s == B) {
		return s
	}
	return ""
}

// boot makes s what is started, and nothing tried.
func (e *Env) boot(s Slot) {
	e.Set(keyCurrent, string(s))
	e.Set(keyNext, string(s))
	e.Set(keyTry, "0")
}

// try has the next start try s, and s alone; after it, what is started is what was.
func (e *Env) try(s Slot) {
	e.Set(keyNext, string(s))
	e.Set(keyTry, "1")
}
