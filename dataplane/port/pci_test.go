package port

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sysfsDevice makes a PCI device in a tree of sysfs, with a driver unless that is empty.
func sysfsDevice(t *testing.T, root, address, driver string) {
	t.Helper()
	dir := filepath.Join(root, "bus/pci/devices", address)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if driver != "" {
		if err := os.Symlink("../../drivers/"+driver, filepath.Join(dir, "driver")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPCIDeviceMustBeHandedOver(t *testing.T) {
	root := t.TempDir()
	sysfsDevice(t, root, "0000:00:04.0", "uio_pci_generic")
	sysfsDevice(t, root, "0000:00:05.0", "virtio-pci")
	sysfsDevice(t, root, "0000:00:06.0", "")
	sysfsDevice(t, root, "0000:00:07.0", "mlx5_core")
	for address, want := range map[string]string{
		"0000:00:04.0": "", "0000:00:07.0": "", "0000:00:05.0": "kernel's driver virtio-pci", "0000:00:06.0": "has no driver", "0000:00:08.0": "no PCI device 0000:00:08.0",
	} {
		if err := CheckPCI(root, address); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestPCIAddresses(t *testing.T) {
	for word, want := range map[string]bool{
		"0000:00:04.0": true, "10000:e1:1f.7": true, "00:04.0": false, "0000:00:04.8": false, "0000:00:04.0,mac=x": false, "0000:00:24.0": false, "": false, "eth1": false,
	} {
		if IsPCIAddress(word) != want {
			t.Errorf("%q is a PCI address: %v, want %v", word, !want, want)
		}
	}
}

func TestEALLooksAtNamedNICsOnly(t *testing.T) {
	s := &EALSettings{Lcores: []int{0}, MemoryMB: 64, Huge: true}
	if args := strings.Join(s.args(), " "); !strings.Contains(args, "--no-pci") || strings.Contains(args, " -a ") {
		t.Errorf("without NICs on the bus EAL is told %q", args)
	}
	s.PCI = []string{"0000:00:04.0", "0000:00:05.0"}
	if args := strings.Join(s.args(), " "); strings.Contains(args, "--no-pci") || !strings.Contains(args, "-a 0000:00:04.0 -a 0000:00:05.0") {
		t.Errorf("with two NICs EAL is told %q", args)
	}
	s.Huge = false
	if err := s.check(); err == nil || !strings.Contains(err.Error(), "need hugepages") {
		t.Errorf("NICs without hugepages are refused with %v", err)
	}
}
