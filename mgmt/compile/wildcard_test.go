package compile

import (
	"testing"

	"sluice/vendor-config/schema"
)

// TestClassicExpressionsAreWrittenBack: in the default syntax, once; what is right or wrong otherwise stays as it was typed.
func TestClassicExpressionsAreWrittenBack(t *testing.T) {
	base := configure(t, "add lb vserver a ANY * * -Listenpolicy \"REQ.TCP.DESTPORT == 80\"")
	Modernize(base, nil)
	c := base.Clone()
	for _, row := range [][2]string{
		{"client.vlan.id == 7", "client.vlan.id == 7"}, {"REQ.VLANID != 7", "CLIENT.VLAN.ID.NE(7)"}, {"REQ.FOO", "REQ.FOO"}, {"NONE", "NONE"},
	} {
		v := *schema.Get[schema.LBVserver](c, "a")
		v.Name, v.ListenPolicy = "b", row[0]
		next := c.Clone()
		schema.Put(next, &v)
		Modernize(next, c)
		if got := schema.Get[schema.LBVserver](next, "b").ListenPolicy; got != row[1] {
			t.Errorf("%s is written back as %s, want %s", row[0], got, row[1])
		}
		if got := schema.Get[schema.LBVserver](next, "a"); got.ListenPolicy != "CLIENT.TCP.DSTPORT.EQ(80)" || got != schema.Get[schema.LBVserver](c, "a") {
			t.Errorf("the other vserver was changed to %s", got.ListenPolicy)
		}
	}
}
