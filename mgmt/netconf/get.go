package netconf

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
	"sluice/vendor-config/yang"
)

func isOperation(a xml.Attr) bool { return a.Name.Space == baseNS && a.Name.Local == "operation" }

// get answers with what is running and, if it is asked for by a filter, with what the server tells of itself.
func (ss *session) get(b *bytes.Buffer, op *element) error {
	return ss.data(b, op, ss.server.appliance.Running(), "show ns runningConfig", true)
}

func (ss *session) getConfig(b *bytes.Buffer, op *element) error {
	name, inline, err := datastore(op, "source")
	if err != nil {
		return err
	}
	if inline != nil {
		return refuse("invalid-value", "the source is a datastore", "bad-element", "config")
	}
	command := map[string]string{running: "show ns runningConfig", startup: "show ns savedConfig", candidate: "show ns config -candidate"}[name]
	c, err := ss.content(name)
	if err != nil {
		return err
	}
	return ss.data(b, op, c, command, false)
}

// data writes a <data> element. Who may not give the command that shows all of the configuration is given the objects that he
// may show, and does not hear of the others (as RFC 8341 section 3.2.4 has it).
func (ss *session) data(b *bytes.Buffer, op *element, c *schema.Config, command string, state bool) error {
	filter := op.kid("filter")
	if filter != nil && filter.attr("type") != "" && filter.attr("type") != "subtree" {
		return refuse("bad-attribute", "filters are subtrees; XPath is not built", "bad-attribute", "type", "bad-element", "filter")
	}
	defaults := "trim"
	if w := op.in(withDefNS, "with-defaults"); w != nil {
		if defaults = w.value(); !slices.Contains([]string{"trim", "report-all", "report-all-tagged"}, defaults) {
			return refuse("invalid-value", "with-defaults is trim, report-all or report-all-tagged", "bad-element", "with-defaults")
		}
	}
	b.WriteString("<data>")
	w := &dataWriter{b: b, defaults: defaults, shown: func(o *schema.Object) bool { return true }}
	if ss.may(command) != nil {
		w.shown = func(o *schema.Object) bool { return ss.may("show "+o.Name()) == nil }
	}
	if filter == nil {
		w.config(c, nil)
	} else if wanted := under(filter.kids, ownNS, "sluice"); len(wanted) > 0 {
		w.config(c, wanted)
	}
	if state && (filter == nil || len(under(filter.kids, monitoringNS, "netconf-state")) > 0) {
		ss.state(b)
	}
	b.WriteString("</data>")
	return nil
}

// under are the filters of a level that speak of a node. An element in no namespace, or in that of the protocol which it has
// inherited, means any (RFC 6241 section 6.2.1).
func under(filters []*element, space, local string) []*element {
	var out []*element
	for _, f := range filters {
		if f.name.Local == local && (f.name.Space == space || f.name.Space == "" || f.name.Space == baseNS) && plain(f) {
			out = append(out, f)
		}
	}
	return out
}

// plain tells whether a filter asks for no attribute; nothing of ours has any.
func plain(f *element) bool {
	return !slices.ContainsFunc(f.attrs, func(a xml.Attr) bool { return a.Name.Local != "xmlns" && a.Name.Space != "xmlns" })
}

// whole tells whether one of the filters selects the node with all below it.
func whole(filters []*element) bool {
	return slices.ContainsFunc(filters, func(f *element) bool { return len(f.kids) == 0 && f.value() == "" })
}

// dataWriter writes configurations.
type dataWriter struct {
	b        *bytes.Buffer
	defaults string
	shown    func(*schema.Object) bool
}

// config writes what the filters select of a configuration, all of it when there are none.
func (w *dataWriter) config(c *schema.Config, filters []*element) {
	c = render.Discreet(c)
	all := len(filters) == 0 || whole(filters)
	start := w.b.Len()
	fmt.Fprintf(w.b, "<sluice xmlns=%q>", ownNS)
	empty := w.b.Len()
	for _, o := range schema.Objects() {
		if !o.Rows || c.Len(o) == 0 && w.defaults == "trim" || !w.shown(o) {
			continue
		}
		var wanted []*element
		if !all {
			for _, f := range filters {
				wanted = append(wanted, under(f.kids, ownNS, o.YANG)...)
			}
			if len(wanted) == 0 {
				continue
			}
		}
		rows := c.Rows(o)
		if o.Single && len(rows) == 0 && w.defaults != "trim" && !o.Presence() {
			rows = []any{o.Fresh()}
		}
		for _, row := range rows {
			w.row(o, row, wanted)
		}
	}
	if w.b.Len() == empty && !all {
		w.b.Truncate(start) // nothing is selected
		return
	}
	w.b.WriteString("</sluice>")
}

