package expiry

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/tests/programs"
	"sluice/vendor-config/schema"
)

// certs is a configuration with certificates, and the folder of their files. The certificate ends in an hour.
func certs(t *testing.T) (*schema.Config, string) {
	t.Helper()
	dir := t.TempDir()
	programs.Certificate(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "nonsense"), []byte("-----BEGIN nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	c := schema.New()
	for name, file := range map[string]string{"web": "/nsconfig/ssl/cert.pem", "quiet": "cert.pem", "bad": "nonsense", "gone": "../x", "out": "out", "key": "key.pem", "dir": "."} {
		k := &schema.SSLCertKey{CertkeyName: name, Cert: file, Inform: "PEM"}
		if name == "quiet" {
			k.ExpiryMonitor = "DISABLED"
		}
		schema.Put(c, k)
	}
	schema.Put(c, &schema.AuditSyslogAction{Name: "logs", CACertFile: "cert.pem", Transport: "TLS"})
	return c, dir
}

func TestCertificates(t *testing.T) {
	c, dir := certs(t)
	found := map[string]Item{}
	for _, i := range Certificates(c, dir) {
		found[i.Name] = i
	}
	for name, problem := range map[string]string{"web": "", "quiet": "", "logs": "", "bad": "the file holds no certificate in PEM or DER form",
		"key": "the file holds no certificate in PEM or DER form", "gone": "it is no plain file of the folder ssl", "out": "it is no plain file of the folder ssl", "dir": "it is no plain file of the folder ssl"} {
		i := found[name]
		if left := time.Until(i.At); i.Problem != problem || problem == "" && (left < 50*time.Minute || left > time.Hour) {
			t.Errorf("%s: %+v, want %q", name, i, problem)
		}
	}
	if found["quiet"].Notice != 0 || found["web"].Notice != notice || found["logs"].Kind != "authority" {
		t.Errorf("%+v", found)
	}
}

// TestAlarms: one when the end comes near, one a day, another when it has come, none for what is not watched.
func TestAlarms(t *testing.T) {
	c, dir := certs(t)
	all := Certificates(c, dir)
	var log bytes.Buffer
	a := &Alarms{Log: slog.New(slog.NewTextHandler(&log, nil))}
	now := time.Now()
	for _, row := range []struct {
		after time.Duration
		want  string // of each line
		lines int
	}{
		{-40 * 24 * time.Hour, "", 0},
		{-20 * 24 * time.Hour, "ends soon: renew it", 2},
		{-20*24*time.Hour + 23*time.Hour, "", 0},
		{-19 * 24 * time.Hour, "days=19", 2},
		{0, "days=0", 2},
		{2 * time.Hour, "has ended: renew it", 2},
		{3 * time.Hour, "", 0},
	} {
		log.Reset()
		a.Raise(all, now.Add(row.after))
		if got := log.String(); strings.Count(got, "\n") != row.lines || strings.Count(got, row.want) < row.lines || strings.Contains(got, "quiet") {
			t.Errorf("after %v:\n%swant %d of %q", row.after, got, row.lines, row.want)
		}
	}
}
