// Package platforms holds a profile for each kind of machine: how many workers, how much memory, and whether they sleep. A machine's size
// then decides within its profile.
package platforms

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:embed *.yaml
var files embed.FS

// Profile is what a kind of machine gets.
type Profile struct {
	Name       string   `yaml:"name"`
	About      string   `yaml:"about"`
	Hypervisor *bool    `yaml:"hypervisor"` // the machine must be a virtual one, or must not be; either if it is not there
	CPU        []string `yaml:"cpu"`        // words of which the name of the CPU must have one
	Busy       bool     `yaml:"busy"`       // workers never sleep
	Isolate    bool     `yaml:"isolate"`    // the kernel leaves the workers' CPUs to them, from the next start on
	Sizes      []Size   `yaml:"sizes"`      // ascending
}

// Size is what a machine of at least so much gets.
type Size struct {
	CPUs     int `yaml:"cpus"`
	MiB      int `yaml:"mib"`      // of the machine
	Workers  int `yaml:"workers"`  // 1, 2, 4, 8 or 16
	Memory   int `yaml:"memory"`   // MiB for packets
	Flows    int `yaml:"flows"`    // entries, two a flow
	Sessions int `yaml:"sessions"` // of persistence
}

// Machine is what a profile is chosen by.
type Machine struct {
	Hypervisor bool
	CPU        string // its name
	CPUs       int
	MiB        int
}

// All are the profiles, the more particular ones first.
func All() ([]Profile, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	var all []Profile
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var p Profile
		d := yaml.NewDecoder(strings.NewReader(string(text)))
		d.KnownFields(true)
		if err := d.Decode(&p); err != nil {
			return nil, fmt.Errorf("platform profile %s: %w", name, err)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b Profile) int { return len(b.CPU) - len(a.CPU) })
	return all, nil
}

// Choose returns the profile of that name, or without a name the one that fits the machine.
func Choose(name string, m Machine) (*Profile, error) {
	all, err := All()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
		if p.Name == name || name == "" && p.fits(m) {
			return &p, nil
		}
	}
	return nil, fmt.Errorf("there is no platform profile %q: there are %s", name, strings.Join(names, ", "))
}

func (p *Profile) fits(m Machine) bool {
	return (p.Hypervisor == nil || *p.Hypervisor == m.Hypervisor) &&
		(len(p.CPU) == 0 || slices.ContainsFunc(p.CPU, func(word string) bool { return strings.Contains(m.CPU, word) }))
}

// For is what a machine gets: the largest size that it has enough for, else the least.
func (p *Profile) For(m Machine) Size {
	s := p.Sizes[0]
	for _, larger := range p.Sizes {
		if m.CPUs >= larger.CPUs && m.MiB >= larger.MiB {
			s = larger
		}
	}
	return s
}
