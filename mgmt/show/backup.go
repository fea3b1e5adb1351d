package show

import (
	"fmt"
	"strings"

	"sluice/mgmt/store"
)

// Backups tells of backups; what they say of themselves may have come from anywhere and is quoted.
func Backups(all []store.Backup) string {
	if len(all) == 0 {
		return "No backups yet: give create system backup.\n"
	}
	var b strings.Builder
	for i, x := range all {
		fmt.Fprintf(&b, "%d)\tFileName: %s\tSize: %d KB\n", i+1, x.Name, (x.Size+1023)>>10)
		if x.Fault != "" {
			fmt.Fprintf(&b, "\tUnfit: %s\n", x.Fault)
			continue
		}
		fmt.Fprintf(&b, "\tLevel: %.16q\tCreated by: %.64q\tCreated on: %s\n\tHost: %.64q\tRelease: %.32q\tFiles: %d\n", x.Level, x.By, date(x.At.UTC()), x.Host, x.Release, len(x.Files))
		if x.Comment != "" {
			fmt.Fprintf(&b, "\tComment: %.255q\n", x.Comment)
		}
	}
	return b.String()
}
