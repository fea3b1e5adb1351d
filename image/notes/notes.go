// Package notes keeps what the machine has to say since its start to who sits at the console, such as a disk that was damaged. The log has
// it as well; this is what is still true when somebody comes to look.
package notes

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Dir is where the notes lie in the appliance. They are gone with a restart.
const Dir = "/run/sluice/notes"

// most bounds what is read of one part's notes, in bytes.
const most = 16 << 10

// Put replaces what a part of the start has to say, a sentence each.
func Put(dir, part string, sentences []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	name := filepath.Join(dir, part)
	if len(sentences) == 0 {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	var text strings.Builder
	for _, s := range sentences {
		text.WriteString(strings.Join(strings.Fields(s), " ") + "\n")
	}
	return os.WriteFile(name, []byte(text.String()), 0o644)
}

// All are the sentences of all parts, by the parts' names.
func All(dir string) (all []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries { // in the order of their names
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text[:min(len(text), most)])) {
			if line = strings.TrimSpace(line); line != "" && !slices.Contains(all, line) {
				all = append(all, line)
			}
		}
	}
	return all
}
