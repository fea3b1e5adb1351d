package grammar

import (
	"errors"
	"regexp"
	"strings"

	"sluice/vendor-config/schema"
)

// session is a command of the session itself; its words are then in Key.
func session(word string, rest []Token, line string) (*Op, error) {
	op := &Op{Verb: word, Line: line}
	switch word {
	case "source", "batch":
		return sourced(word, rest, line)
	case "alias", "unalias":
		return aliased(op, rest)
	case "shell":
		if len(rest) > 0 {
			op.Key = []string{strings.TrimSpace(behind(line, rest))}
		}
		return op, nil
	case "help", "man":
		for _, t := range rest {
			op.Key = append(op.Key, t.Text)
		}
		return op, nil
	}
	if len(rest) > 0 {
		return nil, schema.Refuse(schema.NoSuchArg, rest[0].Text)
	}
	return op, nil
}

// behind is what stands behind a word: in quotes, or to the end of the line as it was typed.
func behind(line string, rest []Token) string {
	if len(rest) == 1 && !rest[0].Keyword {
		return rest[0].Text
	}
	return line[rest[0].Start:rest[len(rest)-1].End]
}

const (
	aliasNameMost = 31   // bytes of the name of an alias
	aliasMost     = 1023 // and of its command
)

var aliasName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// aliased is alias or unalias: the name, and the command that it is to stand for, are then in Key.
func aliased(op *Op, rest []Token) (*Op, error) {
	line := op.Line
	op.Line = Discreet(line)
	if len(rest) == 0 {
		if op.Verb == "unalias" {
			return nil, schema.Refuse(schema.Missing, "pattern")
		}
		return op, nil
	}
	name := rest[0].Text
	if rest[0].Keyword || len(name) > aliasNameMost || !aliasName.MatchString(name) {
		return nil, schema.Refuse(schema.BadValue, "pattern", shorten(name)).Because("an alias is a word of at most 31 letters, digits and _ . -")
	}
	op.Key = []string{name}
	switch {
	case len(rest) == 1:
		return op, nil
	case op.Verb == "unalias":
		return nil, schema.Refuse(schema.NoSuchArg, shorten(rest[1].Text))
	case Known(name):
		return nil, schema.Refuse(schema.BadValue, "pattern", name).Because("it is a command already, or short for one")
	}
	command := strings.TrimSpace(behind(line, rest[1:]))
	switch {
	case len(command) > aliasMost:
		return nil, schema.Refuse(schema.TooLong, "command", "1023")
	case command == "" || len(Split(command, ';')) > 1:
		return nil, schema.Refuse(schema.BadValue, "command").Because("an alias stands for one command, which | grep may follow; source executes several")
	case DiscreetKept(command) != command:
		return nil, schema.Refuse(schema.BadValue, "command").Because("an alias keeps no passwords and no keys")
	}
	op.Key = append(op.Key, command)
	return op, nil
}

// aliasWithin is the command that an alias is to stand for, without its secrets, and where in the line it begins.
func aliasWithin(line string, tokens []Token) (command string, start int, ok bool) {
	if len(tokens) < 3 || len(tokens[0].Text) < 2 || tokens[0].Quoted || !continues("alias", tokens[0].Text) {
		return "", 0, false
	}
	if t := tokens[2]; t.Quoted {
		return Quote(DiscreetKept(t.Text)) + line[t.End:], t.Start, true
	}
	return DiscreetKept(line[tokens[2].Start:]), tokens[2].Start, true
}

// Known tells whether a word is a command's first, in full or in short, also of one that this release refuses by name. No alias
// can have its name: what scripts say must mean the same to everybody.
func Known(word string) bool {
	_, _, _, _, err := resolve([]Token{{Text: word}})
	var no *schema.Refusal
	return !errors.As(err, &no) || no.Text == schema.NotSupported
}

// sourced is a command that executes the lines of a file, whose name is then in its Key.
func sourced(word string, rest []Token, line string) (*Op, error) {
	op := &Op{Verb: word, Line: line}
	for len(rest) > 0 {
		t := rest[0]
		rest = rest[1:]
		if word == "batch" {
			name, several := match(t.Text, []string{"-fileName", "-outfile", "-ntimes"})
			switch {
			case several != nil || t.Text == "-":
				return nil, schema.Refuse("Ambiguous argument", t.Text)
			case !t.Keyword || name == "" || name == "-fileName" && op.Key != nil:
				return nil, schema.Refuse(schema.NoSuchArg, shorten(t.Text))
			case name != "-fileName":
				return nil, schema.Refuse(schema.NotSupported, name[1:])
			case len(rest) == 0:
				return nil, schema.Refuse(schema.Missing, "fileName")
			}
			t, rest = rest[0], rest[1:]
		}
		if t.Keyword || op.Key != nil {
			return nil, schema.Refuse(schema.NoSuchArg, shorten(t.Text))
		}
		if t.Text == "" || len(t.Text) > 255 {
			return nil, schema.Refuse(schema.BadValue, "fileName", shorten(t.Text)).Because("it is the name of a file")
		}
		op.Key = []string{t.Text}
	}
	if op.Key == nil {
		return nil, schema.Refuse(schema.Missing, "fileName")
	}
	return op, nil
}
