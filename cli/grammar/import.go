package grammar

import (
	"errors"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"sluice/vendor-config/schema"
)

// Fate is what became of a line of an imported file.
type Fate uint8

// The fates of a line.
const (
	Passed   Fate = iota // nothing is asked for: an empty line or a comment
	Applied              // the configuration is as the line wants it
	Stored               // the line is right as far as can be told, but its function is not built: it is kept and not in force
	Rejected             // the line is wrong, or no line of a configuration file: it is not kept
)

func (f Fate) String() string { return [...]string{"passed over", "applied", "stored", "rejected"}[f] }

// Verdict is what became of one line and why.
type Verdict struct {
	Number int    // from 1
	Text   string // without white space around it; it may hold secrets
	Fate   Fate
	Reason string // of Stored and Rejected
	// Foreign is a line that begins with no word of a command: it may be of any file, and is never shown.
	Foreign bool
}

// Shown is the line as it may stand on a screen or in a log: without what may be a secret, and nothing of what is no command.
func (v Verdict) Shown() string {
	if v.Foreign {
		return ""
	}
	return DiscreetKept(v.Text)
}

// Imported is what became of a file of commands.
type Imported struct {
	Lines []Verdict
	Count [Rejected + 1]int // of lines by fate
	Save  bool              // the file asks for the configuration to be saved
}

// Alien tells whether most lines are no commands at all, so that the text is none of a configuration: what it holds is nobody's
// business, and the few lines that look like commands mean something else.
func (im *Imported) Alien() bool {
	foreign := 0
	for _, v := range im.Lines {
		if v.Foreign {
			foreign++
		}
	}
	return 2*foreign > len(im.Lines)
}

// maxImportLine is the greatest length of a line in bytes: what is kept must fit into a configuration file.
const maxImportLine = 64<<10 - 1

// Import executes the lines of a file such as a device's ns.conf on c, one by one in their order. A line that asks for what is not
// built is kept as a row of ns line, and so is one that needs what only such a line would make; a line that is wrong is left out.
// No line is obeyed in part. What is there already just as a line wants it counts as applied, so that the same file can be
// imported twice.
//
// check, which may be nil, tells why a whole configuration cannot be put in force. Lines that it refuses are searched for and
// left out. Whatever the text is, c is then a configuration that check accepts, if it was one before.
//
// A line in which show has hidden secrets is the one of c that it was made of; no other is taken.
func Import(c *schema.Config, text []byte, check func(*schema.Config) error) *Imported {
	return ImportAs(c, c, text, check)
}

// ImportAs is Import of what may be lines of shown, with secrets hidden.
func ImportAs(shown, c *schema.Config, text []byte, check func(*schema.Config) error) *Imported {
	im := &importer{c: c, shown: &masked{of: shown.Clone()}, check: check, checks: maxImportChecks, absent: map[string]bool{}, kept: map[string]bool{}}
	for row := range c.Each(schema.Of[schema.NSLine]()) {
		l := row.(*schema.NSLine)
		im.next = max(im.next, l.Number)
		im.kept[l.Text] = true
		if tokens, _, err := Tokenize(l.Text); err == nil {
			im.remember(tokens)
		}
	}
	out := &Imported{}
	for n, line := range strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out.Lines = append(out.Lines, Verdict{Number: n + 1, Text: line})
		}
	}
	im.run(out.Lines)
	c.Replace(im.c)
	out.Lines = slices.DeleteFunc(out.Lines, func(v Verdict) bool { return v.Fate == Passed })
	for _, v := range out.Lines {
		out.Count[v.Fate]++
	}
	out.Save = im.save
	return out
}

// maxImportChecks bounds how often a whole configuration is checked while lines are searched for that it is refused for.
const maxImportChecks = 200

// importer executes lines on c.
type importer struct {
	c      *schema.Config
	check  func(*schema.Config) error
	checks int             // that may still be made
	shown  *masked         // what lines with hidden secrets were made of
	absent map[string]bool // names and addresses that only kept lines would make
	kept   map[string]bool // texts of the kept lines
	next   uint32          // greatest number of a kept line
	save   bool

	subnets []netip.Prefix // of the addresses among absent
}

