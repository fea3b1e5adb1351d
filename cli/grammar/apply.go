package grammar

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/vendor-config/schema"
)

// Apply executes a changing operation on c, which must be a private clone: after an error it must be thrown away.
func (op *Op) Apply(c *schema.Config) error {
	for _, o := range append([]*Op{op}, op.Also...) {
		if err := o.apply(c); err != nil {
			return err
		}
	}
	return nil
}

func (op *Op) apply(c *schema.Config) error {
	if !op.Changes() {
		return schema.Refuse(schema.NotPermitted, op.Verb).Because("it does not change the configuration")
	}
	if !op.Object.Rows {
		switch {
		case op.Object == schema.Of[schema.NSPBRs]():
			return op.ordered(c, schema.Of[schema.NSPBR]())
		case op.Object == schema.Of[schema.NSACLs]():
			return op.ordered(c, schema.Of[schema.NSACL]())
		case op.Verb == "clear":
			level, _ := op.Arg("level")
			clearConfig(c, level)
		case op.Object == schema.Of[schema.NSConfig]():
			return op.setNSIP(c)
		case op.Object == schema.Of[schema.VRIDAll]():
			return removeRouters(c)
		case op.Object == schema.Of[schema.MonitorSwitch]():
			return op.switchMonitors(c)
		}
		return nil // features and modes that are built are always on
	}
	if len(op.Key) != len(op.Object.Keys()) {
		return schema.Refuse(schema.Missing, op.Object.Keys()[min(len(op.Key), len(op.Object.Keys())-1)].CLI)
	}
	if err := op.seal(c); err != nil {
		return err
	}
	if r := rulesOf[op.Object]; r.key != nil {
		about := *op
		about.Key = r.key(c, op.Key)
		op = &about
	}
	switch op.Verb {
	case "add", "bind", "link":
		return op.create(c)
	case "rm", "unbind", "unlink":
		return op.remove(c)
	case "rename":
		return op.rename(c)
	}
	return op.change(c)
}

