package grammar

import (
	"strconv"

	"sluice/vendor-config/schema"
)

// checkToken: a method that goes by part of a datagram needs datagrams, and must know which part.
func checkToken(v *schema.LBVserver) error {
	token := v.LBMethod == "TOKEN"
	switch {
	case (token || v.LBMethod == "CALLIDHASH") && v.ServiceType != "UDP":
		return schema.Refuse(schema.NotSupported, "lbMethod", v.LBMethod).
			Because("it goes by the first datagram of a flow, so the vserver must be of type UDP and is " + v.ServiceType)
	case token && v.DataLength == 0:
		return schema.Refuse(schema.Missing, "dataLength").Because("TOKEN hashes so many bytes of a datagram's payload, from -dataOffset on")
	case !token && v.DataLength != 0:
		return schema.Refuse(schema.NoPrereq, "dataLength", strconv.Itoa(int(v.DataLength))).Because("it is for the method TOKEN, and -lbMethod is " + v.LBMethod)
	case !token && v.DataOffset != 0:
		return schema.Refuse(schema.NoPrereq, "dataOffset", strconv.Itoa(int(v.DataOffset))).Because("it is for the method TOKEN, and -lbMethod is " + v.LBMethod)
	}
	return nil
}
