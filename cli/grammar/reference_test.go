package grammar

import (
	"os"
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// TestCommandReference: the page that is checked in is what the schema gives; `make docs` writes it.
func TestCommandReference(t *testing.T) {
	const file = "../../vendor-config/docs/commands.md"
	want := Reference()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what the schema gives (%v): make docs", file, err)
	}
}

// TestReferenceIsWhole: every command and every argument of it has its place, and no row of a table is broken.
func TestReferenceIsWhole(t *testing.T) {
	parts := map[string]string{}
	for _, part := range strings.Split(Reference(), "\n### ")[1:] {
		name, rest, _ := strings.Cut(part, "\n")
		if parts[name] != "" {
			t.Errorf("%s has two sections", name)
		}
		parts[name] = rest
	}
	for _, c := range commands() {
		text := parts[c.form.objs[0].Name()]
		if !strings.Contains(text, "\n"+c.words) {
			t.Errorf("no synopsis of %s", c.words)
		}
		for _, k := range c.form.keywords() {
			if !strings.Contains(text, "`-"+k.field.CLI+"`") && !strings.Contains(text, "`"+k.field.CLI+"`") {
				t.Errorf("%s: no row for -%s", c.words, k.field.CLI)
			}
		}
		for _, o := range c.form.objs {
			if o.Stored != strings.Contains(text, cell(o.Help)+" (**stored**)") {
				t.Errorf("%s is marked wrongly", o.Name())
			}
		}
	}
	for _, line := range strings.Split(Reference(), "\n") {
		if strings.HasPrefix(line, "| `") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 7 {
			if w, _, _ := strings.Cut(line[3:], "`"); !isSessionWord(w) {
				t.Errorf("broken row %s", line)
			}
		}
	}
	if n := len(schema.Objects()); len(parts) < n/2 {
		t.Errorf("%d sections for %d objects", len(parts), n)
	}
}

func isSessionWord(w string) bool {
	for _, s := range sessionWords {
		if s.Text == w {
			return true
		}
	}
	return false
}