// blank is a row that has the operation's key and is at its defaults else.
func (op *Op) blank() (any, error) {
	row := op.Object.Fresh()
	for i, f := range op.Object.Keys() {
		if err := f.Set(reflect.ValueOf(row).Elem(), op.Key[i]); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// fresh is the row that the operation adds.
func (op *Op) fresh() (any, error) {
	o := op.Object
	row, err := op.blank()
	if err != nil {
		return nil, err
	}
	v := reflect.ValueOf(row).Elem()
	given := map[*schema.Field]bool{}
	for _, a := range op.Args {
		if err := a.Field.Set(v, a.Value); err != nil {
			return nil, err
		}
		given[a.Field] = true
	}
	for _, f := range o.Fields {
		if f.DefaultBy != "" && !given[f] {
			f.Reset(o, v)
		}
	}
	return row, nil
}

// there tells whether the row that the operation adds is in c already, just as it would be added.
func (op *Op) there(c *schema.Config) bool {
	if op.Verb != op.Object.Verbs[0] || !op.Object.Rows || len(op.Key) != len(op.Object.Keys()) {
		return false
	}
	r, about := rulesOf[op.Object], *op
	if r.key != nil {
		about.Key = r.key(c, op.Key)
	}
	old, exists := c.Row(op.Object, about.Key...)
	if !exists {
		return false
	}
	row, err := about.fresh()
	if err == nil && r.prepare != nil {
		err = r.prepare(c, row)
	}
	if u, ok := row.(*schema.SystemUser); ok {
		u.PasswordChanged = old.(*schema.SystemUser).PasswordChanged // which no command tells
	}
	return err == nil && reflect.DeepEqual(old, row)
}

// create adds a row.
func (op *Op) create(c *schema.Config) error {
	o := op.Object
	row, err := op.fresh()
	if err != nil {
		return err
	}
	if _, exists := c.Row(o, op.Key...); exists || o == schema.Of[schema.LBMonitor]() && o.Builtin(op.Key[0]) {
		return schema.Refuse(schema.RowExists, Label(o), op.Named())
	}
	op.stamp(row)
	return put(c, o, row)
}

// put prepares and checks a row and stores it.
func put(c *schema.Config, o *schema.Object, row any) error {
	r := rulesOf[o]
	if r.prepare != nil {
		if err := r.prepare(c, row); err != nil {
			return err
		}
	}
	if err := checkRow(c, o, row); err != nil {
		return err
	}
	if r.unique != nil {
		if err := clash(c, o, row, r); err != nil {
			return err
		}
	}
	c.Put(o, row)
	if r.changed != nil {
		return r.changed(c, row)
	}
	return nil
}

// clash looks for another row that claims what only one may have.
func clash(c *schema.Config, o *schema.Object, row any, r rules) error {
	claim := r.unique(row)
	if claim == "" {
		return nil
	}
	if other := c.Claimant(o, r.unique, claim); other != nil && o.Key(other) != o.Key(row) {
		return r.taken(row, other)
	}
	return nil
}

// change is set, unset, enable and disable.
func (op *Op) change(c *schema.Config) error {
	o := op.Object
	old, err := op.existing(c)
	if err != nil {
		return err
	}
	row := o.Copy(old)
	v := reflect.ValueOf(row).Elem()
	switch op.Verb {
	case "enable":
		err = setState(o, v, "ENABLED")
		schema.Stay(row, "ENABLED")
	case "disable":
		if slices.Contains(schema.Leavers(), o) {
			return op.leave(c, row)
		}
		err = setState(o, v, "DISABLED")
	default:
		err = op.arguments(v)
	}
	if err != nil {
		return err
	}
	op.stamp(row)
	return put(c, o, row)
}

// leave is disable of what may take its time to go.
func (op *Op) leave(c *schema.Config, row any) error {
	at := op.At
	if at.IsZero() {
		at = time.Now()
	}
	delay, _ := op.Arg("delay")
	graceFul, _ := op.Arg("graceFul")
	seconds, _ := strconv.ParseUint(delay, 10, 32) // the field has checked it
	schema.Leave(row, uint32(seconds), graceFul == "YES", at)
	return put(c, op.Object, row)
}

func setState(o *schema.Object, v reflect.Value, state string) error {
	f := o.Field("state")
	if f == nil {
		return schema.Refuse(schema.NotPermitted, o.Name()).Because("it has no state")
	}
	return f.Set(v, state)
}

// arguments gives the row the arguments of set and unset.
func (op *Op) arguments(v reflect.Value) error {
	for _, a := range op.Args {
		switch {
		case a.Field.Pos > 0 && a.Field.Fixed:
			if err := agrees(a, v); err != nil {
				return err
			}
		case op.Verb == "unset":
			a.Field.Reset(op.Object, v)
			op.resetUnits(a.Field, v)
		default:
			if err := a.Field.Set(v, a.Value); err != nil {
				return err
			}
			op.resetUnits(a.Field, v)
		}
	}
	return nil
}

// resetUnits gives what may stand behind an argument its default where it was not typed: -interval 2 is 2 seconds,
// whatever the unit was before.
func (op *Op) resetUnits(f *schema.Field, v reflect.Value) {
	for _, u := range op.Object.Fields {
		if _, given := op.Arg(u.CLI); u.After == f.CLI && !given {
			u.Reset(op.Object, v)
		}
	}
}

// agrees tests a positional that repeats what the row says, such as the type of a monitor.
func agrees(a Arg, v reflect.Value) error {
	if have := a.Field.Text(v); a.Value != have {
		return schema.Refuse(schema.BadArgument, a.Field.CLI, a.Value).Because("it is " + have + " and cannot be changed")
	}
	return nil
}

// existing finds the row that the operation speaks of.
func (op *Op) existing(c *schema.Config) (any, error) {
	row, ok := c.Row(op.Object, op.Key...)
	switch {
	case ok:
		return row, nil
	case op.Object.Single, op.Object.Verbs[0] == "set", // there is no other way to add it
		op.Object == schema.Of[schema.SystemUser]() && op.Key[0] == schema.RootUser && op.Verb == "set":
		return op.blank()
	case op.Object == schema.Of[schema.LBMonitor]() && op.Object.Builtin(op.Key[0]):
		return nil, schema.Refuse(schema.NotPermitted, op.Key[0]).Because("the monitor is built in and cannot be changed; add one of your own")
	case len(op.Key) > 1 && op.Object.Verbs[0] == "bind":
		parent := schema.Find(op.Object.Name())
		if parent == nil {
			break
		}
		if _, ok := c.Row(parent, op.Key[0]); !ok && (!op.Object.Stored || parent.Verbs[0] != "set") {
			return nil, schema.Refuse(schema.NoSuchRow, Label(parent), op.Key[0])
		}
		return nil, schema.Refuse(schema.NoSuchRow, op.Object.Keys()[1].CLI, keyText(op.Key[1:])).Because("it is not bound to " + op.Key[0])
	}
	return nil, schema.Refuse(schema.NoSuchRow, Label(op.Object), op.Named())
}

func (op *Op) remove(c *schema.Config) error {
	row, err := op.existing(c)
	if err != nil {
		return err
	}
	for _, a := range op.Args {
		if a.Field.Pos == 0 || !a.Field.Fixed {
			continue
		}
		if err := agrees(a, reflect.ValueOf(row).Elem()); err != nil {
			return err
		}
	}
	r := rulesOf[op.Object]
	if r.inUse != nil {
		if err := r.inUse(c, row); err != nil {
			return err
		}
	}
	if len(op.Key) > 0 {
		removeBindings(c, op.Object, op.Key[0], r.bindings || op.Object.Stored)
	}
	c.Delete(op.Object, op.Key...)
	if r.gone != nil {
		return r.gone(c, row)
	}
	return nil
}

// removeBindings removes the rows whose keys refer to the row with the key: those that are only stored, or all.
func removeBindings(c *schema.Config, o *schema.Object, key string, all bool) {
	for _, b := range schema.Objects() {
		if !all && !b.Stored || c.Len(b) == 0 {
			continue
		}
		for _, f := range b.Fields {
			if f.Key == 0 || !slices.Contains(f.Targets(), o) {
				continue
			}
			for _, row := range c.Rows(b) {
				if f.Text(reflect.ValueOf(row).Elem()) == key {
					c.Remove(b, row)
				}
			}
		}
	}
}

// clearConfig removes rows: basic and extended keep what makes the appliance reachable, full keeps the NSIP and the
// default route through its subnet.
func clearConfig(c *schema.Config, level string) {
	keep := schema.New()
	for _, ip := range schema.All[schema.NSIP](c) {
		if ip.Type == "NSIP" || ip.Type == "SNIP" && level != "full" {
			schema.Put(keep, ip)
		}
	}
	for _, r := range schema.All[schema.Route](c) {
		isDefault := r.Network.IsUnspecified() && r.Netmask.IsUnspecified()
		if reachable(keep, r.Gateway) && (level != "full" || isDefault) {
			schema.Put(keep, r)
		}
	}
	if level != "full" {
		for _, o := range append(append(accounts(), auditLog()...), schema.Of[schema.NSHostName](), schema.Of[schema.VLAN](), schema.Of[schema.VLANInterface]()) {
			for _, row := range c.Rows(o) {
				keep.Put(o, row)
			}
		}
		for _, b := range schema.All[schema.VLANIP](c) {
			if schema.Get[schema.NSIP](keep, b.IPAddress.String()) != nil {
				schema.Put(keep, b)
			}
		}
	}
	c.Replace(keep)
}

// Bare is what clear ns config full leaves of a configuration.
func Bare(c *schema.Config) *schema.Config {
	bare := c.Clone()
	clearConfig(bare, "full")
	return bare
}

// auditLog are the objects that say who is told what happens: who clears the rest is not to go unseen.
func auditLog() []*schema.Object {
	return []*schema.Object{schema.Of[schema.AuditSyslogParams](), schema.Of[schema.AuditSyslogAction](), schema.Of[schema.AuditSyslogPolicy](), schema.Of[schema.AuditSyslogGlobal]()}
}

// accounts are the objects that say who may do what.
func accounts() []*schema.Object {
	return []*schema.Object{schema.Of[schema.SystemParameter](), schema.Of[schema.SystemCmdPolicy](), schema.Of[schema.SystemUser](),
		schema.Of[schema.SystemUserPolicy](), schema.Of[schema.SystemUserKey](), schema.Of[schema.SystemGroup](), schema.Of[schema.SystemGroupUser](),
		schema.Of[schema.SystemGroupPolicy](), schema.Of[schema.RadiusAction](), schema.Of[schema.LDAPAction](), schema.Of[schema.RadiusPolicy](),
		schema.Of[schema.LDAPPolicy](), schema.Of[schema.AuthenticationPolicy](), schema.Of[schema.SystemGlobal]()}
}

// Label names an object's key in an error as the reference product does: [vserver, v1], [id, 5].
func Label(o *schema.Object) string {
	k := o.Keys()[0].CLI
	if k == "name" {
		return o.Words[len(o.Words)-1]
	}
	return k
}

// Named is the key as an error tells it, which is logged.
func (op *Op) Named() string {
	key := slices.Clone(op.Key)
	for i, f := range op.Object.Keys() {
		if i < len(key) && f.Secret {
			key[i] = schema.Hidden
		}
	}
	return keyText(key)
}

func keyText(key []string) string { return strings.Join(key, " ") }
