package firstboot

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"sluice/image/record"
	"sluice/tests/logins"
	"sluice/vendor-config/password"
)

func cidr(s string) netip.Prefix { return netip.MustParsePrefix(s) }
func ip(s string) netip.Addr     { return netip.MustParseAddr(s) }

// seed is a file of testdata with a key that was made for this run in it.
func seed(t testing.TB, name, key string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(text, []byte("SSHKEY"), []byte(key))
}

func publicKey(t testing.TB) string {
	_, line, _ := logins.Key(t)
	return strings.TrimSpace(line)
}

// same compares answers; hashes of passwords differ each time and are no part of it.
func same(t *testing.T, what string, got, want *Answers) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n%+v\nwant\n%+v", what, got, want)
	}
}

func TestNoCloud(t *testing.T) {
	key := publicKey(t)
	got := NoCloud(Files{UserData: seed(t, "user-data", key), MetaData: seed(t, "meta-data", key), NetworkConfig: seed(t, "network-config-v2", key)})
	want := &Answers{Source: "NoCloud", Instance: "iid-adc1", Hostname: "adc1.example.com", Management: "52:54:00:00:00:01",
		Address: cidr("10.9.1.5/24"), Gateway: ip("10.9.1.1"), DNS: []netip.Addr{ip("10.9.1.2")}, NTP: []string{"ntp.example.com"},
		Password: "Corr3ct horse", Keys: []string{key},
		Commands: []string{"add server web1 10.2.0.11", "add lb vserver v1 HTTP 10.1.0.100 80"},
		Problems: []string{`user-data, line 18: "runcmd" is not understood, and nothing of it is done`}}
	same(t, "NoCloud", got, want)
	if text, want := got.Configuration(), "# First boot: NoCloud.\nset ns config -IPAddress 10.9.1.5 -netmask 255.255.255.0\nset ns hostName adc1.example.com\n"+
		"add route 0.0.0.0 0.0.0.0 10.9.1.1\nadd dns nameServer 10.9.1.2\nadd ntp server ntp.example.com\nenable ntp sync\nadd server web1 10.2.0.11\nadd lb vserver v1 HTTP 10.1.0.100 80\n"; text != want {
		t.Errorf("ns.conf\n%s\nwant\n%s", text, want)
	}
}

func TestNetworkConfigVersion1(t *testing.T) {
	got := NoCloud(Files{NetworkConfig: seed(t, "network-config-v1", "")})
	same(t, "version 1", got, &Answers{Source: "NoCloud", Management: "52:54:00:00:00:01", Address: cidr("10.9.1.5/24"), Gateway: ip("10.9.1.1"),
		DNS:      []netip.Addr{ip("10.9.1.2"), ip("10.9.1.3")},
		Problems: []string{"network-config, line 3: config: the first card is the management card; others carry data, and their addresses are given by commands (add ns ip)"}})
}

func TestNetScaler(t *testing.T) {
	got := NetScaler(seed(t, "userdata", ""))
	want := &Answers{Source: "NetScaler userdata", Address: cidr("10.102.38.216/24"), Password: "S3cret word!",
		Commands: []string{`set system parameter -promptString "%u@%s"`, "add route 0.0.0.0 0.0.0.0 10.102.38.1", `add responder policy p "HTTP.REQ.URL.LENGTH.LT(3) && CLIENT.IP.SRC.IN_SUBNET(10.0.0.0/8)" DROP`, "save ns config"},
		Problems: []string{`NS-PRE-BOOT-CONFIG: the element "NS-SCRIPTS" is not understood, and nothing of it is done`}}
	same(t, "userdata", got, want)
	text := got.Configuration()
	if strings.Count(text, "add route") != 1 || strings.Contains(text, "save") || !strings.Contains(text, "set ns config -IPAddress 10.102.38.216 -netmask 255.255.255.0\n") || strings.Contains(text, "S3cret") {
		t.Errorf("ns.conf\n%s", text)
	}
}

func TestOVF(t *testing.T) {
	key := publicKey(t)
	got := OVF(bytes.ReplaceAll(seed(t, "ovf-env.xml", key), []byte("USERDATA"), []byte(base64.StdEncoding.EncodeToString([]byte("#sluice\nadd server a 10.0.0.9\n")))))
	same(t, "OVF", got, &Answers{Source: "OVF environment", Hostname: "adc2", Address: cidr("192.0.2.10/24"), Gateway: ip("192.0.2.1"), DNS: []netip.Addr{ip("192.0.2.2"), ip("192.0.2.3")},
		Password: "a < b", Keys: []string{key}, Commands: []string{"add server a 10.0.0.9"}, Problems: []string{`OVF environment: "sluice.colour" is not understood, and nothing of it is done`}})
}

