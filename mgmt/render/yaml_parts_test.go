package render

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"sluice/tests/configs"
	"sluice/vendor-config/schema"
)

// uncut is a reader that cuts nothing, which tells how a text that is cut must be read.
func uncut(data []byte) *Document {
	r := &yamlReader{findings: found(data, Options{}), seen: map[string]bool{}}
	r.read(part{to: len(data)})
	return r.finish(nil)
}

// inParts reads a text in parts that are as short as can be.
func inParts(data []byte) (d *Document, n int) {
	r := &yamlReader{findings: found(data, Options{}), seen: map[string]bool{}}
	for p := range partsOf(data, 1) {
		n++
		if !r.read(p) {
			break
		}
	}
	return r.finish(nil), n
}

// TestYAMLInParts: a configuration is the same however short the parts are that it is read in, whatever the notation of it is.
func TestYAMLInParts(t *testing.T) {
	for seed := range uint64(40) {
		want := configs.Random(rand.New(rand.NewPCG(seed, 9)), 12)
		text, err := YAML(want)
		if err != nil {
			t.Fatal(err)
		}
		d, n := inParts(text)
		if len(d.Problems) > 0 || !d.Config.Equal(want) {
			t.Fatalf("seed %d: %v\n%s", seed, d.Problems, text)
		}
		if rows := bytes.Count(text, []byte("\n    - ")); n < rows {
			t.Errorf("seed %d: %d rows are in %d parts", seed, rows, n)
		}
	}
	for _, text := range []string{
		"# a file\n---\nsluice:\n- x\n",
		"sluice:\n server:\n - {name: a, ip-address: 10.0.0.1}\n - name: b\n   ip-address: 10.0.0.2\n\n # more\n service:\n",
		"sluice:sluice:\n  server: # two\n    -\n      name: a\n      ip-address: 10.0.0.1\n    - name: b\n      ip-address: 10.0.0.2\n      comment: |\n        - name: c\n    - name: d\n      ip-address: 10.0.0.3\n",
		"sluice:\r\n  server:\r\n    - name: a\r\n      ip-address: 10.0.0.1\r\n    - name: b\r\n      ip-address: 10.0.0.2\r\n",
		"\"sluice:sluice\":\n  ns-hostname:\n    host-name: x\n  server:\n  - name: a\n    ip-address: 10.0.0.1\n  - name: b\n    ip-address: 10.0.0.2\n",
		"sluice:\n  server: [{name: a, ip-address: 10.0.0.1}]\n  \"service\":\n    - {name: s, server: a, service-type: TCP, port: 80}\n    - {name: t, server: a, service-type: TCP, port: 81}\n",
	} {
		if want, got := uncut([]byte(text)), only(inParts([]byte(text))); fmt.Sprint(want.Problems) != fmt.Sprint(got.Problems) || !want.Config.Equal(got.Config) {
			t.Errorf("%q: %v in parts, %v as a whole", text, got.Problems, want.Problems)
		}
	}
}

func only(d *Document, _ int) *Document { return d }

// strangeYAML are texts in which a line looks like a row or an object and is none, or is one of something else.
var strangeYAML = []string{
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\n      comment: \"x\n    - name: b\n      ip-address: 10.0.0.2\n      y\"\n",
	"sluice:\n  server:\n    - {name: a, ip-address: 10.0.0.1, comment: [\n    - name: b\n    ]}\n",
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\n  ? lb-vserver\n  :\n    - name: b\n      ip-address: 10.0.0.2\n",
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\r  lb-vserver:\n    - name: b\n      ip-address: 10.0.0.2\n",
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\n...\n  service:\n    - name: b\n",
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\n---\nsluice:\n  server:\n    - name: b\n      ip-address: 10.0.0.2\n",
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\n  service:\n  server:\n    - name: b\n      ip-address: 10.0.0.2\n",
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\nother:\n  server:\n    - name: b\n      ip-address: 10.0.0.2\n",
	"sluice:\n  server:\n    - &x {name: a, ip-address: 10.0.0.1}\n    - *x\n",
	"sluice:\n  server:\n    - name: a\n      ip-address: 10.0.0.1\n   x: y\n    - name: b\n      ip-address: 10.0.0.2\n",
	"sluice:\nserver:\n- name: a\n  ip-address: 10.0.0.1\n- name: b\n  ip-address: 10.0.0.2\n",
	"sluice:\n  server:\n    |\n    - name: a\n    - name: b\n",
	"- x\n- y\n", "x: |\n  server:\n    - name: a\n    - name: b\n",
}

