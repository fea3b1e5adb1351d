package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const goodSettings = `
socket: /tmp/dp.sock
config-dir: /tmp/config
ssh: {listen: "127.0.0.1:2222"}
users:
  - {name: nsroot, password-hash: "$argon2id$x"}
ports:
  - {name: "1/1", device: da, twin: tw0}
  - {name: "1/2", device: db, twin: tw1}
`

func settingsFrom(t *testing.T, text string) (*settings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mgmt.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return readSettings(path)
}

func TestSettings(t *testing.T) {
	t.Setenv("SLUICE_MGMT_SSH_LISTEN", "127.0.0.1:4444")
	t.Setenv("SLUICE_MGMT_HOSTNAME", "adc1")
	s, err := settingsFrom(t, goodSettings)
	if err != nil {
		t.Fatal(err)
	}
	if s.Socket != "/tmp/dp.sock" || s.SSH.HostKey != "/config/ssh_host_key" || len(s.Users) != 1 || s.Users[0].PasswordHash != "$argon2id$x" {
		t.Errorf("settings %+v", s)
	}
	if s.SSH.Listen != "127.0.0.1:4444" || s.Hostname != "adc1" {
		t.Errorf("the environment does not win: listen %s, hostname %s", s.SSH.Listen, s.Hostname)
	}
	if p := s.ports(); len(p) != 2 || p[1].Name != "1/2" || p[1].Device != "db" || p[1].Twin != "tw1" {
		t.Errorf("ports %+v", p)
	}
}

func TestBadSettings(t *testing.T) {
	rows := []struct{ name, text, want string }{
		{"an unknown word", goodSettings + "colour: blue\n", "unknown key colour"},
		{"an unknown word in a port", strings.Replace(goodSettings, "twin: tw1", "twin: tw1, speed: 10", 1), "has the unknown key speed"},
		{"an unknown word under ssh", strings.Replace(goodSettings, `{listen: "127.0.0.1:2222"}`, "{lisen: x}", 1), "lisen"},
		{"a wrong type", strings.Replace(goodSettings, "users:", "users: 5\nx:", 1), "users"},
		{"no YAML", "\t:::", "cannot be read"},
		{"no ports", "socket: /x\n", "ports is empty"},
		{"a port without twin", "ports: [{name: 1/1}]\n", "twin"},
		{"a twin twice", strings.Replace(goodSettings, "tw1", "tw0", 1), "device tw0 stands twice"},
		{"a twin that is a device", strings.Replace(goodSettings, "tw1", "da", 1), "device da stands twice"},
		{"a port twice", strings.Replace(goodSettings, `"1/2"`, `"1/1"`, 1), "port 1/1 stands twice"},
		{"a long device", strings.Replace(goodSettings, "tw1", "tw1234567890abcdef", 1), "15 characters"},
		{"a user without any login", strings.Replace(goodSettings, `, password-hash: "$argon2id$x"`, "", 1), "nsroot can log in by nothing"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			s, err := settingsFrom(t, row.text)
			if err == nil {
				t.Fatalf("accepted: %+v", s)
			}
			if !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want one line with %q", err, row.want)
			}
		})
	}
	if _, err := readSettings(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "-config") {
		t.Errorf("a missing file: %v", err)
	}
}

func TestPortsOnThePCIBusAndNone(t *testing.T) {
	s, err := settingsFrom(t, "ports: [{name: 1/1, pci: \"0000:00:04.0\", twin: tw0}]\n")
	if err != nil || s.ports()[0].PCI != "0000:00:04.0" || s.ports()[0].Device != "" {
		t.Errorf("a port on the PCI bus: %+v, %v", s, err)
	}
	if _, err := settingsFrom(t, "ports: []\nmanagement: {device: eth0}\n"); err != nil {
		t.Errorf("a machine that lacks a card for data, with a management port: %v", err)
	}
	if _, err := settingsFrom(t, "ports: []\n"); err == nil {
		t.Error("settings without any port are taken")
	}
}

// TestRecordOfTheBoxIsHidden: an operator's SFTP sees neither the box's record nor what stands in it.
func TestRecordOfTheBoxIsHidden(t *testing.T) {
	o := (&appliance{}).transfers(&settings{ConfigDir: "/config", SSH: sshSettings{HostKey: "/config/ssh_host_key"}}, "/run/sluice/mgmt.yaml", nil)
	if !slices.Contains(o.Folders[0].Hidden, "boot.yaml") || !slices.Contains(o.Folders[0].Hidden, "ssh_host_key") {
		t.Errorf("hidden are %q", o.Folders[0].Hidden)
	}
}
