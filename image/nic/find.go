// Package nic finds the machine's network cards, says how each is to be driven and what its port is called. Looking and deciding are
// functions of a tree of sysfs; Bind alone changes something.
package nic

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Device is a network card.
type Device struct {
	Address string // on the PCI bus, e.g. "0000:00:04.0"; empty for a card on another bus
	Vendor  uint16 // on the PCI bus
	Model   uint16
	Driver  string // of the kernel, that has it now; empty: none
	Net     string // the kernel's network device, e.g. "eth1"; empty: there is none
	MAC     string // as the kernel tells it; empty where it does not
	Queues  int    // to send with, as the kernel has them; 0: not known

	INTx     bool     // it has an interrupt line of its own, which uio_pci_generic needs
	Virtual  bool     // a part of a card, made by SR-IOV
	IOMMU    bool     // an IOMMU stands between it and the memory
	Bypasses bool     // a virtio card that goes by the IOMMU all the same
	Group    []string // the other devices, no bridges, that the IOMMU cannot keep apart from it
}

// ID is what the box's record knows a card by.
func (d *Device) ID() string { return cmp.Or(d.MAC, d.Address) }

// String names a card for people.
func (d *Device) String() string {
	s := cmp.Or(d.Address, d.Net)
	if name := cmp.Or(models[[2]uint16{d.Vendor, d.Model}], vendors[d.Vendor]); name != "" && d.Address != "" {
		s += " (" + name + ")"
	}
	return s
}

const (
	intel    = 0x8086
	virtio   = 0x1af4
	vmware   = 0x15ad
	amazon   = 0x1d0f
	mellanox = 0x15b3
)

var vendors = map[uint16]string{intel: "Intel", virtio: "virtio", vmware: "VMware", amazon: "Amazon ENA", mellanox: "Mellanox"}

var models = map[[2]uint16]string{{intel, 0x100e}: "Intel e1000", {intel, 0x10d3}: "Intel e1000e", {vmware, 0x07b0}: "vmxnet3"}

// Find lists the cards in a tree of sysfs, those on the PCI bus first and by their addresses.
func Find(sysfs string) ([]Device, error) {
	entries, err := os.ReadDir(filepath.Join(sysfs, "bus/pci/devices"))
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("the PCI bus cannot be read: %w", err)
	}
	var all []Device
	seen := map[string]bool{}
	for _, e := range entries { // by address
		dir := filepath.Join(sysfs, "bus/pci/devices", e.Name())
		if class := number(dir, "class"); class>>8 != 0x0200 {
			continue
		}
		d := look(dir, e.Name())
		seen[d.Net] = true
		all = append(all, d)
	}
	// Cards of other buses (Hyper-V, Xen), which the kernel alone drives here.
	links, err := os.ReadDir(filepath.Join(sysfs, "class/net"))
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("the kernel's network devices cannot be read: %w", err)
	}
	for _, e := range links {
		dir := filepath.Join(sysfs, "class/net", e.Name())
		if _, err := os.Stat(filepath.Join(dir, "device")); err != nil || seen[e.Name()] || line(dir, "type") != "1" {
			continue // no card, or no Ethernet
		}
		d := Device{Net: e.Name(), MAC: line(dir, "address"), Driver: target(dir, "device/driver")}
		all = append(all, d)
	}
	return all, nil
}

// look reads what sysfs says of a card on the PCI bus.
func look(dir, address string) Device {
	d := Device{Address: address, Vendor: uint16(number(dir, "vendor")), Model: uint16(number(dir, "device")), Driver: target(dir, "driver")}
	if c, err := os.ReadFile(filepath.Join(dir, "config")); err == nil && len(c) > 0x3d {
		d.INTx = c[0x3d] != 0 // Interrupt Pin
	}
	_, err := os.Lstat(filepath.Join(dir, "physfn"))
	d.Virtual = err == nil
	nets, _ := filepath.Glob(filepath.Join(dir, "net/*"))
	if virtual, _ := filepath.Glob(filepath.Join(dir, "virtio*")); len(virtual) > 0 {
		nets, _ = filepath.Glob(filepath.Join(virtual[0], "net/*"))
		features := line(virtual[0], "features")
		d.Bypasses = len(features) > 33 && features[33] == '0' // VIRTIO_F_ACCESS_PLATFORM
	}
	if len(nets) > 0 {
		d.Net, d.MAC = filepath.Base(nets[0]), line(nets[0], "address")
		queues, _ := filepath.Glob(filepath.Join(nets[0], "queues/tx-*"))
		d.Queues = len(queues)
	}
	others, err := os.ReadDir(filepath.Join(dir, "iommu_group/devices"))
	d.IOMMU = err == nil
	for _, o := range others {
		if o.Name() != address && number(filepath.Join(dir, "iommu_group/devices", o.Name()), "class")>>16 != 0x06 {
			d.Group = append(d.Group, o.Name())
		}
	}
	return d
}

// line is the first line of a file of sysfs, empty if it cannot be read.
func line(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	return strings.TrimSpace(string(first))
}

func number(dir, name string) uint64 {
	n, _ := strconv.ParseUint(strings.TrimPrefix(line(dir, name), "0x"), 16, 32)
	return n
}

// target is the last word of where a link leads.
func target(dir, name string) string {
	to, err := os.Readlink(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

// Recall fills in what the kernel no longer tells of cards that have been handed over since the machine started, from a file of that
// time, and writes down what it tells now.
func Recall(all []Device, path string) error {
	var known []Device
	if text, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(text, &known); err != nil {
			known = nil // half written; the names follow the addresses then
		}
	}
	for i := range all {
		d := &all[i]
		at := slices.IndexFunc(known, func(k Device) bool { return k.Address == d.Address && d.Address != "" })
		if at < 0 || d.MAC != "" {
			continue
		}
		d.MAC, d.Queues, d.Bypasses = known[at].MAC, known[at].Queues, known[at].Bypasses
	}
	text, err := json.Marshal(all)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("what is known of the network cards cannot be written down: %w", err)
	}
	return nil
}
