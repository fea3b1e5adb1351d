package yang

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"

	"sluice/vendor-config/schema"
)

// head is what stands before the objects.
const head = `module sluice {
  yang-version 1.1;
  namespace "urn:sluice:config";
  prefix sluice;

  organization "Sluice";
  contact "The people who run the appliance";
  description
    "The configuration of an application delivery appliance. It is written out from the appliance's object model: a list is
     a kind of object, a leaf an argument of its commands.";

  revision %s {
    description
      "The objects of this release.";
  }

  extension command {
    argument words;
    description
      "The object or argument as operators type it.";
  }

  extension secret {
    description
      "The value is not shown to anybody.";
  }

  extension stored {
    description
      "The object is kept and written back, but its function is not built in this release.";
  }

  typedef text {
    type string {
      pattern '\P{Cc}*';
    }
    description
      "Text without control characters.";
  }

  typedef name {
    type string {
      pattern '[A-Za-z0-9_][A-Za-z0-9_#. :@=\-]*';
    }
    description
      "Name of an object.";
  }

  typedef port-name {
    type string {
      pattern '[0-9]{1,3}/[0-9]{1,3}';
    }
    description
      "Port of the appliance, e.g. 1/1.";
  }

  typedef ipv4-address {
    type string {
      pattern '(([0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])\.){3}'
            + '([0-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])';
    }
    description
      "IPv4 address in dotted decimals.";
  }

  container sluice {
    description
      "Everything that is configured.";
`

// Text is the module of the configuration.
func Text() string {
	w := &writer{}
	fmt.Fprintf(&w.b, head, Revision)
	w.depth = 2
	for _, o := range schema.Objects() {
		if o.Rows {
			w.object(o)
		}
	}
	w.b.WriteString("  }\n}\n")
	return w.b.String()
}

// writer writes statements, each on a line of its own.
type writer struct {
	b     strings.Builder
	depth int
}

func (w *writer) line(format string, args ...any) {
	w.b.WriteString(strings.Repeat("  ", w.depth))
	fmt.Fprintf(&w.b, format+"\n", args...)
}

// block writes a statement with others inside.
func (w *writer) block(statement string, inside func()) {
	w.line("%s {", statement)
	w.depth++
	inside()
	w.depth--
	w.line("}")
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}