// row writes a row, or what is wanted of it.
func (w *dataWriter) row(o *schema.Object, row any, wanted []*element) {
	v := reflect.ValueOf(row).Elem()
	all := len(wanted) == 0 || whole(wanted)
	selected := map[string]bool{}
	matches := all
	for _, f := range wanted {
		if all || !w.matches(o, v, f) {
			continue
		}
		matches = true
		only := false
		for _, k := range f.kids {
			if k.value() == "" {
				only = true
				selected[k.name.Local] = true
			}
		}
		all = all || !only
	}
	if !matches {
		return
	}
	fmt.Fprintf(w.b, "<%s>", o.YANG)
	for _, f := range o.Leaves() {
		if f.Key == 0 && !all && !selected[f.YANG] && !contentMatch(wanted, f.YANG) {
			continue
		}
		w.leaf(o, f, v)
	}
	fmt.Fprintf(w.b, "</%s>", o.YANG)
}

// contentMatch tells whether a filter asks for a value of the leaf, which is then part of the answer.
func contentMatch(wanted []*element, leaf string) bool {
	return slices.ContainsFunc(wanted, func(f *element) bool {
		return slices.ContainsFunc(f.kids, func(k *element) bool { return k.name.Local == leaf && k.value() != "" })
	})
}

// matches tells whether the row has the values that a filter asks for (RFC 6241 section 6.2.5).
func (w *dataWriter) matches(o *schema.Object, v reflect.Value, filter *element) bool {
	for _, k := range filter.kids {
		f := o.Leaf(k.name.Local)
		if want := k.value(); want != "" && (f == nil || f.Text(v) != want) {
			return false
		}
	}
	return true
}

func (w *dataWriter) leaf(o *schema.Object, f *schema.Field, v reflect.Value) {
	text := f.Text(v)
	at := f.Key == 0 && !f.Required && atDefault(o, f, v)
	if at && (w.defaults == "trim" || text == "" || f.DefaultIn(o, v) == "") {
		return
	}
	fmt.Fprintf(w.b, "<%s", f.YANG)
	if at && w.defaults == "report-all-tagged" {
		fmt.Fprintf(w.b, ` xmlns:wd=%q wd:default="true"`, defaultNS)
	}
	w.b.WriteString(">")
	escape(w.b, text)
	fmt.Fprintf(w.b, "</%s>", f.YANG)
}

// state writes what RFC 6022 lets clients know: capabilities, modules, sessions. Of the others' sessions hears who may show them.
func (ss *session) state(b *bytes.Buffer) {
	fmt.Fprintf(b, "<netconf-state xmlns=%q><capabilities>", monitoringNS)
	for _, c := range capabilities() {
		leafText(b, "capability", c)
	}
	b.WriteString("</capabilities><schemas>")
	for _, m := range yang.Modules() {
		b.WriteString("<schema>")
		for _, l := range [][2]string{{"identifier", m.Name}, {"version", m.Revision}, {"format", "yang"}, {"namespace", m.Namespace}, {"location", "NETCONF"}} {
			leafText(b, l[0], l[1])
		}
		b.WriteString("</schema>")
	}
	b.WriteString("</schemas><sessions>")
	s, others := ss.server, ss.may("show system session") == nil
	s.mu.Lock()
	all := make([]*session, 0, len(s.sessions))
	for _, one := range s.sessions {
		if one == ss || others {
			all = append(all, one)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(x, y *session) int { return int(x.who.ID) - int(y.who.ID) })
	for _, one := range all {
		b.WriteString("<session>")
		for _, l := range [][2]string{{"session-id", fmt.Sprint(one.who.ID)}, {"transport", "netconf-ssh"}, {"username", one.who.User},
			{"source-host", one.who.Source}, {"login-time", one.began.UTC().Format(time.RFC3339)}} {
			leafText(b, l[0], l[1])
		}
		b.WriteString("</session>")
	}
	b.WriteString("</sessions></netconf-state>")
}

func (ss *session) getSchema(b *bytes.Buffer, op *element) error {
	name, version, format := op.in(monitoringNS, "identifier").value(), op.in(monitoringNS, "version").value(), op.in(monitoringNS, "format").value()
	if f := strings.TrimPrefix(format, "ncm:"); f != "" && f != "yang" {
		return refuse("invalid-value", "modules are written in yang", "bad-element", "format")
	}
	for _, m := range yang.Modules() {
		if m.Name == name && (version == "" || version == m.Revision) {
			fmt.Fprintf(b, "<data xmlns=%q>", monitoringNS)
			escape(b, m.Text)
			b.WriteString("</data>")
			return nil
		}
	}
	return refuse("invalid-value", fmt.Sprintf("there is no module %s of version %q", valid(name), valid(version)), "bad-element", "identifier")
}
