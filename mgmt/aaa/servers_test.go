package aaa

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/tests/programs"
	"sluice/vendor-config/schema"
)

// until waits until it is so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 30 s", what)
		}
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.ReplaceAll(text, "DIR", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const slapdConf = `include /etc/ldap/schema/core.schema
pidfile DIR/pid
modulepath /usr/lib/ldap
moduleload back_mdb
TLSCertificateFile DIR/cert.pem
TLSCertificateKeyFile DIR/key.pem
database mdb
maxsize 1048576
suffix "dc=example,dc=com"
rootdn "cn=reader,dc=example,dc=com"
rootpw reader-secret
directory DIR
access to attrs=userPassword by anonymous auth
access to * by * read
`

// The attribute that names groups in a directory of this size is seeAlso, which is of the same form as memberOf.
const people = `dn: dc=example,dc=com
objectClass: organization
objectClass: dcObject
o: example
dc: example

dn: cn=Alice,dc=example,dc=com
objectClass: person
objectClass: uidObject
cn: Alice
sn: A
uid: alice
userPassword: alice-secret
seeAlso: cn=net-admins,dc=example,dc=com
seeAlso: cn=others,ou=x,dc=example,dc=com

dn: cn=Twin 1,dc=example,dc=com
objectClass: person
objectClass: uidObject
cn: Twin 1
sn: T
uid: twin
userPassword: twin-secret

dn: cn=Twin 2,dc=example,dc=com
objectClass: person
objectClass: uidObject
cn: Twin 2
sn: T
uid: twin
userPassword: twin-secret
`

// slapd starts a directory; the ports are those of LDAP and LDAPS.
func slapd(t *testing.T) (plain, secure int, end func()) {
	t.Helper()
	dir := t.TempDir()
	programs.Certificate(t, dir)
	write(t, dir, map[string]string{"slapd.conf": slapdConf, "people.ldif": people})
	if out, err := exec.Command("slapadd", "-f", dir+"/slapd.conf", "-l", dir+"/people.ldif").CombinedOutput(); err != nil {
		t.Fatalf("slapadd: %v: %s", err, out)
	}
	plain, secure = programs.FreePort(t, "tcp"), programs.FreePort(t, "tcp")
	end = programs.Start(t, "slapd", "-f", dir+"/slapd.conf", "-d", "0", "-h", fmt.Sprintf("ldap://127.0.0.1:%d ldaps://127.0.0.1:%d", plain, secure))
	until(t, "slapd", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", secure))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return plain, secure, end
}

func TestSlapdLogins(t *testing.T) {
	plain, secure, _ := slapd(t)
	server := func(change func(*schema.LDAPAction)) *ldapServer {
		l := schema.Of[schema.LDAPAction]().Fresh().(*schema.LDAPAction)
		for field, value := range map[string]string{"name": "dir", "serverIP": "127.0.0.1", "serverPort": fmt.Sprint(plain), "ldapBase": "dc=example,dc=com",
			"groupAttrName": "seeAlso", "authTimeout": "20"} {
			if err := schema.Of[schema.LDAPAction]().Field(field).Set(reflectOf(l), value); err != nil {
				t.Fatal(err)
			}
		}
		change(l)
		return &ldapServer{l}
	}
	for name, x := range map[string]struct {
		change      func(*schema.LDAPAction)
		user, plain string
		groups      string
		fault       string // "": accepted; "no": refused; else part of the error
	}{
		"anonymous search":   {func(*schema.LDAPAction) {}, "alice", "alice-secret", "net-admins others", ""},
		"search with a name": {func(l *schema.LDAPAction) { l.BindDN, l.BindPassword = "cn=reader,dc=example,dc=com", "reader-secret" }, "alice", "alice-secret", "net-admins others", ""},
		"default group":      {func(l *schema.LDAPAction) { l.DefaultGroup = "all" }, "alice", "alice-secret", "all net-admins others", ""},
		"filter that holds":  {func(l *schema.LDAPAction) { l.SearchFilter = "seeAlso=cn=net-admins,dc=example,dc=com" }, "alice", "alice-secret", "net-admins others", ""},
		"filter of several":  {func(l *schema.LDAPAction) { l.SearchFilter = "(sn=A)(cn=Alice)" }, "alice", "alice-secret", "net-admins others", ""},
		"filter with and":    {func(l *schema.LDAPAction) { l.SearchFilter = "&(sn=A)(cn=Alice)" }, "alice", "alice-secret", "net-admins others", ""},
		"filter against":     {func(l *schema.LDAPAction) { l.SearchFilter = "sn=B" }, "alice", "alice-secret", "", "no"},
		"filter of nonsense": {func(l *schema.LDAPAction) { l.SearchFilter = "((" }, "alice", "alice-secret", "", "the search"},
		"wrong password":     {func(*schema.LDAPAction) {}, "alice", "bob-secret", "", "no"},
		"no password":        {func(*schema.LDAPAction) {}, "alice", "", "", "no"}, // an unauthenticated bind would succeed
		"unknown":            {func(*schema.LDAPAction) {}, "nobody", "alice-secret", "", "no"},
		"star":               {func(*schema.LDAPAction) {}, "*", "alice-secret", "", "no"},
		"injection":          {func(*schema.LDAPAction) {}, "x)(|(uid=alice)", "alice-secret", "", "no"},
		"two of one name":    {func(*schema.LDAPAction) {}, "twin", "twin-secret", "", "no"},
		"wrong base":         {func(l *schema.LDAPAction) { l.Base = "dc=example,dc=org" }, "alice", "alice-secret", "", "the directory has no entry"},
		"reader's password":  {func(l *schema.LDAPAction) { l.BindDN, l.BindPassword = "cn=reader,dc=example,dc=com", "x" }, "alice", "alice-secret", "", "the bind of ldapBindDn"},
		"STARTTLS":           {func(l *schema.LDAPAction) { l.SecType = "TLS" }, "alice", "alice-secret", "net-admins others", ""},
		"LDAPS":              {func(l *schema.LDAPAction) { l.SecType, l.ServerPort = "SSL", uint16(secure) }, "alice", "alice-secret", "net-admins others", ""},
		"unknown authority":  {func(l *schema.LDAPAction) { l.SecType, l.ServerPort, l.ValidateCert = "SSL", uint16(secure), "YES" }, "alice", "alice-secret", "", "TLS: "},
		"and with STARTTLS":  {func(l *schema.LDAPAction) { l.SecType, l.ValidateCert = "TLS", "YES" }, "alice", "alice-secret", "", "STARTTLS: "},
		"TLS where none is":  {func(l *schema.LDAPAction) { l.SecType = "SSL" }, "alice", "alice-secret", "", "TLS: "},
		"plain where TLS is": {func(l *schema.LDAPAction) { l.ServerPort, l.AuthTimeout = uint16(secure), 2 }, "alice", "alice-secret", "", "the bind"},
	} {
		groups, err := server(x.change).login(t.Context(), x.user, x.plain)
		judge(t, name, groups, err, x.groups, x.fault)
	}
}

func judge(t *testing.T, name string, groups []string, err error, want, fault string) {
	t.Helper()
	slices.Sort(groups)
	refused := err != nil && strings.Contains(fmt.Sprintf("%v", err), errRejected.Error())
	switch {
	case fault == "" && (err != nil || strings.Join(groups, " ") != want):
		t.Errorf("%s: %v %v, want %s", name, groups, err, want)
	case fault == "no" && !refused, fault != "" && err == nil:
		t.Errorf("%s: %v %v, want a refusal", name, groups, err)
	case fault != "" && fault != "no" && (refused || !strings.Contains(err.Error(), fault)):
		t.Errorf("%s: %v, want %s", name, err, fault)
	}
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("%s: the error holds a secret: %v", name, err)
	}
}

const radiusConf = `prefix = /usr
libdir = /usr/lib/freeradius
logdir = DIR
run_dir = DIR
pidfile = DIR/pid
security {
  allow_core_dumps = no
  user = root
  group = root
}
client any {
  ipaddr = 127.0.0.1
  secret = lab-key
  require_message_authenticator = yes
}
thread pool {
  start_servers = 1
  max_servers = 2
  min_spare_servers = 1
  max_spare_servers = 2
}
modules {
  pap {
  }
  files {
    filename = DIR/users
  }
}
server default {
  listen {
    type = auth
    ipaddr = 127.0.0.1
    port = PORT
  }
  authorize {
    files
    pap
  }
  authenticate {
    Auth-Type PAP {
      pap
    }
  }
  post-auth {
    Post-Auth-Type REJECT {
      update reply {
        Message-Authenticator := 0x00
      }
    }
  }
}
`

// The server signs its answers where it is told to; the answer to old is that of a server that does not know how. The second line of groups is an attribute of a vendor, Cisco-AVPair.
const users = `alice Cleartext-Password := "alice-secret"
  Message-Authenticator = 0x00,
  Class = "groups=net-admins; others",
  Cisco-AVPair = "groups=cisco-admins"

long Cleartext-Password := "PASSWORD"
  Message-Authenticator = 0x00

old Cleartext-Password := "old-secret"
`

func freeradius(t *testing.T) (port int, end func()) {
	t.Helper()
	dir := t.TempDir()
	port = programs.FreePort(t, "udp")
	write(t, dir, map[string]string{"radiusd.conf": strings.ReplaceAll(radiusConf, "PORT", fmt.Sprint(port)), "users": strings.ReplaceAll(users, "PASSWORD", strings.Repeat("p", 100))})
	end = programs.Start(t, "freeradius", "-f", "-l", "stdout", "-d", dir, "-D", "/usr/share/freeradius")
	r := &radiusServer{radiusAt(t, port)}
	r.Retries, r.AuthTimeout = 1, 1
	until(t, "freeradius", func() bool { _, err := r.login(t.Context(), "alice", "alice-secret"); return err == nil })
	return port, end
}

func radiusAt(t *testing.T, port int) *schema.RadiusAction {
	r := schema.Of[schema.RadiusAction]().Fresh().(*schema.RadiusAction)
	for field, value := range map[string]string{"name": "rad", "serverIP": "127.0.0.1", "serverPort": fmt.Sprint(port), "radKey": "lab-key"} {
		if err := schema.Of[schema.RadiusAction]().Field(field).Set(reflectOf(r), value); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestFreeradiusLogins(t *testing.T) {
	port, _ := freeradius(t)
	for name, x := range map[string]struct {
		change        func(*schema.RadiusAction)
		user, plain   string
		groups, fault string
	}{
		"no groups":       {func(*schema.RadiusAction) {}, "alice", "alice-secret", "", ""},
		"Class":           {func(r *schema.RadiusAction) { r.RadAttribute, r.RadGroupPrefix = 25, "groups=" }, "alice", "alice-secret", "net-admins others", ""},
		"of a vendor":     {func(r *schema.RadiusAction) { r.RadVendorID, r.RadAttribute, r.RadGroupPrefix = 9, 1, "groups=" }, "alice", "alice-secret", "cisco-admins", ""},
		"another vendor":  {func(r *schema.RadiusAction) { r.RadVendorID, r.RadAttribute = 10, 1 }, "alice", "alice-secret", "", ""},
		"another prefix":  {func(r *schema.RadiusAction) { r.RadAttribute, r.RadGroupPrefix = 25, "group=" }, "alice", "alice-secret", "", ""},
		"default group":   {func(r *schema.RadiusAction) { r.DefaultGroup, r.RadNASIP, r.RadNASID = "all", "ENABLED", "adc" }, "alice", "alice-secret", "all", ""},
		"seven blocks":    {func(*schema.RadiusAction) {}, "long", strings.Repeat("p", 100), "", ""},
		"wrong password":  {func(*schema.RadiusAction) {}, "alice", "bob-secret", "", "no"},
		"endless":         {func(*schema.RadiusAction) {}, "alice", strings.Repeat("p", 129), "", "no"},
		"older server":    {func(r *schema.RadiusAction) { r.AuthTimeout, r.Retries = 1, 1 }, "old", "old-secret", "", "messageAuthenticator OFF"},
		"and taken so":    {func(r *schema.RadiusAction) { r.MessageAuth = "OFF" }, "old", "old-secret", "", ""},
		"signed and OFF":  {func(r *schema.RadiusAction) { r.MessageAuth = "OFF" }, "alice", "alice-secret", "", ""},
		"unknown":         {func(*schema.RadiusAction) {}, "nobody", "alice-secret", "", "no"},
		"wrong key":       {func(r *schema.RadiusAction) { r.RadKey, r.AuthTimeout, r.Retries = "other", 1, 1 }, "alice", "alice-secret", "", "answer"},
		"nobody is there": {func(r *schema.RadiusAction) { r.ServerPort, r.Retries = 1, 2 }, "alice", "alice-secret", "", "no answer"},
	} {
		r := radiusAt(t, port)
		x.change(r)
		groups, err := (&radiusServer{r}).login(t.Context(), x.user, x.plain)
		judge(t, name, groups, err, x.groups, x.fault)
	}
}

// TestFreeradiusForged: answers that do not prove to know the key are as good as none, whatever they say.
func TestFreeradiusForged(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() {
		b := make([]byte, 4096)
		for n := 0; ; n++ {
			size, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			for _, answer := range [][]byte{nil, {2}, append([]byte{2, b[1], 0, 20}, make([]byte, 16)...), append([]byte{2, b[1], 0, 38}, b[4:38]...), append([]byte{2}, b[1:size]...)} {
				c.WriteTo(answer, from)
			}
		}
	}()
	r := radiusAt(t, c.LocalAddr().(*net.UDPAddr).Port)
	r.AuthTimeout, r.Retries = 1, 2
	if groups, err := (&radiusServer{r}).login(t.Context(), "alice", "alice-secret"); err == nil || !strings.Contains(err.Error(), "radKey") {
		t.Errorf("%v %v", groups, err)
	}
}

// TestServersAndFallback: servers are asked in their order, and what is configured here counts when none answers.
func TestServersAndFallback(t *testing.T) {
	port, endRadius := freeradius(t)
	plain, _, endSlapd := slapd(t)
	a, run := configured(t, "add system user alice here", "add system user local only -externalAuth DISABLED", "add system user norma here",
		"add system group net-admins", "bind system group net-admins -policyName network 1",
		fmt.Sprintf("add authentication radiusAction rad -serverIP 127.0.0.1 -serverPort %d -radKey lab-key -authTimeout 1 -authServRetry 1", port),
		fmt.Sprintf(`add authentication ldapAction dir -serverIP 127.0.0.1 -serverPort %d -ldapBase "dc=example,dc=com" -groupAttrName seeAlso`, plain),
		"add authentication radiusPolicy rp ns_true rad", "add authentication Policy lp -rule true -action dir",
		"bind system global rp -priority 20", "bind system global lp -priority 10")
	var log bytes.Buffer
	a.log = slog.New(slog.NewTextHandler(&log, nil))
	login := func(user, plain, want string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		p, ok := a.Password(ctx, user, plain)
		got := "refused"
		if ok {
			got = fmt.Sprintf("remote=%t %v", p.Remote, p.Groups)
		}
		if got != want {
			t.Errorf("%s %s: %s, want %s\n%s", user, plain, got, want, &log)
		}
	}
	login("alice", "alice-secret", "remote=true [net-admins others]") // the directory comes first
	login("long", strings.Repeat("p", 100), "remote=true []")         // whom only the second knows
	login("alice", "here", "remote=false []")                         // localAuth is ENABLED
	login("local", "only", "remote=false []")
	login("nsroot", "root", "remote=false []") // never asked for elsewhere
	login("alice", "wrong", "refused")
	if err := run("set system parameter -localAuth DISABLED"); err != nil {
		t.Fatal(err)
	}
	login("alice", "here", "refused")
	login("norma", "here", "refused")
	login("local", "only", "remote=false []")
	endSlapd()
	login("alice", "alice-secret", "remote=true []") // RADIUS tells no groups
	login("alice", "here", "refused")                // one server has answered
	endRadius()
	login("alice", "alice-secret", "refused")
	login("alice", "here", "remote=false []") // none has
	login("alice", "wrong", "refused")
	if text := log.String(); strings.Contains(text, "secret") || strings.Contains(text, "here") || !strings.Contains(text, `server=rad`) {
		t.Errorf("log: %s", text)
	}
}

// FuzzRadiusAnswer: nothing that comes from the network is trusted, and nothing of it is taken without the key.
func FuzzRadiusAnswer(f *testing.F) {
	r := &radiusServer{&schema.RadiusAction{RadKey: "k", RadAttribute: 25, RadGroupSep: ";"}}
	request := r.request("u", "p", &net.UDPAddr{})
	f.Add([]byte{2, request[1], 0, 20, 20: 0}, uint8(2))
	f.Add(request, uint8(11))
	f.Fuzz(func(t *testing.T, b []byte, code uint8) {
		if r.proved(b, request) == nil {
			t.Fatalf("%x is taken for an answer", b)
		}
		if len(b) >= 20 {
			r.read(append([]byte{code}, b[1:]...))
		}
	})
}
