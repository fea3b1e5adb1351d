// Package expiry finds what ends and must be renewed before: the certificates of files that the configuration names, and passwords.
package expiry

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strings"
	"time"

	"sluice/mgmt/store"
	"sluice/mgmt/telemetry"
	"sluice/vendor-config/schema"
)

const (
	notice  = 30 * 24 * time.Hour // before the end, where the configuration does not say otherwise
	largest = 1 << 20             // bytes of a file of certificates
	remind  = 24 * time.Hour      // between two alarms about the same thing
)

// Item is one thing that ends.
type Item struct {
	Kind, Name string        // "certificate" of an ssl certKey, "authority" of an audit syslogAction, "password" of a system user
	File       string        // of a certificate
	At         time.Time     // when it ends; zero: Problem says why it is not known
	Notice     time.Duration // how long before an alarm is raised; 0: never
	Problem    string
}

// Certificates are those of a configuration, whose files lie below the folder.
func Certificates(c *schema.Config, folder string) (all []Item) {
	root, err := os.OpenRoot(folder)
	if err == nil {
		defer root.Close()
	}
	look := func(i Item, last bool) {
		switch {
		case err == nil:
			i.At, i.Problem = ends(root, i.File, last)
		default:
			i.Problem = "there is no folder of certificates"
		}
		all = append(all, i)
	}
	for _, k := range schema.All[schema.SSLCertKey](c) {
		i := Item{Kind: "certificate", Name: k.CertkeyName, File: k.Cert, Notice: notice}
		if k.NotificationPeriod != 0 {
			i.Notice = time.Duration(k.NotificationPeriod) * 24 * time.Hour
		}
		if k.ExpiryMonitor == "DISABLED" {
			i.Notice = 0
		}
		look(i, false)
	}
	for _, a := range schema.All[schema.AuditSyslogAction](c) {
		if a.CACertFile != "" {
			look(Item{Kind: "authority", Name: a.Name, File: a.CACertFile, Notice: notice}, true)
		}
	}
	return all
}

// Passwords are those of a configuration that expire.
func Passwords(c *schema.Config) (all []Item) {
	p := schema.Single[schema.SystemParameter](c)
	for _, u := range schema.All[schema.SystemUser](c) {
		if at := u.PasswordEnds(p); !at.IsZero() {
			all = append(all, Item{Kind: "password", Name: u.Name, At: at, Notice: time.Duration(p.WarnPriorNDays) * 24 * time.Hour})
		}
	}
	return all
}

// ends is when the first of the certificates of a file ends, or the last: of authorities one is enough.
func ends(root *os.Root, file string, last bool) (at time.Time, problem string) {
	name := strings.TrimPrefix(file, "/")
	for _, p := range []string{"nsconfig/ssl/", "config/ssl/", "ssl/"} { // as devices and operators write it
		name = strings.TrimPrefix(name, p)
	}
	text, err := read(root, path.Clean(name))
	if err != nil {
		return at, err.Error()
	}
	all, err := certificates(text)
	if err != nil || len(all) == 0 {
		return at, "the file holds no certificate in PEM or DER form"
	}
	at = all[0].NotAfter
	for _, c := range all[1:] {
		if c.NotAfter.Before(at) != last {
			at = c.NotAfter
		}
	}
	return at, ""
}

func read(root *os.Root, name string) ([]byte, error) {
	text, err := store.ReadPlain(root, name, largest)
	switch {
	case err == nil:
		return text, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("the file is not in the folder ssl")
	case errors.Is(err, store.ErrTooLarge):
		return nil, fmt.Errorf("the file has more than %d bytes", largest)
	case errors.Is(err, fs.ErrPermission):
		return nil, errors.New("the file cannot be read")
	}
	return nil, errors.New("it is no plain file of the folder ssl")
}

// certificates are those of a file in PEM or DER form.
func certificates(text []byte) (all []*x509.Certificate, err error) {
	if !strings.Contains(string(text), "-----BEGIN") {
		return x509.ParseCertificates(text)
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// Alarms raises an alarm for what ends soon or has ended, and once a day again.
type Alarms struct {
	Log  *slog.Logger
	told map[string]told
}

// told is what was last said of a thing.
type told struct {
	ends  time.Time
	ended bool
	at    time.Time
}

// Raise looks at everything that ends.
func (a *Alarms) Raise(all []Item, now time.Time) {
	next := map[string]told{}
	for _, i := range all {
		ended := !i.At.After(now)
		if i.At.IsZero() || i.Notice == 0 || now.Add(i.Notice).Before(i.At) {
			continue
		}
		key := i.Kind + " " + i.Name
		was, known := a.told[key]
		if known && was.ends.Equal(i.At) && was.ended == ended && now.Sub(was.at) < remind {
			next[key] = was
			continue
		}
		next[key] = told{i.At, ended, now}
		level, what := slog.LevelWarn, i.Kind+" ends soon: renew it"
		if ended {
			level, what = telemetry.LevelCritical, i.Kind+" has ended: renew it"
		}
		about := []any{"name", i.Name}
		if i.File != "" {
			about = append(about, "file", i.File)
		}
		a.Log.With(about...).Log(context.Background(), level, what, "ends", i.At.UTC().Format(time.RFC3339), "days", Days(i.At, now))
	}
	a.told = next
}

// Days are the whole days until a time; negative once it is over.
func Days(at, now time.Time) int {
	d := at.Sub(now)
	if d < 0 {
		return -int((-d + 24*time.Hour - 1) / (24 * time.Hour))
	}
	return int(d / (24 * time.Hour))
}