// run executes lines, and halves them until those are found that the check refuses.
func (im *importer) run(lines []Verdict) {
	if len(lines) == 0 {
		return
	}
	before := *im
	before.c, before.absent, before.kept = im.c.Clone(), maps.Clone(im.absent), maps.Clone(im.kept)
	applied := 0
	for i := range lines {
		v := &lines[i]
		im.line(v)
		if v.Fate == Applied {
			applied++
		}
	}
	if im.check == nil || applied == 0 {
		return
	}
	err := im.check(im.c)
	if err == nil {
		return
	}
	left := im.checks - 1
	*im = before
	im.checks = left
	if len(lines) == 1 || left <= 0 {
		im.giveUp(lines, err)
		return
	}
	im.run(lines[:len(lines)/2])
	im.run(lines[len(lines)/2:])
}

// noCommand is why a foreign line is rejected.
const noCommand = "it begins with no command"

// foreign tells whether a line, of which Tokenize has made tokens and err, begins with no word of a command, whatever is wrong
// behind it.
func foreign(tokens []Token, err error) bool {
	if len(tokens) == 0 {
		return false
	}
	if err != nil && len(tokens) == 1 {
		return true
	}
	if spellings().next[tokens[0].Text] != nil { // as of nearly every line
		return false
	}
	_, _, _, _, err = resolve(tokens[:1])
	var r *schema.Refusal
	return errors.As(err, &r) && r.Text == schema.NoSuchCommand
}

// giveUp rejects what the check refuses; what would be stored is.
func (im *importer) giveUp(lines []Verdict, why error) {
	for i := range lines {
		v := &lines[i]
		if v.Fate == Stored {
			text := im.shown.line(v.Text)
			tokens, _, _ := Tokenize(text) // without an error, or it would not be stored
			if err := im.keep(text, v.Reason, tokens); err != nil {
				v.Fate, v.Reason = Rejected, err.Error()
			}
		}
		if v.Fate == Applied {
			v.Fate, v.Reason = Rejected, why.Error()
		}
	}
}

// line executes one line.
func (im *importer) line(v *Verdict) {
	text := im.shown.line(v.Text)
	tokens, _, err := Tokenize(text[:min(len(text), maxImportLine)])
	v.Foreign = foreign(tokens, err)
	switch {
	case v.Foreign:
		v.Fate, v.Reason = Rejected, noCommand
	case len(text) > maxImportLine:
		v.Fate, v.Reason = Rejected, schema.Refuse(schema.TooLong, "line", strconv.Itoa(maxImportLine)).Error()
	case err != nil:
		v.Fate, v.Reason = Rejected, err.Error()
	case len(tokens) == 0:
		v.Fate, v.Reason = Passed, ""
	default:
		v.Fate, v.Reason = im.command(text, tokens)
	}
}

// command executes a line of words.
func (im *importer) command(text string, tokens []Token) (Fate, string) {
	op, err := parse(text, tokens)
	if err == nil {
		err = im.execute(op)
	}
	if err == nil {
		if op.Object.Stored {
			return Stored, "[" + op.Object.Name() + "] is not built in this release"
		}
		return Applied, ""
	}
	why := im.missing(tokens, err)
	if why == "" {
		return Rejected, err.Error()
	}
	if err := im.keep(text, why, tokens); err != nil {
		return Rejected, err.Error()
	}
	return Stored, why
}

// execute does what a line asks for. It leaves the configuration as it was if it fails.
func (im *importer) execute(op *Op) error {
	switch {
	case op.Object == schema.Of[schema.NSConfig]() && op.Verb == "save":
		im.save = true
		return nil
	case !op.Changes() || op.Verb == "clear":
		return schema.Refuse(schema.NotPermitted, shorten(op.Line)).Because("it is no command of a configuration file")
	}
	return im.c.Attempt(func(c *schema.Config) error {
		for _, o := range append([]*Op{op}, op.Also...) {
			if !o.there(c) {
				if err := o.apply(c); err != nil {
					return err
				}
			}
			if a := im.unowned(c, o); a != "" {
				return schema.Refuse(schema.NoSuchRow, "ns ip", a)
			}
		}
		return nil
	})
}

// unowned is the address of a vserver that a kept line would give the appliance, or "". Such an address is not taken without
// what that line says about it, as who else in the network has it.
func (im *importer) unowned(c *schema.Config, op *Op) string {
	if op.Object != schema.Of[schema.LBVserver]() || len(im.subnets) == 0 {
		return ""
	}
	v := schema.Get[schema.LBVserver](c, op.Key...)
	if v == nil {
		return ""
	}
	for ip := range v.VIPs() {
		if im.absent[ip.String()] {
			return ip.String()
		}
	}
	return ""
}

