package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// wish is what the environment asks for; with no ports and no management the devices decide.
type wish struct {
	ports      []string // kernel devices, in the order of 1/1, 1/2, ...
	management string   // kernel device, or "none"
	flows      int
	memory     int // MiB for packets
}

// words are the words of a list with commas or blanks between them.
func words(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// plan says which device is what.
type plan struct {
	ports      []string
	management string // "": operators come by a port
}

func (p plan) text() string {
	var all []string
	for i, d := range p.ports {
		all = append(all, fmt.Sprintf("1/%d=%s", i+1, d))
	}
	return strings.Join(all, " ")
}

// choose gives the devices their places. Unless it is told otherwise, the first device of several is for operators and the others
// are ports; a single one is a port, by which operators come too.
func choose(found []string, w wish) (plan, error) {
	if len(found) == 0 {
		return plan{}, errors.New("the container has no network device: start it in a network, or with a device moved into it")
	}
	p := plan{ports: w.ports, management: w.management}
	if p.management == "" && len(found) > 1 {
		for _, d := range found {
			if !slices.Contains(p.ports, d) {
				p.management = d
				break
			}
		}
	}
	if p.management == "none" {
		p.management = ""
	}
	if len(p.ports) == 0 {
		for _, d := range found {
			if d != p.management {
				p.ports = append(p.ports, d)
			}
		}
	}
	if len(p.ports) == 0 {
		return plan{}, fmt.Errorf("no port is left: %s is for operators, and the container has no other device; give it another one, or SLUICE_MANAGEMENT=none", p.management)
	}
	seen := map[string]bool{}
	for _, d := range append(slices.Clone(p.ports), p.management) {
		switch {
		case d == "":
		case !slices.Contains(found, d):
			return plan{}, fmt.Errorf("there is no device %s in the container: it has %s", d, strings.Join(found, ", "))
		case seen[d]:
			return plan{}, fmt.Errorf("the device %s cannot be two ports, or a port and for management", d)
		}
		seen[d] = true
	}
	return p, nil
}

type portSetting struct {
	Name   string `yaml:"name"`
	Device string `yaml:"device"`
	Twin   string `yaml:"twin"`
}

type userSetting struct {
	Name string `yaml:"name"`
	Hash string `yaml:"password-hash,omitempty"`
	Keys string `yaml:"authorized-keys,omitempty"`
}

// files are the settings of the two programs, by the names of their files.
type files map[string][]byte

// logins is how nsroot may log in by what lies in the configuration folder: his keys, and a hash as `sluice-mgmt -hash-password`
// prints it. Without either only users of the configuration can.
func logins(folder string) []userSetting {
	u := userSetting{Name: "nsroot"}
	if keys := filepath.Join(folder, "authorized_keys"); readable(keys) {
		u.Keys = keys
	}
	if b, err := os.ReadFile(filepath.Join(folder, "nsroot.hash")); err == nil {
		u.Hash = strings.TrimSpace(string(b))
	}
	if u.Keys == "" && u.Hash == "" {
		return nil
	}
	return []userSetting{u}
}

func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func settings(p plan, w wish, users []userSetting) (files, error) {
	var ports []portSetting
	for i, d := range p.ports {
		ports = append(ports, portSetting{fmt.Sprintf("1/%d", i+1), d, fmt.Sprintf("tw%d", i)})
	}
	dataplane, err := yaml.Marshal(map[string]any{"ports": ports, "flows": w.flows, "memory": w.memory, "huge": false, "lcore": lcore()})
	if err != nil {
		return nil, err
	}
	// The clock is the host's.
	mgmt, err := yaml.Marshal(map[string]any{"ports": ports, "users": users, "management": map[string]string{"device": p.management}, "ntp": map[string]bool{"adjust": false}})
	return files{"dataplane.yaml": dataplane, "mgmt.yaml": mgmt}, err
}

func (f files) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("the settings cannot be written: %w", err)
	}
	for name, text := range f {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return fmt.Errorf("the settings cannot be written: %w", err)
		}
	}
	return nil
}
