package store

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/mgmt/render"
	"sluice/vendor-config/schema"
)

func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// servers is a configuration of servers of these names.
func servers(names ...string) *schema.Config {
	c := schema.New()
	for _, n := range names {
		row := schema.Of[schema.Server]().Fresh().(*schema.Server)
		row.Name, row.IPAddress = n, netip.MustParseAddr("10.2.0.11")
		schema.Put(c, row)
	}
	return c
}

func names(c *schema.Config) string {
	var out []string
	for _, s := range schema.All[schema.Server](c) {
		out = append(out, s.Name)
	}
	return strings.Join(out, " ")
}

func save(t *testing.T, s *Store, names ...string) {
	t.Helper()
	if err := s.Save(servers(names...), Meta{By: "nsroot", At: time.Unix(1796000000, 0)}); err != nil {
		t.Fatal(err)
	}
}

// loaded are the servers that a fresh store finds.
func loaded(t *testing.T, s *Store) string {
	t.Helper()
	s2, err := Open(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	c, problems, err := s2.Load()
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return names(c)
}

func TestMissingFileIsAnEmptyConfiguration(t *testing.T) {
	if got := loaded(t, open(t)); got != "" {
		t.Fatalf("servers %q", got)
	}
}

func TestFileIsCanonical(t *testing.T) {
	s := open(t)
	c := servers("web1")
	vs := schema.Of[schema.LBVserver]().Fresh().(*schema.LBVserver)
	vs.Name, vs.ServiceType, vs.IPAddress, vs.Port, vs.LBMethod, vs.CltTimeout = "v1", "TCP", netip.MustParseAddr("10.1.0.50"), 80, "ROUNDROBIN", 9000
	vs.Comment = " a < b & \"c\" "
	schema.Put(c, vs)
	if err := s.Save(c, Meta{By: `x"?>`, At: time.Unix(1796000000, 0)}); err != nil {
		t.Fatal(err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<?sluice version="1" saved-by="x___" saved-at="2026-11-30T00:53:20Z"?>
<config xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">
  <sluice xmlns="urn:sluice:config">
    <server>
      <name>web1</name>
      <ip-address>10.2.0.11</ip-address>
    </server>
    <lb-vserver>
      <name>v1</name>
      <service-type>TCP</service-type>
      <ip-address>10.1.0.50</ip-address>
      <port>80</port>
      <lb-method>ROUNDROBIN</lb-method>
      <comment> a &lt; b &amp; "c" </comment>
    </lb-vserver>
  </sluice>
</config>
`
	got, err := os.ReadFile(s.Path())
	if err != nil || string(got) != want {
		t.Fatalf("%v\n%s", err, got)
	}
	if fi, _ := os.Stat(s.Path()); fi.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v: a configuration may hold secrets", fi.Mode())
	}
	u, err := s.Saved()
	if err != nil || u.Meta.By != "x___" || u.Meta.At.Unix() != 1796000000 {
		t.Fatalf("%+v %v", u, err)
	}
}

func TestEarlierVersions(t *testing.T) {
	s := open(t)
	for _, n := range strings.Split("a b c d e f g h i j k l m", " ") {
		save(t, s, n)
	}
	if got := len(s.Earlier()); got != Versions {
		t.Fatalf("%d earlier versions, want %d", got, Versions)
	}
	for i, f := range s.Earlier() {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		want := string(rune('l' - i))
		if got := names(render.ReadXML(data, render.Options{}).Config); got != want || filepath.Ext(f) != "."+string(rune('0'+i)) {
			t.Errorf("%s holds %q, want %q", filepath.Base(f), got, want)
		}
	}
	if got := loaded(t, s); got != "m" {
		t.Fatalf("the startup file holds %q", got)
	}
}

func TestSaveWithoutChangePushesNothingOut(t *testing.T) {
	s := open(t)
	save(t, s, "a")
	save(t, s, "b")
	for i := range 20 {
		if err := s.Save(servers("b"), Meta{By: "cron", At: time.Unix(int64(1796000000+i), 0)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Earlier(); len(got) != 1 {
		t.Fatalf("earlier versions %v, want the one that holds a", got)
	}
	if u, _ := s.Saved(); u.Meta.By != "cron" || u.Meta.At.Unix() != 1796000019 {
		t.Fatalf("%+v: the last save is not recorded", u.Meta)
	}
}

func TestGapInNumbersIsFilled(t *testing.T) {
	s := open(t)
	for _, n := range []string{"a", "b", "c", "d"} {
		save(t, s, n)
	}
	if err := os.Remove(s.Path() + ".1"); err != nil {
		t.Fatal(err)
	}
	save(t, s, "e")
	var got []string
	for _, f := range s.Earlier() {
		data, _ := os.ReadFile(f)
		got = append(got, names(render.ReadXML(data, render.Options{}).Config))
	}
	if strings.Join(got, " ") != "d c a" {
		t.Fatalf("earlier versions hold %v", got)
	}
}

func TestConcurrentSaveIsRefused(t *testing.T) {
	s := open(t)
	inside, leave := make(chan bool), make(chan bool)
	s.disk.syncDir = func(string) error { inside <- true; <-leave; return nil }
	done := make(chan error)
	go func() { done <- s.Save(servers("a"), Meta{}) }()
	<-inside
	if err := s.Save(servers("b"), Meta{}); !errors.Is(err, ErrBusy) {
		t.Errorf("same store: %v", err)
	}
	other, err := Open(s.dir) // as another program would
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Save(servers("c"), Meta{}); !errors.Is(err, ErrBusy) {
		t.Errorf("other store: %v", err)
	}
	close(leave)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := loaded(t, s); got != "a" {
		t.Fatalf("the startup file holds %q", got)
	}
}

func TestWhatCannotBeReadBackIsNotSaved(t *testing.T) {
	s := open(t)
	save(t, s, "a")
	rows := []struct {
		row  *schema.Server
		want string
	}{
		{&schema.Server{Name: "b", IPAddress: netip.MustParseAddr("10.0.0.1"), DomainResolveRetry: 5, State: "ENABLED", Comment: "bell \a"}, "server b: Invalid value [comment"},
		{&schema.Server{Name: "b", IPAddress: netip.MustParseAddr("10.0.0.1"), DomainResolveRetry: 5, State: "ENABLED", Comment: "\xff"}, "server b: "},
		{&schema.Server{Name: "b", IPAddress: netip.MustParseAddr("10.0.0.1"), DomainResolveRetry: 5, State: "SLEEPY"}, "server b: Invalid value [state, SLEEPY]"},
		{&schema.Server{Name: "b", IPAddress: netip.MustParseAddr("fe80::1"), DomainResolveRetry: 5, State: "ENABLED"}, "server b: Invalid IP address [IPAddress, fe80::1]"},
	}
	for _, x := range rows {
		c := servers("a")
		schema.Put(c, x.row)
		if err := s.Save(c, Meta{}); err == nil || !strings.Contains(err.Error(), x.want) || !strings.Contains(err.Error(), "is unchanged") {
			t.Errorf("%+v: %v", x.row, err)
		}
	}
	if got := loaded(t, s); got != "a" {
		t.Fatalf("the startup file holds %q", got)
	}
}
