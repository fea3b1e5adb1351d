package compile

import (
	"fmt"

	"sluice/dataplane/api"
	"sluice/dataplane/api/expr"
	"sluice/vendor-config/schema"
)

// token compiles which part of a packet a vserver's method goes by.
func token(v *schema.LBVserver, t *api.Vserver) error {
	switch {
	case t.Method == api.TokenHash && v.Rule != noRule && v.Rule != "":
		return tokenRule(v, t)
	case t.Method == api.TokenHash:
		t.TokenOffset, t.TokenLength = uint16(v.DataOffset), uint16(min(v.DataLength, v.HashLength))
	case t.Method == api.CallIDHash:
		t.TokenLength = uint16(v.HashLength)
	}
	return nil
}

// noRule is a vserver's rule while it has none.
const noRule = "none"

func tokenRule(v *schema.LBVserver, t *api.Vserver) error {
	k, err := expr.ParseToken(v.Rule)
	if err != nil {
		return schema.Refuse(schema.BadValue, "rule", v.Rule).Because(fmt.Sprintf("%v; it is the rule of lb vserver %s", err, v.Name))
	}
	if p := k.Protocol(); p != 0 && p != t.Proto {
		return schema.Refuse(schema.Conflict, "-rule "+v.Rule, v.ServiceType).
			Because("lb vserver " + v.Name + " must be of type " + map[uint8]string{api.ProtoTCP: "TCP or HTTP", api.ProtoUDP: "UDP"}[p] + " for its packets to have that")
	}
	if t.TokenRule = k.String(); k.Cuts() != nil {
		t.TokenLength = uint16(v.HashLength)
	}
	return nil
}
