package engine

import (
	"slices"

	"sluice/vendor-config/schema"
)

// disablePrimaries disables the vservers that have gone down and want that (disablePrimaryOnDown), so that their backups keep
// the clients until an operator enables them. It does not wait: whoever tells of a turn may hold what a change of the
// configuration needs.
func (e *Engine) disablePrimaries(turns []turn) {
	turns = slices.DeleteFunc(slices.Clone(turns), func(t turn) bool { return t.state != "DOWN" || t.kind != "lb vserver" || !e.leaves(t.name) })
	if len(turns) == 0 {
		return
	}
	go func() {
		for _, t := range turns {
			_, err := e.Commit(Author{User: "system", Source: "disablePrimaryOnDown", Line: "disable lb vserver " + t.name}, func(c *schema.Config) error {
				v := schema.Get[schema.LBVserver](c, t.name)
				if v == nil {
					return nil
				}
				row := *v
				row.State = "DISABLED"
				schema.Put(c, &row)
				return nil
			})
			if err != nil {
				e.opt.Log.Error("the primary vserver that went down cannot be disabled", "vserver", t.name, "error", err)
			}
		}
	}()
}

// leaves tells whether a vserver is to be disabled when it goes down.
func (e *Engine) leaves(vserver string) bool {
	v := schema.Get[schema.LBVserver](e.Config(), vserver)
	return v != nil && v.DisablePrimary == "ENABLED" && v.BackupVServer != "" && v.State != "DISABLED"
}
