package nic

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Machine is what there is besides a card that decides how it can be driven.
type Machine struct {
	Locked bool     // the kernel lets no program at devices directly, as with Secure Boot
	Data   []string // addresses of the cards that carry data
}

// Drivers of the kernel that hand a card over.
const (
	vfio = "vfio-pci"
	uio  = "uio_pci_generic"
)

// Choice is how a card is driven.
type Choice struct {
	PCI    bool   // by DPDK itself; else by the kernel, with DPDK behind it (af_packet)
	Driver string // of the kernel that it must be bound to; empty: it stays with the one that it has
	Note   string // a sentence about what is less good than it could be; empty: nothing is
}

// Locked tells whether the kernel is locked down.
func Locked(sysfs string) bool {
	mode := line(filepath.Join(sysfs, "kernel/security"), "lockdown")
	return mode != "" && !strings.Contains(mode, "[none]")
}

// Choose says how a card is driven: by a driver that shares it with DPDK, through vfio where an IOMMU guards the memory, through uio,
// and if nothing of that is possible by the kernel. The error is the sentence for a card that cannot be used at all.
func (d *Device) Choose(m Machine) (Choice, error) {
	switch {
	case d.Address == "":
		return d.kernel("the card is not on the PCI bus")
	case d.Vendor == mellanox:
		if d.Driver == "mlx5_core" {
			return Choice{PCI: true}, nil
		}
		return d.kernel("DPDK needs the kernel's driver mlx5_core for it, which does not drive it")
	case vendors[d.Vendor] == "" || d.Vendor == vmware && d.Model != 0x07b0:
		return d.kernel("this release has no DPDK driver for it")
	case d.IOMMU && !d.Bypasses:
		if other := d.stranger(m); other != "" {
			return d.kernel(fmt.Sprintf("the IOMMU cannot keep it apart from device %s, which belongs to the kernel: put it into another slot", other))
		}
		return Choice{PCI: true, Driver: vfio}, nil
	case m.Locked:
		return d.kernel("the kernel is locked down (Secure Boot) and there is no IOMMU for it: switch on the IOMMU (VT-d, AMD-Vi), or Secure Boot off")
	case d.INTx && !d.Virtual:
		return Choice{PCI: true, Driver: uio}, nil
	}
	return d.kernel("it has no interrupt line, as parts of a card made by SR-IOV, and there is no IOMMU: switch on the IOMMU (VT-d, AMD-Vi)")
}

// stranger is a device of the same group that will not be handed over, or empty.
func (d *Device) stranger(m Machine) string {
	for _, o := range d.Group {
		if !slices.Contains(m.Data, o) {
			return o
		}
	}
	return ""
}

// kernel is the choice of leaving a card to the kernel, if that drives it.
func (d *Device) kernel(why string) (Choice, error) {
	if d.Net == "" {
		return Choice{}, fmt.Errorf("network card %s cannot be used: %s; and the kernel has no driver for it either", d, why)
	}
	return Choice{Note: fmt.Sprintf("network card %s goes through the kernel, which is slower: %s", d, why)}, nil
}

// bindTime is how long the kernel may take to hand a card over.
const bindTime = 10 * time.Second

// Bind brings a card on the PCI bus to a driver.
func Bind(sysfs, address, driver string) error {
	dir := filepath.Join(sysfs, "bus/pci/devices", address)
	has := target(dir, "driver")
	if has == driver {
		return nil
	}
	if _, err := os.Stat(filepath.Join(sysfs, "bus/pci/drivers", driver)); err != nil {
		return fmt.Errorf("network card %s cannot be handed over: the kernel has no driver %s (modprobe %s)", address, driver, driver)
	}
	write := func(name, text string) error { return os.WriteFile(filepath.Join(sysfs, name), []byte(text), 0o200) }
	err := write("bus/pci/devices/"+address+"/driver_override", driver)
	if err == nil && has != "" {
		err = write("bus/pci/devices/"+address+"/driver/unbind", address)
	}
	if err == nil {
		err = write("bus/pci/drivers_probe", address)
	}
	for end := time.Now().Add(bindTime); err == nil && target(dir, "driver") != driver; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			err = errors.New("the driver does not take it")
		}
	}
	if err != nil {
		return fmt.Errorf("network card %s cannot be handed over to %s: %w", address, driver, err)
	}
	return nil
}
