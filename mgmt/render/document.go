// Package render turns a configuration into text and text into a configuration: the XML of the startup file, JSON
// (RFC 7951) and YAML of the same shape. It is pure: no file, no clock, no appliance. Whatever the text, reading ends, takes
// bounded memory and tells with a line number what it could not take.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sluice/vendor-config/schema"
)

// Limits of what is read, in every form.
const (
	MaxText     = 64 << 20 // bytes of a text; whoever reads it from elsewhere stops there
	maxDepth    = 64       // containers inside one another
	maxLeaf     = 64 << 10 // bytes of one value
	maxRows     = 500000   // of all objects together
	maxProblems = 10000    // reported one by one; the rest is counted
	maxReason   = 300      // bytes of one reason
)

// Empty is the reason of the problem that a file without content has.
const Empty = "the file is empty"

// Meta is what a saved file says about itself.
type Meta struct {
	By string    // user who saved
	At time.Time // to the second
}

// Problem is one thing in a text that could not be put in force.
type Problem struct {
	Line   int    // in the text; 0 when the whole of it is meant
	Object string // as the operator types it, with the key: "lb vserver v1"; "" when it is not known
	Reason string
	Held   bool // the text is kept and written back by the next save, marked as not in force
}

// String is the problem as one line for the operator.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", p.Line)
	}
	if p.Object != "" {
		b.WriteString(p.Object + ": ")
	}
	b.WriteString(p.Reason)
	if p.Held {
		b.WriteString(" (not in force, kept in the file)")
	}
	return b.String()
}

// Document is what a text holds.
type Document struct {
	Config   *schema.Config // every row that is well-formed and valid; with a Base, on top of that
	Problems []Problem      // everything else, by line
	Held     []Held         // elements of an XML file to be written back
	Torn     bool           // the text holds what would not be written back as it stands
	Meta     Meta           // of an XML file
	Newer    error          // why nothing is read of an XML file of a newer version
}

// Refusal is why a text is not taken by who wants all of it or nothing: its first problem, and how many there are.
func (d *Document) Refusal() error {
	var all []Problem
	for _, p := range d.Problems {
		if !p.again() {
			all = append(all, p)
		}
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s", all[0].plain())
	}
	return fmt.Errorf("%s (and %d more problems)", all[0].plain(), len(all)-1)
}

// plain is the problem without the word of what becomes of the row in the startup file.
func (p Problem) plain() string {
	p.Held = false
	return p.String()
}

// again tells whether the problem is the good news that a row is in force again.
func (p Problem) again() bool { return p.Reason == inForceAgain }

const inForceAgain = "this row was not in force when it was saved and is now"

// Options are what reading goes by; both may be left out.
type Options struct {
	// Check tests a whole configuration; rows that it refuses are taken out one by one with its reason.
	Check func(*schema.Config) error
	// Base is what the text is merged into: rows are added to it, and of rows that it has the leaves that are given
	// replace those it has. It is not changed. Without it the text stands alone.
	Base *schema.Config
	// Secrets is what the text was made of when it was shown, with its secrets hidden: they are those of the rows with the same
	// keys, of Base if it is left out. What is hidden and in no such row is refused.
	Secrets *schema.Config

	// Own is for files of the appliance's own: without a version they are of the first, other texts of the newest.
	Own bool

	most       int  // rows; maxRows when 0
	anyVersion bool // a newer one is read as far as that goes
}

// Read reads a text in the form that it begins like: `<` is XML, `{` JSON, anything else YAML.
func Read(data []byte, opt Options) *Document {
	text := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(text) == 0 || text[0] == '<':
		return ReadXML(data, opt)
	case text[0] == '{':
		return ReadJSON(data, opt)
	}
	return ReadYAML(data, opt)
}

// findings gather what reading a text has found.
type findings struct {
	Document
	data      []byte
	base      *schema.Config
	secrets   *schema.Config
	rows      []*row
	most      int  // rows that are read
	crowded   bool // there are more rows than are read
	uncounted int  // problems beyond maxProblems
	lineAt    int  // cache of line: an offset
	lineNo    int  // and the line ends before it
}

