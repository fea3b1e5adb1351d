package grammar

import (
	"strconv"

	"sluice/vendor-config/schema"
)

// checkPersistence: what is set for another type of persistence than the vserver has stays without effect, as in the reference
// product; what contradicts the type is refused.
func checkPersistence(v *schema.LBVserver) error {
	kind := v.PersistenceType
	switch {
	case bits(v.PersistMask) < 1:
		return badMask("persistMask", v.PersistMask)
	case v.Timeout == 0 && kind != "NONE":
		return schema.Refuse("Timeout value out of range", "timeout", strconv.Itoa(int(v.Timeout))).
			Because("persistence of type " + kind + " remembers a client for 1 to 1440 minutes")
	case v.PersistBackup != "NONE" && (kind == "NONE" || kind == v.PersistBackup):
		return schema.Refuse(schema.BadArgument, "persistenceBackup", v.PersistBackup).
			Because("it is for persistence of another type, such as SRCIPDESTIP, and -persistenceType is " + kind)
	}
	return nil
}
