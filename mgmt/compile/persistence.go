package compile

import (
	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// persistences are the types of persistence by the operator's words.
var persistences = map[string]api.Persistence{
	"SOURCEIP": api.PersistSourceIP, "DESTIP": api.PersistDestinationIP, "SRCIPDESTIP": api.PersistSourceDestinationIP,
}

// persistence compiles how a vserver knows its clients again.
func persistence(v *schema.LBVserver, t *api.Vserver) {
	if t.Persistence = persistences[v.PersistenceType]; t.Persistence == 0 {
		return
	}
	t.PersistMask, t.PersistSeconds = mask(v.PersistMask), v.Timeout*60
	t.PersistLeaving = v.TrofsPersistence != "DISABLED"
	if t.PersistBackup = persistences[v.PersistBackup]; t.PersistBackup != 0 {
		t.PersistBackupSeconds = v.BackupTimeout * 60
	}
}
