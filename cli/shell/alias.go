package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/cli/grammar"
	"sluice/vendor-config/schema"
)

// Aliaser is a Backend that keeps words of a user's own, which stand for commands in all his sessions.
type Aliaser interface {
	// Aliases are the commands by their words.
	Aliases(user string) (map[string]string, error)
	// Alias keeps a word; without a command it is forgotten.
	Alias(user, word, command string) error
}

// aliases of the user; none if the backend keeps none.
func (r *runner) aliases() (Aliaser, map[string]string, error) {
	keeper, ok := r.backend.(Aliaser)
	if !ok {
		return nil, nil, nil
	}
	all, err := keeper.Aliases(r.user)
	return keeper, all, err
}

// alias executes alias and unalias.
func (r *runner) alias(op *grammar.Op) (string, error) {
	keeper, all, err := r.aliases()
	switch {
	case keeper == nil:
		return "", schema.Refuse(schema.NotSupported, op.Verb)
	case err != nil:
		return "", err
	case len(op.Key) == 2:
		return "", keeper.Alias(r.user, op.Key[0], op.Key[1])
	}
	names := slices.Sorted(maps.Keys(all))
	if len(op.Key) == 1 {
		if _, there := all[op.Key[0]]; !there {
			return "", schema.Refuse(schema.NoSuchRow, "pattern", op.Key[0])
		}
		if names = op.Key; op.Verb == "unalias" {
			return "", keeper.Alias(r.user, op.Key[0], "")
		}
	}
	var b strings.Builder
	for i, name := range names {
		fmt.Fprintf(&b, "%d)\t%s (%s)\n", i+1, name, all[name])
	}
	return b.String(), nil
}

// unfold puts the command in the place of the alias that a line begins with; once, so that none leads to another. A word that is a
// command is never an alias.
func (r *runner) unfold(line string) string {
	tokens, _, err := grammar.Tokenize(line)
	if err != nil || len(tokens) == 0 || tokens[0].Quoted || tokens[0].Keyword || grammar.Known(tokens[0].Text) {
		return line
	}
	_, all, _ := r.aliases() // who cannot have his read learns that there is no such command
	command, there := all[tokens[0].Text]
	if !there {
		return line
	}
	return line[:tokens[0].Start] + command + line[tokens[0].End:]
}

// complete lists what may come next, aliases among the first words.
func (r *runner) complete(head string) (list []grammar.Candidate, prefix string) {
	if strings.ContainsAny(strings.TrimLeft(head, " "), " \t") {
		return grammar.Complete(r.unfold(head), r.backend.Config())
	}
	list, prefix = grammar.Complete(head, r.backend.Config())
	_, all, _ := r.aliases()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if strings.HasPrefix(name, prefix) {
			list = append(list, grammar.Candidate{Text: name, Help: all[name]})
		}
	}
	return list, prefix
}
