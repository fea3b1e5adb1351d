package grammar

import (
	"strings"

	"sluice/vendor-config/schema"
)

// masked finds the lines of a configuration by what show makes of them, which hides their secrets.
type masked struct {
	of    *schema.Config
	lines map[string]string // nil until one is looked for; "" is what more than one line is shown as
}

// line is the line that text was made of, or text itself if that is none.
func (m *masked) line(text string) string {
	if !strings.Contains(text, schema.Hidden) {
		return text
	}
	if m.lines == nil {
		m.lines = map[string]string{}
		for _, o := range schema.Objects() {
			for row := range m.of.Each(o) {
				plain, shown := Line(o, row), ShownLine(o, row)
				if plain == shown {
					continue
				}
				if other, twice := m.lines[shown]; twice && other != plain {
					plain = ""
				}
				m.lines[shown] = plain
			}
		}
	}
	if plain := m.lines[text]; plain != "" {
		return plain
	}
	return text
}
