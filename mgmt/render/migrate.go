package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// Old is a row of a file of an older version.
type Old struct {
	Object string // its YANG name then
	Leaves []OldLeaf
}

// OldLeaf is a leaf of it. One at its default is not in the file.
type OldLeaf struct{ Name, Text string }

// step brings a row of one version to the next: to itself, to another row, to several or to none. It is pure.
type step func(Old) []Old

// migrations are the steps: the first from version 1 of the schema to 2, and so on; the version of the newest stands in the heads of
// files. Whoever renames or removes a leaf, an object or a value, or gives one another meaning or another default, adds the step that
// brings rows of before there. What is only added needs none. Steps are done in memory at each reading. The file stays as it is until
// somebody saves, so that an older program that is started again finds its own.
var migrations = []step{}

// ErrNewer says that a text was written by a newer program, which may mean something else by the same words.
var ErrNewer = errors.New("it was written by a newer release")

// versionOf is the version in the head of a file. Files of before there was one, and those that somebody has written by hand, are of
// the first.
func versionOf(attr string) (n int, err error) {
	if attr == "" {
		return 1, nil
	}
	n, err = strconv.Atoi(attr)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the schema version %q is no number from 1 on", clip(attr))
	}
	return n, nil
}

// newest is the version that this program reads and writes.
func newest() int { return len(migrations) + 1 }

// migrate brings a row of a version to the newest one.
func migrate(row Old, version int) []Old {
	rows := []Old{row}
	for ; version < newest(); version++ {
		var next []Old
		for _, r := range rows {
			next = append(next, migrations[version-1](r)...)
		}
		rows = next
	}
	return rows
}

// oldRow reads a row of a file of an older version.
func (r *reader) oldRow(t xml.StartElement, start int, scope map[string]string) error {
	p, err := r.original(nil, t, start, scope)
	if p == nil {
		return err
	}
	for _, l := range p.leaves {
		if l.bad != "" || p.wrong != "" { // nobody can tell what is meant: it is held as it stands, and read anew at the next start
			r.finishRow(schema.Listed(t.Name.Local), p, p.leaves, p.text)
			return nil
		}
	}
	before := Old{Object: t.Name.Local}
	for _, l := range p.leaves {
		before.Leaves = append(before.Leaves, OldLeaf{l.name, l.text.String()})
	}
	for _, row := range migrate(before, r.version) {
		var leaves []*leaf
		for _, o := range row.Leaves {
			l := &leaf{name: o.Name, at: start}
			l.text.WriteString(o.Text)
			leaves = append(leaves, l)
		}
		r.finishRow(schema.Listed(row.Object), p, leaves, row.xml())
	}
	return nil
}

// Reachable is what of a text of any version keeps the appliance reachable, as far as it can be read: the NSIP and its default route.
func Reachable(data []byte) *schema.Config {
	return grammar.Bare(ReadXML(data, Options{anyVersion: true}).Config)
}

// xml is the row as an element, to be held: what is written back stands in a file of the newest version.
func (row Old) xml() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<%s xmlns=%q>", row.Object, ownNS)
	for _, l := range row.Leaves {
		fmt.Fprintf(&b, "<%s>", l.Name)
		escape.WriteString(&b, l.Text)
		fmt.Fprintf(&b, "</%s>", l.Name)
	}
	fmt.Fprintf(&b, "</%s>", row.Object)
	return b.Bytes()
}
