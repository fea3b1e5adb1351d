package grammar

import (
	"strconv"

	"sluice/vendor-config/schema"
)

// checkToken: a method that goes by part of a datagram needs datagrams, and must know which part.
func checkToken(v *schema.LBVserver) error {
	token, rule := v.LBMethod == "TOKEN", v.Rule != "none" && v.Rule != ""
	switch {
	case rule && !token:
		return schema.Refuse(schema.NoPrereq, "rule", v.Rule).Because("it is for the method TOKEN, and -lbMethod is " + v.LBMethod)
	case rule && v.DataLength != 0:
		return schema.Refuse(schema.Conflict, "-rule", "-dataLength "+strconv.Itoa(int(v.DataLength))).Because("both say what TOKEN hashes")
	case rule && v.DataOffset != 0:
		return schema.Refuse(schema.Conflict, "-rule", "-dataOffset "+strconv.Itoa(int(v.DataOffset))).Because("both say what TOKEN hashes")
	case rule:
		return nil // of which packets it is a token is known to who reads it: see mgmt/compile
	case (token || v.LBMethod == "CALLIDHASH") && v.ServiceType != "UDP":
		return schema.Refuse(schema.NotSupported, "lbMethod", v.LBMethod).
			Because("it goes by the first datagram of a flow, so the vserver must be of type UDP and is " + v.ServiceType)
	case token && v.DataLength == 0:
		return schema.Refuse(schema.Missing, "dataLength").Because("TOKEN hashes so many bytes of a datagram's payload, from -dataOffset on; or give a -rule")
	case !token && v.DataLength != 0:
		return schema.Refuse(schema.NoPrereq, "dataLength", strconv.Itoa(int(v.DataLength))).Because("it is for the method TOKEN, and -lbMethod is " + v.LBMethod)
	case !token && v.DataOffset != 0:
		return schema.Refuse(schema.NoPrereq, "dataOffset", strconv.Itoa(int(v.DataOffset))).Because("it is for the method TOKEN, and -lbMethod is " + v.LBMethod)
	}
	return nil
}
