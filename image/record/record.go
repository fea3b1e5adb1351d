// Package record reads and writes the box's own record, /config/boot.yaml: what the first boot has learned and must hold at every
// later one, such as which NIC is which port. Operators' configuration is never there.
package record

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Path is where the record lies in the appliance.
const Path = "/config/boot.yaml"

// Largest is how many bytes a record may have: a few NICs and users take some hundreds.
const Largest = 1 << 20

// AllData in Management says that every NIC carries data, and the NSIP is on a port's twin.
const AllData = "none"

// Record is the box's own record. NICs are known by their MAC address, or by their PCI address where the kernel could not tell it.
type Record struct {
	Management string    `yaml:"management,omitempty"` // NIC that stays with the kernel; AllData: none; empty: not decided yet
	Ports      []Port    `yaml:"ports,omitempty"`      // NICs that carry data, in the order of their names; new ones are appended
	Platform   string    `yaml:"platform,omitempty"`   // profile of vendor-config/platforms; empty: the one that fits the machine
	Overrides  Overrides `yaml:"overrides,omitempty"`  // of the profile
	Users      []User    `yaml:"users,omitempty"`      // who may log in beside the configuration's own users
	FirstBoot  FirstBoot `yaml:"first-boot,omitempty"` // where all that comes from

	// Rest is what another release has written here: it is kept as it is.
	Rest map[string]any `yaml:",inline"`
}

// Port is a NIC that carries data.
type Port struct {
	Name string `yaml:"name"` // e.g. "1/1"
	NIC  string `yaml:"nic"`
}

// Overrides win over the profile of the platform. Zero leaves a value to it.
type Overrides struct {
	Workers   int    `yaml:"workers,omitempty"`   // 1, 2, 4, 8 or 16
	Memory    int    `yaml:"memory,omitempty"`    // MiB for packets
	Flows     int    `yaml:"flows,omitempty"`     // flow entries; a flow has two
	Hugepages int    `yaml:"hugepages,omitempty"` // of 2 MiB
	Busy      *bool  `yaml:"busy,omitempty"`      // workers never sleep
	Isolate   string `yaml:"isolate,omitempty"`   // CPUs that the kernel leaves to workers, as in isolcpus=; "none": it leaves none
}

// User is who may log in before the configuration has users.
type User struct {
	Name           string   `yaml:"name"`
	PasswordHash   string   `yaml:"password-hash,omitempty"`
	AuthorizedKeys []string `yaml:"authorized-keys,omitempty"` // lines of an authorized_keys file
}

// FirstBoot says what the record was made from.
type FirstBoot struct {
	Source   string   `yaml:"source,omitempty"`   // such as NoCloud or console; empty: there was no answer yet, and the next boot asks again
	Instance string   `yaml:"instance,omitempty"` // what the source calls this machine
	Problems []string `yaml:"problems,omitempty"` // what was not understood, a sentence each
}

// Reachable tells whether somebody can log in by what stands in the record.
func (r *Record) Reachable() bool {
	return slices.ContainsFunc(r.Users, func(u User) bool { return u.PasswordHash != "" || len(u.AuthorizedKeys) > 0 })
}

// Read reads a record. A file that is not there is an empty record. One that is damaged is an error and an empty record, so that
// the box comes up all the same.
func Read(path string) (*Record, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Record{}, nil
	}
	if err == nil && info.Size() > Largest {
		err = fmt.Errorf("it has %d bytes, and %d are the most", info.Size(), Largest)
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		return &Record{}, fmt.Errorf("the box's record %s cannot be read: %w", path, err)
	}
	r, err := Parse(text)
	if err != nil {
		return &Record{}, fmt.Errorf("the box's record %s is damaged, and NICs are named anew: correct it or remove it: %w", path, err)
	}
	return r, nil
}

// Parse reads the text of a record.
func Parse(text []byte) (*Record, error) {
	var r Record
	if err := yaml.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	names, nics := map[string]bool{}, map[string]bool{}
	for i, p := range r.Ports {
		switch {
		case p.Name == "" || p.NIC == "":
			return nil, fmt.Errorf("port %d of ports needs a name and a nic", i+1)
		case names[p.Name]:
			return nil, fmt.Errorf("port %s stands twice in ports", p.Name)
		case nics[p.NIC]:
			return nil, fmt.Errorf("NIC %s stands twice in ports", p.NIC)
		}
		names[p.Name], nics[p.NIC] = true, true
	}
	for i, u := range r.Users {
		if u.Name == "" {
			return nil, fmt.Errorf("user %d of users has no name", i+1)
		}
	}
	return &r, nil
}

// Write replaces the file as a whole: after a power cut there is the old record or the new one. Secrets' hashes are in it, so that
// nobody but root may read it.
func (r *Record) Write(path string) error {
	var text bytes.Buffer
	text.WriteString("# What this box has learned about itself. Written by sluice-boot; edit it with care.\n")
	enc := yaml.NewEncoder(&text)
	enc.SetIndent(2)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("the box's record cannot be written: %w", err)
	}
	if err := Put(path, text.Bytes()); err != nil {
		return fmt.Errorf("the box's record %s cannot be written: %w", path, err)
	}
	return nil
}

// Put writes a file of the box for root alone, beside the old one; once it is on the disk it gets the name.
func Put(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".boot-*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // in vain once it has been renamed
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