func found(data []byte, opt Options) findings {
	f := findings{data: data, base: opt.Base, secrets: opt.Secrets, most: opt.most}
	if f.most == 0 {
		f.most = maxRows
	}
	if f.base == nil {
		f.base = schema.New()
	}
	if f.secrets == nil {
		f.secrets = f.base
	}
	f.Config = f.base
	return f
}

// tooLong tells whether the text is longer than what is read, and reports it.
func (r *findings) tooLong() bool {
	if len(r.data) > MaxText {
		r.problem(0, "", fmt.Sprintf("the text is longer than %d MiB", MaxText>>20))
		return true
	}
	return false
}

// add takes down a row that is valid by itself.
func (r *findings) add(w *row) {
	if len(r.rows) < r.most {
		r.rows = append(r.rows, w)
		return
	}
	if !r.crowded {
		r.crowded = true
		r.problem(w.at, w.title(), fmt.Sprintf("there are more than %d rows; those from here on are not read", r.most))
	}
}

// finish makes a configuration of the rows and puts the problems in order.
func (r *findings) finish(check func(*schema.Config) error) *Document {
	r.settle(check)
	slices.SortStableFunc(r.Problems, func(a, b Problem) int { return a.Line - b.Line })
	if r.uncounted > 0 {
		r.Problems = append(r.Problems, Problem{Reason: fmt.Sprintf("%d more problems are not listed", r.uncounted)})
	}
	return &r.Document
}

// problem records what is wrong at an offset; an XML file is then put aside before the next save.
func (r *findings) problem(at int, object, reason string) {
	r.Torn = true
	r.report(Problem{Line: r.line(at), Object: object, Reason: reason})
}

func (r *findings) report(p Problem) {
	if len(r.Problems) >= maxProblems {
		r.uncounted++
		return
	}
	p.Reason = clip(p.Reason)
	r.Problems = append(r.Problems, p)
}

// hold keeps an element that is not in force; what is no element of an XML file is a problem only. again: it was held
// before, so the file is none the worse for it.
func (r *findings) hold(h Held, at int, object string, again bool) {
	if h.text == nil {
		r.problem(at, object, h.reason)
		return
	}
	h.reason = clip(h.reason)
	r.Held = append(r.Held, h)
	r.Torn = r.Torn || !again
	r.report(Problem{Line: r.line(at), Object: object, Reason: h.reason, Held: true})
}

// line is the number of the line that an offset is on, from 1.
func (r *findings) line(at int) int {
	at = min(at, len(r.data))
	if at == len(r.data) && at > 0 && r.data[at-1] == '\n' {
		at-- // the end of a file is on its last line
	}
	if r.lineAt > at {
		r.lineAt, r.lineNo = 0, 0
	}
	r.lineNo += bytes.Count(r.data[r.lineAt:at], []byte{'\n'})
	r.lineAt = at
	return r.lineNo + 1
}

// plain reads the rows of a notation that has neither namespaces nor anything that is held: leaves becomes a row of o.
func (r *findings) plain(o *schema.Object, leaves []*leaf, at int) {
	value, bad, why := r.build(o, leaves)
	if why == nil {
		r.add(&row{object: o, value: value, at: at, text: Held{object: o, key: o.Key(value)}})
		return
	}
	if bad < 0 {
		bad = at
	}
	r.problem(bad, heading(o, leaves), why.Error())
}

// nonBlank is the index of the first byte that is no white space, or -1.
func nonBlank(b []byte) int {
	return bytes.IndexFunc(b, func(c rune) bool { return !strings.ContainsRune(" \t\r\n\ufeff", c) })
}

// clip shortens a text that goes into a report.
func clip(s string) string {
	if len(s) <= maxReason {
		return s
	}
	cut := maxReason
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "..."
}

var errWork = errors.New("too much to read")
