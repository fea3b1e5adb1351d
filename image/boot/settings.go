package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"sluice/image/nic"
	"sluice/image/record"
	"sluice/vendor-config/platforms"
)

// dataplaneSettings are the settings of sluice-dataplane, as the README has them.
type dataplaneSettings struct {
	Ports    []port `yaml:"ports,flow"`
	Lcores   []int  `yaml:"lcores,flow"`
	Memory   int    `yaml:"memory"`
	Huge     bool   `yaml:"huge"`
	Flows    int    `yaml:"flows"`
	Sessions int    `yaml:"sessions"`
	Busy     bool   `yaml:"busy"`
}

// managementSettings are the settings of sluice-mgmt.
type managementSettings struct {
	Ports      []port         `yaml:"ports,flow"`
	Management managementPort `yaml:"management"`
	Users      []user         `yaml:"users,omitempty"`
	Config     string         `yaml:"config-dir"`
	Health     string         `yaml:"health"`
	SSH        managementDoor `yaml:"ssh"`
}

type managementDoor struct {
	HostKey string `yaml:"host-key"`
	Banner  string `yaml:"banner"`
}

type managementPort struct {
	Name   string `yaml:"name"`
	Device string `yaml:"device,omitempty"`
}

type user struct {
	Name           string `yaml:"name"`
	PasswordHash   string `yaml:"password-hash,omitempty"`
	AuthorizedKeys string `yaml:"authorized-keys,omitempty"`
}

const (
	dataplaneFile  = "dataplane.yaml"
	managementFile = "mgmt.yaml"
	keysPrefix     = "authorized_keys-" // of a user
)

// writeDataplane writes the settings of the dataplane; without a port there are none, and it is not started.
func (b *beginning) writeDataplane(ports []port, s platforms.Size, lcores []int, busy bool) error {
	if len(ports) == 0 {
		return b.noSettings(dataplaneFile)
	}
	huge := false
	for _, p := range ports {
		huge = huge || p.PCI != ""
	}
	return b.write(dataplaneFile, dataplaneSettings{Ports: ports, Lcores: lcores, Memory: s.Memory, Huge: huge, Flows: s.Flows, Sessions: s.Sessions, Busy: busy})
}

// noSettings removes a program's settings, without which systemd does not start it.
func (b *beginning) noSettings(name string) error {
	if err := os.Remove(filepath.Join(b.run, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// writeManagement writes the settings of management. Nobody but those who have a password or a key by now gets in by the network.
func (b *beginning) writeManagement(ports []port, card *nic.Device, r *record.Record) error {
	s := managementSettings{
		Ports: ports, Management: managementPort{Name: "0/1"}, Config: b.config, Health: filepath.Join(b.run, filepath.Base(healthFile)),
		SSH: managementDoor{HostKey: filepath.Join(b.config, "ssh_host_key"), Banner: filepath.Join(b.config, "banner")},
	}
	if s.Ports == nil {
		s.Ports = []port{}
	}
	if card != nil {
		s.Management.Device = card.Net
	}
	for _, u := range r.Users {
		out := user{Name: u.Name, PasswordHash: u.PasswordHash}
		if len(u.AuthorizedKeys) > 0 {
			name := keysPrefix + strings.Map(plainLetter, u.Name)
			if err := record.Put(filepath.Join(b.run, name), []byte(strings.Join(u.AuthorizedKeys, "\n")+"\n")); err != nil {
				return fmt.Errorf("the keys of %s cannot be written: %w", u.Name, err)
			}
			out.AuthorizedKeys = filepath.Join(b.run, name)
		}
		if out.PasswordHash != "" || out.AuthorizedKeys != "" {
			s.Users = append(s.Users, out)
		}
	}
	return b.write(managementFile, s)
}

// plainLetter keeps what a file's name may have anywhere.
func plainLetter(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '_'
}

// write replaces a settings file.
func (b *beginning) write(name string, settings any) error {
	text, err := yaml.Marshal(settings)
	if err != nil {
		return fmt.Errorf("settings %s cannot be written: %w", name, err)
	}
	head := "# Written by sluice-boot at each start; what is to stay belongs into " + record.Path + ".\n"
	if err := record.Put(filepath.Join(b.run, name), append([]byte(head), text...)); err != nil {
		return fmt.Errorf("settings %s cannot be written: %w", name, err)
	}
	return nil
}
