package grammar

import (
	"slices"
	"strings"
	"sync"

	"sluice/vendor-config/schema"
)

// verbs are the verbs of objects, with one line of help, in the order in which help lists them.
var verbs = []Candidate{
	{Text: "add", Help: "Create an entity"},
	{Text: "set", Help: "Change arguments of an entity"},
	{Text: "unset", Help: "Give arguments of an entity their defaults again"},
	{Text: "rm", Help: "Remove an entity"},
	{Text: "bind", Help: "Bind one entity to another"},
	{Text: "unbind", Help: "Remove a binding"},
	{Text: "rename", Help: "Give an entity another name"},
	{Text: "link", Help: "Join a certificate to that of its issuer"},
	{Text: "unlink", Help: "Part a certificate from that of its issuer"},
	{Text: "enable", Help: "Put an entity into service"},
	{Text: "disable", Help: "Take an entity out of service"},
	{Text: "show", Help: "Display configuration and state"},
	{Text: "stat", Help: "Display counters and rates"},
	{Text: "start", Help: "Begin a trace or a capture"},
	{Text: "stop", Help: "End a trace or a capture"},
	{Text: "save", Help: "Save the configuration"},
	{Text: "load", Help: "Read a file into the candidate configuration"},
	{Text: "diff", Help: "Compare configurations"},
	{Text: "validate", Help: "Check the candidate configuration"},
	{Text: "commit", Help: "Put the candidate configuration in force"},
	{Text: "discard", Help: "Drop the candidate configuration"},
	{Text: "rebase", Help: "Carry the candidate's changes over to what is running"},
	{Text: "rollback", Help: "Return to an earlier version of the configuration"},
	{Text: "clear", Help: "Reset to defaults"},
	{Text: "create", Help: "Make a backup"},
	{Text: "restore", Help: "Put a backup in force"},
	{Text: "import", Help: "Take over a file of commands"},
	{Text: "kill", Help: "End sessions"},
	{Text: "ping", Help: "Ask a host for echoes"},
	{Text: "traceroute", Help: "Find the routers on the way to a host"},
	{Text: "install", Help: "Put another image into the slot that does not run"},
	{Text: "reboot", Help: "Restart the machine"},
	{Text: "shutdown", Help: "Switch the machine off"},
	{Text: "force", Help: "Make an entity take a state until it is let go"},
	{Text: "apply", Help: "Put a list of rules in force"},
	{Text: "renumber", Help: "Give a list of rules new priorities in their order"},
}

// sessionWords are commands of the session itself; their operation has no object and its words in Key.
var sessionWords = []Candidate{
	{Text: "exit", Help: "End the session"},
	{Text: "quit", Help: "End the session"},
	{Text: "help", Help: "Help about a command, e.g. help add lb vserver"},
	{Text: "man", Help: "The same as help"},
	{Text: "history", Help: "Commands of this session"},
	{Text: "source", Help: "Execute the lines of a file of the configuration folder up to the first that fails: source FILE"},
	{Text: "batch", Help: "The same, with each command and what came of it shown: batch -fileName FILE"},
	{Text: "alias", Help: "Let a word of your own stand for a command, in all your sessions: alias NAME \"COMMAND\"; alone: show them"},
	{Text: "unalias", Help: "Forget such a word: unalias NAME"},
	{Text: "shell", Help: "The shell of the system beneath, or one command of it: shell [COMMAND]; for the role superuser alone"},
	{Text: "whoami", Help: "Name of the user"},
	{Text: "cls", Help: "Clear the screen"},
}

// laterWords are first words of the reference product that this version refuses by name.
var laterWords = strings.Fields("sync export update flush switch " +
	"join reset vtysh ping6 traceroute6 scp config " +
	"nstrace convert check backup query send")

