package nic

import (
	"fmt"
	"slices"
	"strings"

	"sluice/image/record"
)

// MostPorts is how many ports a dataplane serves.
const MostPorts = 16

// Plan says which card is what.
type Plan struct {
	Management *Device // stays with the kernel; nil: none does
	Ports      []Port  // in the order of the record
	Notes      []string
}

// Port is a card that carries data.
type Port struct {
	Name string // e.g. "1/1"
	*Device
}

// Assign gives the cards their places and writes new ones down in the record, so that a port has the same name at each start whatever
// comes or goes. The management card is the record's; until it has one, the first virtio or e1000 card that the kernel drives, else
// the first one that it drives.
func Assign(all []Device, r *record.Record) Plan {
	var p Plan
	if r.Management != record.AllData {
		if p.Management = byID(all, r.Management); p.Management == nil && r.Management != "" {
			p.Notes = append(p.Notes, fmt.Sprintf("the management card %s is not there: connect it, or correct `management` in %s", r.Management, record.Path))
		}
		if p.Management == nil {
			p.Management = first(all, r)
		}
		if p.Management != nil && r.Management == "" {
			r.Management = p.Management.ID()
		}
	}
	for i := range all {
		d := &all[i]
		if d == p.Management || slices.ContainsFunc(r.Ports, func(p record.Port) bool { return is(d, p.NIC) }) {
			continue
		}
		if len(r.Ports) >= MostPorts {
			p.Notes = append(p.Notes, fmt.Sprintf("network card %s has no port: %d are the most", d, MostPorts))
			continue
		}
		r.Ports = append(r.Ports, record.Port{Name: free(r.Ports), NIC: d.ID()})
	}
	for _, rp := range r.Ports {
		d := byID(all, rp.NIC)
		switch {
		case d == nil:
			p.Notes = append(p.Notes, fmt.Sprintf("network card %s of port %s is not there: connect it, or take it out of %s", rp.NIC, rp.Name, record.Path))
		case d == p.Management:
			p.Notes = append(p.Notes, fmt.Sprintf("network card %s of port %s is the management card now", rp.NIC, rp.Name))
		default:
			p.Ports = append(p.Ports, Port{rp.Name, d})
		}
	}
	if len(p.Ports) == 0 {
		p.Notes = append(p.Notes, "there is no network card for data: add one to the machine, or set `management: none` in "+record.Path+" to use the only one for data and management")
	}
	return p
}

// first is the card that operators come by unless somebody says otherwise. One that has been a port does not become it.
func first(all []Device, r *record.Record) *Device {
	var other *Device
	for i := range all {
		d := &all[i]
		if d.Net == "" || slices.ContainsFunc(r.Ports, func(p record.Port) bool { return is(d, p.NIC) }) {
			continue
		}
		if d.Vendor == virtio || strings.HasPrefix(d.Driver, "e1000") {
			return d
		}
		if other == nil {
			other = d
		}
	}
	return other
}

// is tells whether a card is the one that a record speaks of: by its MAC address, or where the kernel once could not tell that by its place.
func is(d *Device, id string) bool {
	return strings.EqualFold(d.MAC, id) || d.Address != "" && d.Address == id
}

// byID finds a card.
func byID(all []Device, id string) *Device {
	for i := range all {
		if id != "" && is(&all[i], id) {
			return &all[i]
		}
	}
	return nil
}

// free is the first name that no port has had.
func free(ports []record.Port) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("1/%d", n)
		if !slices.ContainsFunc(ports, func(p record.Port) bool { return p.Name == name }) {
			return name
		}
	}
}
