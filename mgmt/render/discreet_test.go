package render

import (
	"strings"
	"testing"

	"sluice/vendor-config/schema"
)

// TestDiscreetKeptLines: a line that is kept word for word is shown without the secrets in it.
func TestDiscreetKeptLines(t *testing.T) {
	c := schema.New()
	schema.Put(c, &schema.NSLine{Number: 1, Text: "set ns rpcNode 10.0.0.1 -password s3cret", Reason: "r"})
	schema.Put(c, &schema.NSLine{Number: 2, Text: "add vpn vserver v SSL"})
	d := Discreet(c)
	one, two := schema.Get[schema.NSLine](d, "1"), schema.Get[schema.NSLine](d, "2")
	if strings.Contains(one.Text, "s3cret") || !strings.HasSuffix(one.Text, schema.Hidden) || one.Reason != "r" || two.Text != "add vpn vserver v SSL" {
		t.Errorf("%+v %+v", one, two)
	}
	if !strings.Contains(schema.Get[schema.NSLine](c, "1").Text, "s3cret") {
		t.Error("the configuration itself has changed")
	}
}