// missing is why a refused line is kept: it asks for what is not built, or for what such lines would make. It is "" for a line
// that is wrong.
func (im *importer) missing(tokens []Token, err error) string {
	var r *schema.Refusal
	if !errors.As(err, &r) {
		return ""
	}
	last := ""
	if len(r.Words) > 0 {
		last = r.Words[len(r.Words)-1]
	}
	switch r.Text {
	case schema.NotSupported, schema.NoSuchCommand: // of another word than the first: foreign lines have not come here
		return r.Error()
	case schema.NoSuchArg:
		if strings.HasPrefix(last, "-") {
			return r.Error()
		}
	case schema.NoSuchRow:
		if im.absent[last] {
			return "it needs " + last + ", which is stored only"
		}
	case schema.NoGateway:
		gateway, err := netip.ParseAddr(last)
		if err == nil && slices.ContainsFunc(im.subnets, func(p netip.Prefix) bool { return p.Contains(gateway) }) {
			return "it needs an ns ip on the subnet of " + last + ", which is stored only"
		}
	}
	return ""
}

// keep makes the line a row of ns line, unless it is one.
func (im *importer) keep(text, why string, tokens []Token) error {
	if im.kept[text] {
		return nil
	}
	if slices.ContainsFunc(tokens, func(t Token) bool { return strings.Contains(t.Text, schema.Hidden) }) {
		return schema.Refuse(schema.BadValue, schema.Hidden).Because("that is how show hides a secret; give the secret itself")
	}
	if strings.Contains(text, "\t") {
		text = retyped(text, tokens)
	}
	l := &schema.NSLine{Number: im.next + 1, Reason: clip(why)}
	o := schema.Of[schema.NSLine]()
	if err := o.Field("text").Set(reflect.ValueOf(l).Elem(), text); err != nil {
		var r *schema.Refusal
		if errors.As(err, &r) {
			r.Words = []string{"line"} // not the line itself, which may hold secrets
		}
		return err
	}
	if err := put(im.c, o, l); err != nil {
		return err
	}
	im.next++
	im.kept[text] = true
	im.remember(tokens)
	return nil
}

// retyped is the line with one space between its words, as far as tabs between them go.
func retyped(text string, tokens []Token) string {
	words := make([]string, len(tokens))
	for i, t := range tokens {
		words[i] = text[t.Start:t.End]
	}
	return strings.Join(words, " ")
}

// clip shortens a reason to what a row holds.
func clip(why string) string {
	if len(why) <= 1023 {
		return why
	}
	return strings.ToValidUTF8(why[:1020], "") + "..."
}

// remember notes what a kept line would make.
func (im *importer) remember(tokens []Token) {
	verb, objs, used, _, err := resolve(tokens)
	if err != nil || objs == nil { // not in the schema: the name is one of the words behind the verb
		if !strings.EqualFold(tokens[0].Text, "add") {
			return
		}
		for _, t := range tokens[1:min(len(tokens), 4)] {
			if t.Keyword {
				return
			}
			im.absent[t.Text] = true
		}
		return
	}
	var words []string
	for _, t := range tokens[used:] {
		if t.Keyword {
			break
		}
		words = append(words, t.Text)
	}
	switch {
	case verb == "bind" && len(words) > 1 && !im.absent[words[0]]: // or else all lines of it are kept for what it is bound to
		im.absent[strings.Join(words[1:], " ")] = true
	case verb == "add" && len(words) > 0:
		names, err := expand(Token{Text: words[0]})
		if err != nil {
			return
		}
		for _, n := range names {
			im.absent[n] = true
			if objs[0] == schema.Of[schema.NSIP]() && len(words) > 1 {
				im.subnet(n, words[1])
			}
		}
	}
}

// subnet notes the subnet of an address that a kept line would give the appliance.
func (im *importer) subnet(address, mask string) {
	a, err := netip.ParseAddr(address)
	m, bad := netip.ParseAddr(mask)
	if err != nil || bad != nil || !a.Is4() || bits(m) < 0 {
		return
	}
	im.subnets = append(im.subnets, netip.PrefixFrom(a, bits(m)))
}