// laterObjects are objects of the reference product that this version refuses by name, in lower case.
var laterObjects = strings.Split("cr action,ha sync,ha failover,ha files,rnatip,ns surgeq,ns info,ns connectiontable,ns events,ns rollbackcmd,"+
	"ns license,router dynamicrouting,router bgp,appflow param,"+
	"cluster instance,cluster node,cluster nodegroup,cluster sync,autoscale profile,autoscale policy,"+
	"autoscale action,bfd session,location,locationparameter,cli attribute,spillover policy,spillover action,gslb vserver,"+
	"gslb service,gslb site,license,ns partitions", ",")

// laterVerbs are verbs of the reference product for objects that are built, which this version refuses by name.
var laterVerbs = map[string]string{
	"ns-config": "unset", "ns-feature": "disable", "ns-mode": "disable", "interface": "enable disable stat", "interface-settings": "enable disable",
	"vlan": "stat", "route": "clear", "ns-ip": "stat", "hardware": "stat",
}

// alone are verbs that need no object behind them, since there is only one.
var alone = []string{"validate", "commit", "discard", "rebase", "rollback"}

// shortFor are words that administrators have typed for years and that would be ambiguous as abbreviations.
var shortFor = map[string]string{"sh": "show", "dis": "disable"}

// path is one way to type an object after its verb.
type path struct {
	words []string
	obj   *schema.Object
	short bool // an optional group word was left out, or the whole is an alias
}

// paths are all ways to type all objects. Objects that share words (a vserver and its bindings) share paths.
var paths = sync.OnceValue(func() []path {
	var all []path
	for _, o := range schema.Objects() {
		if o.Name() == o.Verbs[0] { // a command of one word
			all = append(all, path{nil, o, false})
			continue
		}
		all = append(all, path{o.Words, o, false})
		switch w := o.Words[0]; {
		case o == schema.Of[schema.NSLine](): // it is rare, and would make `lb` longer to type
		case w == "ns" && len(o.Words) > 1:
			all = append(all, path{o.Words[1:], o, true})
			if slices.Contains(alone, o.Verbs[0]) {
				all = append(all, path{nil, o, true})
			}
		case slices.Contains([]string{"vlan", "route", "interface", "arp"}, w):
			all = append(all, path{append([]string{"network"}, o.Words...), o, true})
		case w == "version" || w == "hardware":
			all = append(all, path{append([]string{"ns"}, o.Words...), o, true})
		case o.YANG == "lb-vserver":
			all = append(all, path{[]string{"vserver"}, o, true})
		}
	}
	return all
})

// pathsOf are the paths to the objects that take a verb, and those of them that begin with a word: by the verb and the word.
var pathsOf = sync.OnceValue(func() map[string][]path {
	all := map[string][]path{}
	for _, p := range paths() {
		for _, v := range p.obj.Verbs {
			all[v] = append(all[v], p)
			if len(p.words) == 0 {
				continue
			}
			begin := v + " " + strings.ToLower(p.words[0])
			all[begin] = append(all[begin], p)
		}
	}
	return all
})

// match finds the word among the candidates: exactly, or as a prefix of just one; case does not count. When more than
// one begins with it they are returned.
func match(word string, among []string) (found string, several []string) {
	for _, w := range among {
		if strings.EqualFold(w, word) {
			return w, nil
		}
	}
	for _, w := range among {
		if continues(w, word) && !slices.Contains(several, w) {
			several = append(several, w)
		}
	}
	if len(several) == 1 {
		return several[0], nil
	}
	return "", several
}

// texts are the words of candidates, without those that are only shorter for others.
func texts(c []Candidate) []string {
	var out []string
	for _, x := range c {
		if !x.short {
			out = append(out, x.Text)
		}
	}
	return out
}

func ambiguous(word string, several []string) error {
	slices.Sort(several)
	return schema.Refuse("Ambiguous command", word).Because("it may be " + strings.Join(several, ", "))
}