// structure builds a structure of type 11.
func structure(all ...string) []byte {
	out := []byte{11, 5, 0, 1, byte(len(all))}
	for _, s := range all {
		out = append(append(out, s...), 0)
	}
	return append(out, 0)
}

func TestSMBIOS(t *testing.T) {
	got := SMBIOS(structure("vendor string", "org.sluice.hostname=adc3", "org.sluice.user-data="+base64.StdEncoding.EncodeToString([]byte("#cloud-config\npassword: long enough\n"))),
		structure("org.sluice.ip=192.0.2.9/25"))
	same(t, "SMBIOS", got, &Answers{Source: "SMBIOS strings", Hostname: "adc3", Password: "long enough", Address: cidr("192.0.2.9/25")})
	if got := SMBIOS(structure("somebody else's")); !got.Empty() {
		t.Errorf("%+v", got)
	}
	if got := SMBIOS(structure("a")[:6]); len(got.Problems) != 1 {
		t.Errorf("a damaged structure: %q", got.Problems)
	}
}

func TestEC2(t *testing.T) {
	key := publicKey(t)
	got := Metadata(EC2{InstanceID: "i-0abc", Hostname: "ip-10-0-0-5.ec2.internal", PublicKeys: []string{key}, UserData: []byte("<NS-PRE-BOOT-CONFIG><NS-CONFIG>add server a 10.0.0.1</NS-CONFIG></NS-PRE-BOOT-CONFIG>")})
	same(t, "EC2", got, &Answers{Source: "EC2 metadata", Instance: "i-0abc", Hostname: "ip-10-0-0-5.ec2.internal", Keys: []string{key}, Commands: []string{"add server a 10.0.0.1"}})
}

