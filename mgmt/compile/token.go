package compile

import (
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// token compiles which part of a datagram a vserver's method goes by.
func token(v *schema.LBVserver, t *api.Vserver) {
	switch t.Method {
	case api.TokenHash:
		t.TokenOffset, t.TokenLength = uint16(v.DataOffset), uint16(min(v.DataLength, v.HashLength))
	case api.CallIDHash:
		t.TokenLength = uint16(v.HashLength)
	}
}