// resolve reads the verb and the words of the object. It returns the objects that share them and take the verb, the main
// one first, and how many tokens it used. When the tokens end too early, objs is empty and next are the words that may follow.
func resolve(tokens []Token) (verb string, objs []*schema.Object, used int, next []Candidate, err error) {
	if len(tokens) == 0 {
		return "", nil, 0, append(slices.Clone(verbs), sessionWords...), nil
	}
	if strings.EqualFold(tokens[0].Text, "stat") { // before `stat ns` takes the rest for an argument
		if err := uncounted(tokens[1:]); err != nil {
			return "", nil, 0, nil, err
		}
	}
	if objs, used := inFull(tokens); objs != nil {
		return tokens[0].Text, objs, used, nil, nil
	}
	known := append(texts(verbs), texts(sessionWords)...)
	word := tokens[0].Text
	if long, ok := shortFor[strings.ToLower(word)]; ok {
		word = long
	}
	verb, several := match(word, known)
	switch {
	case verb == "" && several != nil:
		return "", nil, 0, nil, ambiguous(word, several)
	case verb == "" && slices.ContainsFunc(laterWords, func(l string) bool { return strings.EqualFold(l, word) }):
		return "", nil, 0, nil, schema.Refuse(schema.NotSupported, word)
	case verb == "":
		return "", nil, 0, nil, schema.Refuse(schema.NoSuchCommand, shorten(word))
	case slices.Contains(texts(sessionWords), verb):
		return verb, nil, 1, nil, nil
	}
	objs, used, next, err = object(verb, tokens[1:])
	return verb, objs, used + 1, next, err
}

// object reads the words of an object behind a verb.
func object(verb string, tokens []Token) (objs []*schema.Object, used int, next []Candidate, err error) {
	left := pathsOf()[verb]
	if len(tokens) > 0 {
		if whole := pathsOf()[verb+" "+strings.ToLower(tokens[0].Text)]; whole != nil {
			left = whole // the others need not be looked at
		}
	}
	for depth := 0; ; depth++ {
		var ends, goOn []path
		for _, p := range left {
			if len(p.words) == depth {
				ends = append(ends, p)
			} else {
				goOn = append(goOn, p)
			}
		}
		if len(goOn) == 0 {
			return objectsOf(ends), depth, nil, nil
		}
		if depth == len(tokens) {
			if len(ends) > 0 {
				return objectsOf(ends), depth, nil, nil
			}
			return nil, depth, follow(goOn, depth), nil
		}
		t := tokens[depth]
		word, several := match(t.Text, wordsAt(goOn, depth))
		if t.Quoted || t.Keyword {
			word, several = "", nil
		}
		switch {
		case word != "":
			left = slices.DeleteFunc(goOn, func(p path) bool { return !strings.EqualFold(p.words[depth], word) })
		case len(ends) > 0:
			return objectsOf(ends), depth, nil, nil
		case several != nil:
			return nil, depth, nil, ambiguous(t.Text, several)
		default:
			return nil, depth, nil, unknownObject(verb, tokens, depth)
		}
	}
}

// wordsAt are the distinct words at one depth of paths.
func wordsAt(left []path, depth int) []string {
	var words []string
	for _, p := range left {
		if !slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, p.words[depth]) }) {
			words = append(words, p.words[depth])
		}
	}
	return words
}

func objectsOf(ends []path) []*schema.Object {
	var objs []*schema.Object
	for _, p := range ends {
		if !slices.Contains(objs, p.obj) {
			objs = append(objs, p.obj)
		}
	}
	return objs
}