// TestWrappedUserData: compressed, in parts, and both.
func TestWrappedUserData(t *testing.T) {
	parts := strings.ReplaceAll("Content-Type: multipart/mixed; boundary=\"x\"\nMIME-Version: 1.0\n\n--x\nContent-Type: text/cloud-config\n\n#cloud-config\nhostname: adc4\n--x\n"+
		"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n"+base64.StdEncoding.EncodeToString([]byte("#sluice\nadd server a 10.0.0.1\n"))+"\n--x\nContent-Type: text/x-shellscript\n\n#!/bin/sh\nid\n--x--\n", "\n", "\r\n")
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	fmt.Fprint(w, parts)
	w.Close()
	for name, text := range map[string][]byte{"parts": []byte(parts), "compressed": z.Bytes()} {
		got := NoCloud(Files{UserData: text})
		if got.Hostname != "adc4" || !slices.Equal(got.Commands, []string{"add server a 10.0.0.1"}) || len(got.Problems) != 1 || !strings.Contains(got.Problems[0], "scripts") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestWrongUserData: what is wrong is said, what is right is taken, and no value of a secret is in a sentence.
func TestWrongUserData(t *testing.T) {
	deep := []byte("#cloud-config\nhostname: a\n")
	for range deepest + 1 {
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		_, _ = w.Write(deep)
		w.Close()
		deep = z.Bytes()
	}
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, _ = w.Write(append([]byte("#sluice\n"), make([]byte, 64<<20)...))
	w.Close()
	for name, row := range map[string]struct{ text, want string }{
		"no YAML":               {"#cloud-config\npassword: [S3cret\n", "no YAML"},
		"a list":                {"#cloud-config\n- password: S3cret\n", "keys with values"},
		"script":                {"#!/bin/sh\n", "scripts"},
		"nonsense":              {"hello\n", "must begin with"},
		"escape sequences":      {"#cloud-config\n\"\\e[2J\": 1\n", `"\x1b[2J" is not understood`},
		"bad name":              {"#cloud-config\nhostname: a_b c\n", "no host name"},
		"known password":        {"#cloud-config\npassword: nsroot\n", "known to everybody"},
		"no password":           {"#cloud-config\npassword: ''\n", "empty password"},
		"crypt":                 {"#cloud-config\nusers: [{name: nsroot, passwd: $6$S3cret}]\n", "kind that is not known"},
		"other user":            {"#cloud-config\nusers: [{name: root, plain_text_passwd: S3cret}]\n", `no user "root"`},
		"bad key":               {"#cloud-config\nssh_authorized_keys: [S3cret]\n", "not one line of an authorized_keys"},
		"two wrongs":            {"#cloud-config\nssh_authorized_keys: {a: b}\n", "one word is expected"},
		"network":               {"#sluice\nadd \x1b[2J\n", "control characters"},
		"open quotation":        {"#sluice\nset system user nsroot \"S3cret\n", "not closed"},
		"unclosed":              {"<NS-PRE-BOOT-CONFIG><NS-CONFIG>S3cret", "not understood"},
		"unclosed inside":       {"<NS-PRE-BOOT-CONFIG><NS-CONFIG>S3cret</NS-PRE-BOOT-CONFIG>", "without its end"},
		"mask":                  {"<NS-PRE-BOOT-CONFIG><NS-BOOTSTRAP><MGMT-INTERFACE-CONFIG><IP>10.0.0.1</IP><SUBNET-MASK>255.0.255.0</SUBNET-MASK></MGMT-INTERFACE-CONFIG></NS-BOOTSTRAP></NS-PRE-BOOT-CONFIG>", "no address of a subnet"},
		"network's own address": {"#cloud-config\nsluice: {address: 10.0.0.0/24}\n", "own or broadcast"},
		"too deep":              {string(deep), "wrapped more than"},
		"a bomb":                {bomb.String(), "larger than"},
		"damaged gzip":          {"\x1f\x8b\x08xxx", "damaged"},
		"too large":             {"#sluice\n" + strings.Repeat("#", Largest), "larger than"},
		"aliases":               {"#cloud-config\na: &a [*a]\nhostname: *a\n", ""},
	} {
		got := NoCloud(Files{UserData: []byte(row.text)})
		all := strings.Join(got.Problems, "\n")
		if row.want == "not understood" {
			row.want = "no element NS-PRE-BOOT-CONFIG that is closed"
		}
		if !strings.Contains(all, row.want) || len(got.Problems) == 0 {
			t.Errorf("%s: %q, want %q", name, all, row.want)
		}
		if strings.Contains(all, "S3cret") || strings.ContainsRune(all, 0x1b) {
			t.Errorf("%s: a secret or an escape sequence is in %q", name, all)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, row := range [][3]string{{"10.0.0.5/24", "", "10.0.0.5/24"}, {"10.0.0.5", "255.255.255.0", "10.0.0.5/24"}, {" 10.0.0.5", "16 ", "10.0.0.5/16"}, {"10.0.0.0/31", "", "10.0.0.0/31"},
		{"10.0.0.5", "", ""}, {"10.0.0.5", "255.255.0.255", ""}, {"10.0.0.255/24", "", ""}, {"10.0.0.0/24", "", ""}, {"::1/64", "", ""}, {"127.0.0.1/8", "", ""}, {"224.0.0.1/4", "", ""}, {"10.0.0.5/0", "", ""}, {"10.0.0.5", "0.0.0.0", ""}} {
		p, err := ParseAddress(row[0], row[1])
		if (err == nil) != (row[2] != "") || err == nil && p.String() != row[2] {
			t.Errorf("%q %q: %v %v", row[0], row[1], p, err)
		}
	}
}

func TestRecord(t *testing.T) {
	key := publicKey(t)
	r := &record.Record{Platform: "vm", Users: []record.User{{Name: Root, PasswordHash: "old"}}}
	a := &Answers{Source: "x", Password: "S3cret", Keys: []string{key}, Management: "52:54:00:00:00:01", Problems: []string{"p"}}
	if err := a.Record(r); err != nil {
		t.Fatal(err)
	}
	h, err := password.Parse(r.Users[0].PasswordHash)
	if err != nil || !h.Fits("S3cret") || len(r.Users) != 1 || r.Users[0].AuthorizedKeys[0] != key || r.Platform != "vm" || r.Management != "52:54:00:00:00:01" || r.FirstBoot.Source != "x" || !r.Reachable() {
		t.Errorf("%+v %v", r, err)
	}
}

// TestManyElements: a text of nothing but elements is given up, not read for hours.
func TestManyElements(t *testing.T) {
	for _, what := range []string{"<a></a>", "<a>", "</ns-config ", "<!---->"} {
		got := NetScaler([]byte("<NS-PRE-BOOT-CONFIG><NS-CONFIG>" + strings.Repeat(what, 100_000) + "</NS-PRE-BOOT-CONFIG>"))
		if len(got.Problems) == 0 {
			t.Errorf("%s: nothing is said", what)
		}
		if got := NetScaler([]byte("<NS-PRE-BOOT-CONFIG>" + strings.Repeat(what, 100_000) + "</NS-PRE-BOOT-CONFIG>")); what != "<!---->" && len(got.Problems) == 0 {
			t.Errorf("%s: nothing is said", what)
		}
	}
}
