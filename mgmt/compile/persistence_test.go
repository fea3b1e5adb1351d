package compile

import (
	"testing"

	"sluice/dataplane/api"
	"sluice/vendor-config/schema"
)

// TestPersistence: the operator's words reach the dataplane, minutes as seconds; without persistence its other words mean nothing.
func TestPersistence(t *testing.T) {
	type want struct {
		kind, backup         api.Persistence
		mask, after, backups uint32
	}
	for text, w := range map[string]want{
		"":                                      {},
		"-timeout 5 -persistMask 255.0.0.0":     {},
		"-persistenceType SOURCEIP":             {kind: api.PersistSourceIP, mask: 0xffffffff, after: 120},
		"-persistenceType DESTIP -timeout 1440": {kind: api.PersistDestinationIP, mask: 0xffffffff, after: 86400},
		"-persistenceType SOURCEIP -persistMask 255.255.255.0 -timeout 1": {kind: api.PersistSourceIP, mask: 0xffffff00, after: 60},
		"-persistenceType SRCIPDESTIP -persistenceBackup SOURCEIP -backupPersistenceTimeout 7": {
			kind: api.PersistSourceDestinationIP, backup: api.PersistSourceIP, mask: 0xffffffff, after: 120, backups: 420},
	} {
		c := configure(t, "add lb vserver v TCP 10.1.0.50 80 "+text)
		tab, err := Tables(c, site(c))
		if err != nil {
			t.Fatal(err)
		}
		v := tab.Config.Vservers[0]
		if got := (want{v.Persistence, v.PersistBackup, v.PersistMask, v.PersistSeconds, v.PersistBackupSeconds}); got != w {
			t.Errorf("%q: %+v, want %+v", text, got, w)
		}
	}
	for _, word := range schema.Of[schema.LBVserver]().Field("persistenceType").Enum {
		if word != "NONE" && persistences[word] == 0 {
			t.Errorf("the type %s is offered and not compiled", word)
		}
	}
}
