package grammar

import (
	"slices"
	"strings"
	"sync"

	"sluice/vendor-config/schema"
)

// spelling is where some words of a command lead that are spelt in full: to the objects that they name, and by further words.
type spelling struct {
	objs []*schema.Object
	next map[string]*spelling // by the next word, in lower case and as it is written
}

func (s *spelling) follow(word string) *spelling {
	if s.next == nil {
		s.next = map[string]*spelling{}
	}
	n := s.next[strings.ToLower(word)]
	if n == nil {
		n = &spelling{}
		s.next[strings.ToLower(word)] = n
	}
	s.next[word] = n
	return n
}

// spellings begin with the verb.
var spellings = sync.OnceValue(func() *spelling {
	root := &spelling{}
	for _, p := range paths() {
		for _, v := range p.obj.Verbs {
			at := root.follow(v)
			for _, w := range p.words {
				at = at.follow(w)
			}
			if !slices.Contains(at.objs, p.obj) {
				at.objs = append(at.objs, p.obj)
			}
		}
	}
	return root
})

// inFull finds what resolve finds, at once, if verb and words are spelt in full, as in a file. It finds nothing where the next word
// might be one more of the object's.
func inFull(tokens []Token) (objs []*schema.Object, used int) {
	at := spellings()
	for _, t := range tokens {
		n := at.next[t.Text]
		if n == nil {
			break
		}
		at = n
		used++
	}
	if at.next != nil || used < 2 {
		return nil, 0
	}
	return at.objs, used
}
