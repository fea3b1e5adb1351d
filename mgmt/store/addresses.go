package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"time"
)

// AddressesFile is the name of the file with the last addresses of servers that are known by a name, for a start at which no
// name server answers.
const AddressesFile = "addresses.json"

// Addresses are what the name of a server has last been resolved to.
type Addresses struct {
	Server, Domain string
	Addresses      []netip.Addr
	Address        netip.Addr // the one in use
	At             time.Time
}

// KeepAddresses writes what names have been resolved to.
func (s *Store) KeepAddresses(all []Addresses) error {
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	return s.Put(AddressesFile, append(data, '\n'))
}

// LastAddresses reads what KeepAddresses has written.
func (s *Store) LastAddresses() ([]Addresses, error) {
	name := filepath.Join(s.dir, AddressesFile)
	data, err := readLimited(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Addresses
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("the last addresses of servers in %s are not used: %w", name, err)
	}
	return all, nil
}
