package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/expiry"
	"sluice/tests/programs"
)

// TestOperatorsHearOfCertificates: the file of a pair is in the folder, and ends in an hour; another is missing; then it is over.
func TestOperatorsHearOfCertificates(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, sslDir), 0o700); err != nil {
		t.Fatal(err)
	}
	programs.Certificate(t, filepath.Join(dir, sslDir))
	d := newDesk(t, dir)
	d.do("add ssl certKey web -cert cert.pem -key key.pem")
	d.do("add ssl certKey gone -cert gone.pem")
	for name, want := range map[string]string{"web": "Status: Valid,   Days to expiration: 0 (", "gone": "Status: unknown: the file is not in the folder ssl"} {
		if out := d.do("show ssl certKey " + name); !strings.Contains(out, want) {
			t.Errorf("%s: want %q in\n%s", name, want, out)
		}
	}
	if all := d.o.expiryMetrics(d.o.Config()); len(all) != 1 || all[0].Name != "web" || time.Until(all[0].At) > time.Hour {
		t.Errorf("metrics: %+v", all)
	}
	d.o.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if out := d.do("show ssl certKey web"); !strings.Contains(out, "Status: Expired, since ") {
		t.Error(out)
	}
	(&expiry.Alarms{Log: d.o.log}).Raise(d.o.expiries(d.o.Config()), d.o.now())
	if !strings.Contains(d.log.String(), `certificate has ended: renew it" name=web file=cert.pem`) {
		t.Errorf("the log says\n%s", d.log)
	}
}
