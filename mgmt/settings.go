package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/viper"

	"sluice/mgmt/compile"
)

// settings are what the daemon is started with. They are read once, from a YAML file and the environment; objects that
// an operator configures never come from here.
type settings struct {
	Socket    string         `mapstructure:"socket"`      // of the dataplane
	Hostname  string         `mapstructure:"hostname"`    // in the prompt; the system's when empty
	ConfigDir string         `mapstructure:"config-dir"`  // of the startup configuration
	Resolv    string         `mapstructure:"resolv-conf"` // name servers, in the form of resolv.conf(5)
	ImagesDir string         `mapstructure:"images-dir"`  // where operators leave bundles of images
	Health    string         `mapstructure:"health"`      // file that says whether management is well; empty: none
	SSH       sshSettings    `mapstructure:"ssh"`
	Users     []userSetting  `mapstructure:"users"`
	Metrics   metricsSetting `mapstructure:"metrics"`
	NTP       ntpSettings    `mapstructure:"ntp"`
	Ports     []portSetting  `mapstructure:"ports"` // the same list as the dataplane's

	// Management is the port that the dataplane does not drive: with a device the NSIP lives there, without one on a twin.
	Management managementSetting `mapstructure:"management"`
}

type sshSettings struct {
	Listen  string `mapstructure:"listen"`
	HostKey string `mapstructure:"host-key"` // file; made at the first start
	Banner  string `mapstructure:"banner"`   // file that is shown before the login; read at each, none if it is not there
}

type userSetting struct {
	Name           string `mapstructure:"name"`
	PasswordHash   string `mapstructure:"password-hash"`   // as `sluice-mgmt -hash-password` prints it; empty: no password login
	AuthorizedKeys string `mapstructure:"authorized-keys"` // file; empty: no key login
}

type portSetting struct {
	Name   string `mapstructure:"name"`   // e.g. "1/1"
	Device string `mapstructure:"device"` // kernel device; empty for a PCI port
	PCI    string `mapstructure:"pci"`    // address of a PCI port, for operators only: the dataplane drives it
	Twin   string `mapstructure:"twin"`
}

type ntpSettings struct {
	Dir    string `mapstructure:"dir"`    // where chronyd has its files while it runs
	Adjust bool   `mapstructure:"adjust"` // the machine's clock is set; false where it is another's, as in a container
}

type metricsSetting struct {
	Listen string `mapstructure:"listen"` // address of the endpoint for Prometheus; empty: none
}

type managementSetting struct {
	Name   string `mapstructure:"name"`
	Device string `mapstructure:"device"` // kernel device; empty: none
}

// envPrefix begins the environment's variables: SLUICE_MGMT_SSH_LISTEN is ssh.listen.
const envPrefix = "SLUICE_MGMT"

// readSettings reads the file and the environment, which wins. A word that is not known is an error that names it.
func readSettings(path string) (*settings, error) {
	v := viper.New()
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	v.SetEnvPrefix(envPrefix)
	v.SetEnvKeyReplacer(strings.NewReplacer(".", "_", "-", "_"))
	v.AutomaticEnv()
	host, _ := os.Hostname()
	v.SetDefault("ntp.adjust", true)
	for key, def := range map[string]string{
		"socket":            "/run/sluice/dataplane.sock",
		"hostname":          host,
		"config-dir":        "/config",
		"resolv-conf":       "/etc/resolv.conf",
		"management.name":   "0/1",
		"images-dir":        "/data/images",
		"health":            "",
		"metrics.listen":    "",
		"ntp.dir":           "/run/sluice/ntp",
		"management.device": "",
		"ssh.listen":        "0.0.0.0:22",
		"ssh.host-key":      "/config/ssh_host_key",
		"ssh.banner":        "/config/banner",
	} {
		v.SetDefault(key, def)
	}
	if err := v.ReadInConfig(); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no settings file %s; name one with -config", path)
	} else if err != nil {
		return nil, fmt.Errorf("the settings in %s cannot be read: %w", path, err)
	}
	var s settings
	if err := v.UnmarshalExact(&s); err != nil {
		return nil, fmt.Errorf("the settings in %s are not understood: %s", path, oneLine(err))
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("the settings in %s: %w", path, err)
	}
	return &s, nil
}

// oneLine joins the lines of a decoder's error.
func oneLine(err error) string {
	text := strings.TrimPrefix(err.Error(), "decoding failed due to the following error(s):")
	text = strings.NewReplacer("* ", "", "'' has invalid keys:", "unknown key", "has invalid keys:", "has the unknown key").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}

func (s *settings) check() error {
	// A machine that lacks a card for data can still be set up by its management port.
	if len(s.Ports) == 0 && s.Management.Device == "" {
		return errors.New("ports is empty: name at least one port, e.g. {name: 1/1, device: eth1, twin: tw0}")
	}
	seen := map[string]bool{}
	for i, p := range s.Ports {
		if p.Name == "" || p.Twin == "" {
			return fmt.Errorf("port %d of ports needs a name and a twin", i+1)
		}
		for _, word := range []string{"port " + p.Name, "device " + p.Twin, "device " + p.Device} {
			if seen[word] && word != "device " {
				return fmt.Errorf("%s stands twice in ports", word)
			}
			seen[word] = true
		}
		if len(p.Twin) > 15 || len(p.Device) > 15 { // IFNAMSIZ less its end
			return fmt.Errorf("port %s: the name of a device has at most 15 characters", p.Name)
		}
	}
	if m := s.Management; m.Device != "" && (seen["port "+m.Name] || seen["device "+m.Device] || len(m.Device) > 15) {
		return fmt.Errorf("management: %s (%s) is one of ports, or its device has more than 15 characters: it is a port that the dataplane does not drive", m.Name, m.Device)
	}
	for i, u := range s.Users {
		if u.Name == "" {
			return fmt.Errorf("user %d of users has no name", i+1)
		}
		if seen["user "+u.Name] {
			return fmt.Errorf("user %s stands twice in users", u.Name)
		}
		seen["user "+u.Name] = true
		if u.PasswordHash == "" && u.AuthorizedKeys == "" {
			return fmt.Errorf("user %s can log in by nothing: give password-hash or authorized-keys", u.Name)
		}
	}
	return nil
}

// ports are the ports as the engine and the kernel's side know them.
func (s *settings) ports() []compile.Port {
	var out []compile.Port
	for _, p := range s.Ports {
		out = append(out, compile.Port{Name: p.Name, Device: p.Device, PCI: p.PCI, Twin: p.Twin})
	}
	return out
}

// portNames are the names of the ports, in their order.
func (s *settings) portNames() (names []string) {
	for _, p := range s.Ports {
		names = append(names, p.Name)
	}
	return names
}
