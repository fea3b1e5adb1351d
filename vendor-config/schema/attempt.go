package schema

// step is one change of a table, as it must be known to be undone.
type step struct {
	object *Object
	key    string
	at     int // in the table's list
	was    any // the row that stood there; nil: there was none
	tables map[*Object]*rows
}

// Attempt makes a change that leaves c as it was if it fails. It costs what the change costs, however much c holds, so that
// a file of which many lines are refused loads in linear time. An attempt within an attempt belongs to the outer one.
func (c *Config) Attempt(change func(*Config) error) error {
	if c.attempting {
		return change(c)
	}
	c.attempting, c.steps = true, c.steps[:0]
	err := change(c)
	if err != nil {
		for i := len(c.steps) - 1; i >= 0; i-- {
			c.undo(c.steps[i])
		}
	}
	c.attempting = false
	clear(c.steps) // they hold rows
	return err
}

// note remembers what a change takes away, as long as it may have to be undone.
func (c *Config) note(s step) {
	if c.attempting {
		c.steps = append(c.steps, s)
	}
}

func (c *Config) undo(s step) {
	if s.tables != nil {
		c.tables, c.claims = s.tables, nil
		return
	}
	t := c.writable(s.object)
	is := t.list[s.at]
	c.disclaim(s.object, is)
	if s.was == nil { // it was put behind all others, and whatever came later is undone already
		delete(t.places(), s.key)
		t.list = t.list[:s.at]
		return
	}
	switch {
	case is == nil:
		t.places()[s.key] = s.at
	case s.object.Key(is) != s.key: // it was renamed
		delete(t.places(), s.object.Key(is))
		t.places()[s.key] = s.at
	}
	t.list[s.at] = s.was
	c.claim(s.object, s.was)
}
