package engine

import (
	"testing"

	"sluice/vendor-config/schema"
)

// TestDisablePrimaryOnDown: a primary that goes down stays with its backup when its services are back, until it is enabled.
func TestDisablePrimaryOnDown(t *testing.T) {
	p := &plane{}
	b := newBench(t, p).run()
	b.commit(func(c *schema.Config) {
		site(c)
		schema.Put(c, fresh(func(r *schema.LBVserver) { r.Name, r.ServiceType = "spare", "HTTP" }))
		v := *schema.Get[schema.LBVserver](c, "v")
		v.BackupVServer, v.DisablePrimary = "spare", "ENABLED"
		schema.Put(c, &v)
	})
	state := func() string { return schema.Get[schema.LBVserver](b.Config(), "v").State }
	up := func(is bool) func() bool { return func() bool { return b.State().Vservers["v"].Up == is } }
	b.says("s1", true)
	until(t, "v is up", up(true))
	if state() == "DISABLED" {
		t.Fatal("a vserver that was never down is disabled")
	}
	b.says("s1", false)
	until(t, "v is disabled", func() bool { return state() == "DISABLED" })
	b.says("s1", true)
	until(t, "s1 is up", func() bool { return b.State().Services["s1"].Up })
	if up(true)() {
		t.Error("v is up again by itself")
	}
	b.commit(func(c *schema.Config) {
		v := *schema.Get[schema.LBVserver](c, "v")
		v.State = "ENABLED"
		schema.Put(c, &v)
	})
	until(t, "v is up once it is enabled", up(true))
}