// description writes text in lines that are no longer than is comfortable.
func (w *writer) description(text string) {
	const width = 120
	w.line("description")
	indent := strings.Repeat("  ", w.depth+1)
	var lines []string
	line := ""
	for _, word := range strings.Fields(quote(text)) {
		if line != "" && len(indent)+1+len(line)+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	lines = append(lines, line)
	fmt.Fprintf(&w.b, "%s%s;\n", indent, strings.Join(lines, "\n"+indent+" "))
}

func (w *writer) object(o *schema.Object) {
	kind := "list "
	if o.Single {
		kind = "container "
	}
	w.b.WriteString("\n")
	w.block(kind+o.YANG, func() {
		if !o.Single {
			var keys []string
			for _, f := range o.Keys() {
				keys = append(keys, f.YANG)
			}
			w.line("key %s;", quote(strings.Join(keys, " ")))
		} else if o.Presence() {
			// Or the leaf would be mandatory where there is no row (RFC 7950 section 3, mandatory node).
			w.line("presence %s;", quote(o.Help+"."))
		}
		w.line("sluice:command %s;", quote(o.Name()))
		if o.Stored {
			w.line("sluice:stored;")
		}
		w.description(o.Help + ".")
		for _, f := range o.Leaves() {
			w.leaf(o, f)
		}
	})
}

func (w *writer) leaf(o *schema.Object, f *schema.Field) {
	w.block("leaf "+f.YANG, func() {
		w.types(f, !o.Needs(f))
		if f.Unit != "" {
			w.line("units %s;", quote(f.Unit))
		}
		switch {
		case f.Key > 0:
		case f.Required && !o.Single: // one that is not there is at its defaults
			w.line("mandatory true;")
		case f.HasDefault && f.Default != "":
			w.line("default %s;", quote(f.Default))
		}
		w.line("sluice:command %s;", quote(f.CLI))
		if f.Secret {
			w.line("sluice:secret;")
		}
		w.description(f.Help + "." + more(o, f))
	})
}

// more are the rules that YANG has no statement for, or none that would still hold when another leaf is changed.
func more(o *schema.Object, f *schema.Field) string {
	text := ""
	if f.Fixed {
		text += " It is not changed once the object is there."
	}
	if f.ForField != "" {
		text += fmt.Sprintf(" It means something only where %s is %s.", o.Field(f.ForField).YANG, strings.Join(f.ForValues, ", "))
	}
	if f.DefaultBy == "" {
		return text
	}
	by := o.Field(f.DefaultBy)
	row := reflect.New(o.Type).Elem()
	var all []string
	for _, e := range by.Enum {
		if by.Set(row, e) == nil {
			if d := f.DefaultIn(o, row); d != "" {
				all = append(all, d+" with "+e)
			}
		}
	}
	return text + fmt.Sprintf(" Its default depends on %s: %s.", by.YANG, strings.Join(all, ", "))
}

// types writes the type of a leaf, a union if several are possible. loose: the row that it names need not be there.
func (w *writer) types(f *schema.Field, loose bool) {
	if len(f.Targets()) > 0 {
		w.reference(f, loose)
		return
	}
	var members []func()
	switch {
	case len(f.Enum) > 0:
		members = append(members, func() { w.enumeration(f.Enum) })
	case f.Type == reflect.TypeFor[netip.Addr]():
		members = append(members, func() { w.line("type ipv4-address;") })
		if f.Any != "" {
			members = append(members, func() { w.enumeration([]string{"*"}) })
		}
	case f.Type.Kind() == reflect.String:
		members = append(members, func() { w.text(f) })
	default:
		members = append(members, func() { w.number(f) })
	}
	if len(members) == 1 {
		members[0]()
		return
	}
	w.block("type union", func() {
		for _, m := range members {
			m()
		}
	})
}

// reference writes the type of a leaf that names a row. Of several objects it is no union of leafrefs, which readers of
// YANG 1.0 do not know, but a condition.
func (w *writer) reference(f *schema.Field, loose bool) {
	path := func(t *schema.Object) string { return "/sluice:sluice/sluice:" + t.YANG }
	first := f.Targets()[0]
	if len(f.Targets()) == 1 && first.Builtins() == nil {
		w.block("type leafref", func() {
			w.line("path %s;", quote(path(first)+"/sluice:"+first.Keys()[0].YANG))
			if loose {
				w.line("require-instance false;")
			}
		})
		return
	}
	w.line("type name;")
	if loose {
		return
	}
	var any []string
	for _, t := range f.Targets() {
		any = append(any, fmt.Sprintf("%s[sluice:%s = current()]", path(t), t.Keys()[0].YANG))
		for _, name := range t.Builtins() {
			any = append(any, fmt.Sprintf(". = '%s'", name))
		}
	}
	w.line("must %s;", quote(strings.Join(any, " or ")))
}

func (w *writer) enumeration(values []string) {
	w.block("type enumeration", func() {
		for _, v := range values {
			w.line("enum %s;", quote(v))
		}
	})
}

func (w *writer) text(f *schema.Field) {
	kind := "text"
	switch f.Syntax {
	case "name":
		kind = "name"
	case "ifnum":
		kind = "port-name"
	}
	if !f.HasMax {
		w.line("type %s;", kind)
		return
	}
	// The appliance counts bytes, of which a character has one at least.
	w.block("type "+kind, func() { w.line("length \"0..%d\";", f.Max) })
}

func (w *writer) number(f *schema.Field) {
	kind := f.Type.Kind().String()
	lo, hi := f.Bounds()
	if lo == 0 && !f.HasMax {
		w.line("type %s;", kind)
		return
	}
	limits := fmt.Sprintf("%d..%d", lo, hi)
	if lo > 0 && (f.Any == "0" || !f.HasDefault && f.Key == 0 && !f.Required) {
		limits = "0 | " + limits // 0 stands for any, or for none
	}
	w.block("type "+kind, func() { w.line("range %s;", quote(limits)) })
}

// HeldText is the module of what a file keeps that is not in force.
func HeldText() string {
	return `module sluice-held {
  yang-version 1.1;
  namespace "urn:sluice:held";
  prefix held;

  organization "Sluice";
  contact "The people who run the appliance";
  description
    "What a configuration file holds besides the configuration: elements that the appliance did not understand or that were
     not valid. They are not in force and are kept as they were found.";

  revision ` + Revision + ` {
    description
      "First version.";
  }

  anyxml held {
    description
      "Rows, each with the reason why it is not in force and with its content.";
  }
}
`
}
