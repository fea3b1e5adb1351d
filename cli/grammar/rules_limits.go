package grammar

import (
	"strconv"

	"sluice/vendor-config/schema"
)

// checkSpillover: what a vserver says of its backup and of when that takes over fits together.
func checkSpillover(c *schema.Config, v *schema.LBVserver) error {
	if v.Sessionless == "ENABLED" && v.SOMethod != "NONE" {
		return schema.Refuse(schema.BadArgument, "soMethod "+v.SOMethod, "sessionless ENABLED").Because("without sessions there is nothing that could spill over")
	}
	if v.Sessionless == "ENABLED" && v.BackupVServer != "" {
		return schema.Refuse(schema.NotSupported, "backupVServer", "sessionless ENABLED").Because("a sessionless vserver has no backup")
	}
	if v.Sessionless == "ENABLED" && v.NewServiceRequest != 0 {
		return schema.Refuse(schema.BadArgument, "newServiceRequest "+strconv.FormatUint(uint64(v.NewServiceRequest), 10), "sessionless ENABLED").Because("slow start counts new connections, and there are none without sessions")
	}
	if v.NewServiceRequestUnit == "PERCENT" && v.NewServiceRequest > 100 {
		return schema.Refuse(schema.OutOfRange, "newServiceRequest "+strconv.FormatUint(uint64(v.NewServiceRequest), 10), "newServiceRequestUnit PERCENT").Because("a service gets 100 percent of its share at most")
	}
	threshold := strconv.FormatUint(uint64(v.SOThreshold), 10)
	switch {
	case v.SOMethod == "NONE" && v.SOThreshold != 0:
		return schema.Refuse(schema.NoPrereq, "soThreshold", "soMethod NONE").Because("a threshold needs a soMethod; unset both together")
	case v.SOMethod == "NONE" && v.SOBackupAction != "":
		return schema.Refuse(schema.NoPrereq, "soBackupAction", "soMethod NONE").Because("an action needs a soMethod; unset both together")
	case v.SOMethod == "NONE" && v.SOPersistence == "ENABLED":
		return schema.Refuse(schema.NoPrereq, "soPersistence ENABLED", "soMethod NONE").Because("nobody is spilled over without a soMethod; unset both together")
	case v.SOMethod == "DYNAMICCONNECTION" && v.SOThreshold != 0:
		return schema.Refuse(schema.BadArgument, "soThreshold", "soMethod DYNAMICCONNECTION").Because("its threshold is the sum of the services' maxClient")
	case v.SOMethod != "NONE" && v.SOMethod != "DYNAMICCONNECTION" && v.SOThreshold == 0:
		return schema.Refuse(schema.NoPrereq, "soThreshold", "soMethod "+v.SOMethod).Because("the method needs a threshold")
	case v.SOMethod == "HEALTH" && v.SOThreshold > 100:
		return schema.Refuse(schema.OutOfRange, "soThreshold "+threshold, "soMethod HEALTH").Because("it is a percentage")
	case v.DisablePrimary == "ENABLED" && v.BackupVServer == "":
		return schema.Refuse(schema.NoPrereq, "disablePrimaryOnDown ENABLED", "backupVServer").Because("nobody would take the clients; give a backup vserver")
	}
	return checkBackup(c, v)
}

// checkBackup: a backup takes what its primary takes, and backups do not lead back.
func checkBackup(c *schema.Config, v *schema.LBVserver) error {
	for at := v; at.BackupVServer != ""; {
		next := schema.Get[schema.LBVserver](c, at.BackupVServer)
		switch {
		case at.BackupVServer == v.Name:
			return schema.Refuse(schema.BadArgument, "backupVServer", v.BackupVServer).Because("its backups lead back to lb vserver " + v.Name)
		case next == nil:
			return schema.Refuse(schema.NoSuchRow, "backupVServer", at.BackupVServer)
		case next.ServiceType != at.ServiceType:
			return schema.Refuse(schema.BadArgument, "backupVServer", next.Name).
				Because("it is of type " + next.ServiceType + " and lb vserver " + at.Name + " of type " + at.ServiceType)
		}
		at = next
	}
	return nil
}

// backupInUse: a vserver that others fall back on stays.
func backupInUse(c *schema.Config, v *schema.LBVserver) error {
	for row := range c.Each(schema.Of[schema.LBVserver]()) {
		if p := row.(*schema.LBVserver); p.BackupVServer == v.Name && p.Name != v.Name {
			return schema.Refuse(schema.RowInUse, v.Name).Because("it is the backup of lb vserver " + p.Name)
		}
	}
	return nil
}