// TestStrangeYAMLInParts: what is refused as a whole is refused in parts.
func TestStrangeYAMLInParts(t *testing.T) {
	for _, text := range strangeYAML {
		want, got := uncut([]byte(text)), only(inParts([]byte(text)))
		if want.Refusal() != nil && got.Refusal() == nil {
			t.Errorf("%q: taken in parts, and as a whole: %v", text, want.Problems)
		}
		if want.Refusal() == nil && got.Refusal() == nil && !want.Config.Equal(got.Config) {
			t.Errorf("%q: means something else in parts", text)
		}
	}
}

// FuzzYAMLInParts: no text means something else in parts than as a whole, and none is taken that is refused as a whole.
func FuzzYAMLInParts(f *testing.F) {
	for _, text := range strangeYAML {
		f.Add([]byte(text))
	}
	if text, err := YAML(configs.Random(rand.New(rand.NewPCG(1, 1)), 4)); err == nil {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if invalid(data) >= 0 || len(data) > 4<<10 {
			return
		}
		got, _ := inParts(data)
		if got.Refusal() != nil {
			return
		}
		want := uncut(data)
		if err := want.Refusal(); err != nil {
			t.Fatalf("%q: taken in parts, and as a whole: %v", data, err)
		}
		if !want.Config.Equal(got.Config) {
			t.Fatalf("%q: means something else in parts", data)
		}
	})
}

// TestMemoryOfHostileYAML: however a text of the greatest length is made, reading it takes bounded memory. Each is read by a process of
// its own, whose greatest size the kernel tells.
func TestMemoryOfHostileYAML(t *testing.T) {
	const most = 400 << 20 // bytes, with the text itself, its copy and the program
	if name := os.Getenv("SLUICE_HOSTILE_YAML"); name != "" {
		ReadYAML(hostileYAML(name, maxYAML), Options{})
		return
	}
	kinds := []string{"newlines", "commas", "one row"}
	if os.Getenv("FULL") != "" {
		kinds = append(kinds, "brackets", "rows", "words", "objects", "comments", "quotes")
	}
	for _, name := range kinds {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMemoryOfHostileYAML$")
		cmd.Env = append(os.Environ(), "SLUICE_HOSTILE_YAML="+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if used := maxRSS(cmd); used > most {
			t.Errorf("%s: %d MiB, %d are allowed", name, used>>20, most>>20)
		} else {
			t.Logf("%s: %d MiB", name, used>>20)
		}
	}
}

// maxRSS is the greatest size in bytes that the process has had.
func maxRSS(cmd *exec.Cmd) int64 {
	u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return u.Maxrss << 10
}

func hostileYAML(name string, size int) []byte {
	head := "sluice:\n  server:\n"
	unit := map[string]string{"newlines": "\n", "commas": ",a", "rows": "    - a: b\n", "brackets": "    - [[[[[[[[]]]]]]]]\n", "one row": "      a: b\n",
		"words": "    - name: a\n      ip-address: 10.0.0.1\n      comment: x\n", "objects": "  server:\n", "comments": "    #\n", "quotes": "    - ''\n"}[name]
	if name == "commas" {
		head += "    - [a"
	}
	if name == "one row" {
		head += "    - name: a\n"
	}
	return []byte(head + strings.Repeat(unit, (size-len(head))/len(unit)))
}

// TestLargeYAML: what is right is read, however many rows it has.
func TestLargeYAML(t *testing.T) {
	var b strings.Builder
	b.WriteString("sluice:sluice:\n  server:\n")
	const rows = 60000
	for n := range rows {
		fmt.Fprintf(&b, "    - name: s%d\n      ip-address: 10.%d.%d.%d\n      comment: \"a, b\"\n", n, n>>16, n>>8&255, n&255)
	}
	d := ReadYAML([]byte(b.String()), Options{})
	if len(d.Problems) > 0 || d.Config.Len(schema.Of[schema.Server]()) != rows {
		t.Fatalf("%d rows are read: %v", d.Config.Len(schema.Of[schema.Server]()), d.Problems)
	}
	broken := b.String() + "      comment: twice\n"
	if d := ReadYAML([]byte(broken), Options{}); len(d.Problems) != 1 || d.Problems[0].Line != 3*rows+3 {
		t.Errorf("%v, want line %d", d.Problems, 3*rows+3)
	}
}