// unknownObject refuses the word at depth: by name if the reference product knows it.
func unknownObject(verb string, tokens []Token, depth int) error {
	word := strings.ToLower(tokens[depth].Text)
	typed := word
	if depth > 0 {
		typed = strings.ToLower(tokens[depth-1].Text) + " " + word
	} else if len(tokens) > 1 {
		typed = word + " " + strings.ToLower(tokens[1].Text)
	}
	if slices.Contains(laterObjects, typed) {
		return schema.Refuse(schema.NotSupported, typed)
	}
	for _, l := range laterObjects {
		bare := strings.TrimPrefix(l, "ns ")
		first, _, _ := strings.Cut(l, " ")
		if depth == 0 && (bare == word || first == word && word != "ns" && word != "lb") {
			return schema.Refuse(schema.NotSupported, tokens[depth].Text)
		}
	}
	if depth == 0 && (verb == "create" || verb == "restore") { // the reference product makes and brings back much else
		return schema.Refuse(schema.NotSupported, verb+" "+typed)
	}
	for _, p := range paths() {
		if typedWhole(p, tokens) && slices.Contains(verbsLater(p.obj), verb) {
			return schema.Refuse(schema.NotSupported, verb+" "+strings.Join(p.words, " "))
		}
	}
	for _, p := range paths() {
		if len(p.words) > depth && strings.EqualFold(p.words[depth], word) {
			return schema.Refuse(schema.NoSuchCommand, verb+" "+word).Because(strings.Join(p.words, " ") + " takes the verbs " + strings.Join(verbsOf(p.words), " "))
		}
	}
	return schema.Refuse(schema.NoSuchCommand, shorten(tokens[depth].Text))
}

// uncounted refuses stat of what is only stored.
func uncounted(tokens []Token) error {
	for _, p := range paths() {
		if !p.obj.Stored || !typedWhole(p, tokens) || slices.ContainsFunc(schema.Objects(), func(o *schema.Object) bool { return !o.Stored && o.Name() == p.obj.Name() }) {
			continue
		}
		name := p.obj.Name()
		return schema.Refuse(schema.NotSupported, "stat "+name).Because(name + " is only stored, so there is nothing to count")
	}
	return nil
}

// typedWhole tells whether the tokens begin with all words of the path.
func typedWhole(p path, tokens []Token) bool {
	for i, w := range p.words {
		if i >= len(tokens) || !strings.EqualFold(tokens[i].Text, w) {
			return false
		}
	}
	return true
}

// verbsLater are the verbs of the reference product that the object does not take yet; stat is one as long as it is only stored.
func verbsLater(o *schema.Object) []string {
	later := strings.Fields(laterVerbs[o.YANG])
	if o.Stored {
		later = append(later, "stat")
	}
	return later
}

// verbsOf are the verbs that are typed before the words.
func verbsOf(words []string) []string {
	var out []string
	for _, p := range paths() {
		if slices.EqualFunc(p.words, words, strings.EqualFold) {
			for _, v := range p.obj.Verbs {
				if !slices.Contains(out, v) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

// groups are words that begin the names of several objects.
var groups = map[string]string{
	"ns": "Addresses, configuration and state of the appliance", "lb": "Load balancing", "cli": "This session", "network": "VLANs, routes and ports",
	"cs": "Content switching", "cr": "Cache redirection", "snmp": "Network management by SNMP", "audit": "Log messages and who gets them",
	"system": "Accounts, command policies and sessions", "authentication": "Servers of accounts", "ssl": "Certificates and TLS", "policy": "Expressions and sets of values for policies",
	"responder": "Answers that are given in place of servers", "rewrite": "Changes of requests and responses", "dns": "Names", "ntp": "Time",
	"appflow": "Flow records", "HA": "High availability in pairs",
}

// follow are the words at one depth with their help; those that an optional group word shortens come last.
func follow(left []path, depth int) []Candidate {
	var out []Candidate
	for _, short := range []bool{false, true} {
		for _, p := range left {
			word := p.words[depth]
			if p.short != short || slices.ContainsFunc(out, func(c Candidate) bool { return strings.EqualFold(c.Text, word) }) {
				continue
			}
			help := p.obj.Help
			if depth+1 < len(p.words) {
				help = groups[word]
			}
			out = append(out, Candidate{Text: word, Help: help, short: short})
		}
	}
	return out
}
