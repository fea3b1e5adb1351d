package root

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
)

// readPackages reads lists of package names: one a line, after # a remark.
func readPackages(files ...string) (names []string, err error) {
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, fmt.Errorf("the list of packages cannot be read: %w", err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			line, _, _ := strings.Cut(s.Text(), "#")
			if words := strings.Fields(line); len(words) > 1 {
				return nil, fmt.Errorf("%s: %q: one package a line", file, s.Text())
			} else if len(words) == 1 {
				names = append(names, words[0])
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
