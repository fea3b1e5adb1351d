package nic

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sluice/image/record"
)

// tree is a tree of sysfs that is made for a test.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T) *tree { return &tree{t, t.TempDir()} }

func (s *tree) file(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *tree) link(name, to string) {
	s.t.Helper()
	path := filepath.Join(s.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Symlink(to, path); err != nil {
		s.t.Fatal(err)
	}
}

// card is what a fixture's card is.
type card struct {
	address, ids, driver, net, mac string
	pin                            byte
	group                          string // number of its IOMMU group
	virtual                        bool
	virtio                         string // feature bit 33, "0" or "1"; empty: no virtio card
	class                          string
}

func (s *tree) card(c card) {
	dir := "bus/pci/devices/" + c.address
	vendor, model, _ := strings.Cut(c.ids, ":")
	s.file(dir+"/vendor", "0x"+vendor+"\n")
	s.file(dir+"/device", "0x"+model+"\n")
	if c.class == "" {
		c.class = "020000"
	}
	s.file(dir+"/class", "0x"+c.class+"\n")
	config := make([]byte, 64)
	config[0x3d] = c.pin
	s.file(dir+"/config", string(config))
	if c.driver != "" {
		s.link(dir+"/driver", "../../../../bus/pci/drivers/"+c.driver)
	}
	if c.virtual {
		s.link(dir+"/physfn", "../0000:00:01.0")
	}
	if c.group != "" {
		group := "kernel/iommu_groups/" + c.group
		s.link(dir+"/iommu_group", "../../../../"+group)
		s.link(group+"/devices/"+c.address, "../../../../"+dir)
	}
	if c.net == "" {
		return
	}
	net := dir + "/net/" + c.net
	if c.virtio != "" {
		net = dir + "/virtio0/net/" + c.net
		s.file(dir+"/virtio0/features", strings.Repeat("0", 33)+c.virtio+strings.Repeat("0", 30)+"\n")
	}
	s.file(net+"/address", c.mac+"\n")
	s.file(net+"/type", "1\n")
	s.file(net+"/queues/tx-0/x", "")
	s.file(net+"/queues/tx-1/x", "")
	s.file(net+"/device/x", "")
	s.link("class/net/"+c.net, "../../"+net)
}

func (s *tree) find() []Device {
	s.t.Helper()
	all, err := Find(s.root)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

func TestCardsAreFound(t *testing.T) {
	s := newTree(t)
	s.card(card{address: "0000:00:05.0", ids: "8086:10d3", driver: "uio_pci_generic", pin: 1})
	s.card(card{address: "0000:00:04.0", ids: "1af4:1000", driver: "virtio-pci", net: "eth1", mac: "52:54:00:00:00:02", pin: 1, virtio: "0"})
	s.card(card{address: "0000:00:1f.2", ids: "8086:2922", class: "010601", driver: "ahci"})
	s.file("bus/vmbus/x/net/eth9/address", "00:15:5d:00:00:01\n")
	s.file("bus/vmbus/x/net/eth9/type", "1\n")
	s.link("bus/vmbus/x/net/eth9/device", "../..")
	s.link("bus/vmbus/x/driver", "../../bus/vmbus/drivers/hv_netvsc")
	s.link("class/net/eth9", "../../bus/vmbus/x/net/eth9")
	s.file("class/net/lo/type", "772\n")
	all := s.find()
	var got []string
	for _, d := range all {
		got = append(got, fmt.Sprintf("%s %s %s %s %d %v", d.Address, d.Driver, d.Net, d.MAC, d.Queues, d.INTx))
	}
	want := []string{"0000:00:04.0 virtio-pci eth1 52:54:00:00:00:02 2 true", "0000:00:05.0 uio_pci_generic   0 true", " hv_netvsc eth9 00:15:5d:00:00:01 0 false"}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if none, err := Find(filepath.Join(s.root, "not-there")); err != nil || len(none) != 0 {
		t.Errorf("a machine without a bus has %v, %v", none, err)
	}
}

func TestHowCardsAreDriven(t *testing.T) {
	for _, row := range []struct {
		name   string
		c      card
		more   []card
		locked bool
		want   string // driver, "share", "kernel" or "none"
		note   string
	}{
		{name: "virtio with an interrupt line", c: card{ids: "1af4:1000", net: "e", virtio: "0", pin: 1}, want: uio},
		{name: "e1000e without a kernel driver", c: card{ids: "8086:10d3", pin: 1}, want: uio},
		{name: "vmxnet3", c: card{ids: "15ad:07b0", net: "e", pin: 1}, want: uio},
		{name: "behind an IOMMU", c: card{ids: "8086:10d3", pin: 1, group: "3"}, want: vfio},
		{name: "virtio behind an IOMMU", c: card{ids: "1af4:1041", net: "e", virtio: "1", pin: 1, group: "3"}, want: vfio},
		{name: "virtio that bypasses the IOMMU", c: card{ids: "1af4:1041", net: "e", virtio: "0", pin: 1, group: "3"}, want: uio},
		{name: "locked down behind an IOMMU", c: card{ids: "8086:1572", net: "e", pin: 1, group: "3"}, locked: true, want: vfio},
		{name: "locked down", c: card{ids: "1af4:1000", net: "e", virtio: "0", pin: 1}, locked: true, want: "kernel", note: "locked down (Secure Boot)"},
		{name: "locked down and no kernel driver", c: card{ids: "8086:10d3", pin: 1}, locked: true, want: "none", note: "locked down"},
		{name: "a virtual function", c: card{ids: "8086:1889", net: "e", virtual: true}, want: "kernel", note: "no interrupt line"},
		{name: "a virtual function behind an IOMMU", c: card{ids: "8086:1889", net: "e", virtual: true, group: "1"}, want: vfio},
		{name: "ENA without an IOMMU", c: card{ids: "1d0f:ec20", net: "e"}, want: "kernel", note: "no interrupt line"},
		{name: "bifurcated", c: card{ids: "15b3:1017", driver: "mlx5_core", net: "e", pin: 1, group: "1"}, want: "share"},
		{name: "bifurcated without its driver", c: card{ids: "15b3:1017"}, want: "none", note: "mlx5_core"},
		{name: "unknown", c: card{ids: "10ec:8168", net: "e", pin: 1}, want: "kernel", note: "no DPDK driver"},
		{name: "unknown to all", c: card{ids: "10ec:8168", pin: 1}, want: "none", note: "no driver for it either"},
		{name: "a group with a stranger", c: card{ids: "8086:10d3", net: "e", pin: 1, group: "3"}, more: []card{{address: "0000:00:06.0", ids: "8086:1", class: "010601", group: "3"}},
			want: "kernel", note: "apart from device 0000:00:06.0"},
		{name: "a group with a bridge and another port", c: card{ids: "8086:10d3", net: "e", pin: 1, group: "3"},
			more: []card{{address: "0000:00:06.0", ids: "8086:1", class: "060400", group: "3"}, {address: "0000:00:07.0", ids: "8086:10d3", group: "3"}}, want: vfio},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newTree(t)
			row.c.address = "0000:00:04.0"
			s.card(row.c)
			for _, c := range row.more {
				s.card(c)
			}
			d := s.find()[0]
			got, err := d.Choose(Machine{Locked: row.locked, Data: []string{"0000:00:04.0", "0000:00:07.0"}})
			is := got.Driver
			switch {
			case err != nil:
				is = "none"
			case got.PCI && got.Driver == "":
				is = "share"
			case !got.PCI:
				is = "kernel"
			}
			said := got.Note
			if err != nil {
				said = err.Error()
			}
			if is != row.want || !strings.Contains(said, row.note) || (said != "") != (row.note != "") {
				t.Errorf("it is driven by %s, %q, want %s, %q", is, said, row.want, row.note)
			}
			if said != "" && !strings.Contains(said, d.Address) {
				t.Errorf("the sentence does not name the card: %s", said)
			}
		})
	}
}

func TestLockdownIsSeen(t *testing.T) {
	for text, want := range map[string]bool{"[none] integrity confidentiality": false, "none [integrity] confidentiality": true, "": false} {
		s := newTree(t)
		s.file("kernel/security/lockdown", text+"\n")
		if Locked(s.root) != want {
			t.Errorf("%q is locked: %v", text, !want)
		}
	}
}

func dev(address, mac, driver, net string) Device {
	d := Device{Address: address, MAC: mac, Driver: driver, Net: net, Vendor: intel}
	if strings.HasPrefix(driver, "virtio") {
		d.Vendor = virtio
	}
	return d
}

func (p Plan) text() string {
	s := "-"
	if p.Management != nil {
		s = p.Management.ID()
	}
	for _, x := range p.Ports {
		s += " " + x.Name + "=" + x.ID()
	}
	return s
}

func TestNamesAreStable(t *testing.T) {
	a, b, c := dev("0000:00:03.0", "aa", "virtio-pci", "eth0"), dev("0000:00:04.0", "bb", "virtio-pci", "eth1"), dev("0000:00:05.0", "cc", "virtio-pci", "eth2")
	noMAC := dev("0000:00:06.0", "", "", "")
	r := &record.Record{}
	for _, row := range []struct {
		name string
		all  []Device
		want string
		note string
	}{
		{"the first start", []Device{a, b}, "aa 1/1=bb", ""},
		{"a card is added before the others", []Device{dev("0000:00:02.0", "cc", "virtio-pci", "eth0"), a, b}, "aa 1/1=bb 1/2=cc", ""},
		{"one is taken out", []Device{a, c}, "aa 1/2=cc", "card bb of port 1/1 is not there"},
		{"it comes back in another slot", []Device{a, c, dev("0000:00:09.0", "BB", "virtio-pci", "eth2")}, "aa 1/1=BB 1/2=cc", ""},
		{"one of which the kernel tells no MAC address", []Device{a, b, c, noMAC}, "aa 1/1=bb 1/2=cc 1/3=0000:00:06.0", ""},
		{"the management card is missing", []Device{b, c, noMAC}, "- 1/1=bb 1/2=cc 1/3=0000:00:06.0", "management card aa is not there"},
		{"and another one is in its place", []Device{dev("0000:00:03.0", "dd", "virtio-pci", "eth0"), b, c, noMAC}, "dd 1/1=bb 1/2=cc 1/3=0000:00:06.0", "management card aa"},
	} {
		p := Assign(row.all, r)
		if got := p.text(); got != row.want || !strings.Contains(strings.Join(p.Notes, "\n"), row.note) || row.note == "" && len(p.Notes) > 0 {
			t.Errorf("%s: %s, %q, want %s, %q", row.name, got, p.Notes, row.want, row.note)
		}
	}
	if r.Management != "aa" {
		t.Errorf("the record's management card has become %s", r.Management)
	}
}

func TestWhichCardIsForManagement(t *testing.T) {
	igb, virt, none := dev("0000:01:00.0", "aa", "igb", "eth0"), dev("0000:02:00.0", "bb", "virtio-pci", "eth1"), dev("0000:00:01.0", "", "", "")
	for _, row := range []struct {
		name, record string
		all          []Device
		want         string
		note         string
	}{
		{"virtio before others", "", []Device{igb, virt}, "bb 1/1=aa", ""},
		{"the first one with a driver", "", []Device{none, igb}, "aa 1/1=0000:00:01.0", ""},
		{"as the record says", "AA", []Device{igb, virt}, "aa 1/1=bb", ""},
		{"none, by the record", record.AllData, []Device{igb, virt}, "- 1/1=aa 1/2=bb", ""},
		{"a single card", "", []Device{virt}, "bb", "no network card for data"},
		{"a single card for both", record.AllData, []Device{virt}, "- 1/1=bb", ""},
		{"no card at all", "", nil, "-", "no network card for data"},
	} {
		p := Assign(row.all, &record.Record{Management: row.record})
		if got := p.text(); got != row.want || !strings.Contains(strings.Join(p.Notes, "\n"), row.note) || row.note == "" && len(p.Notes) > 0 {
			t.Errorf("%s: %s, %q, want %s, %q", row.name, got, p.Notes, row.want, row.note)
		}
	}
}

func TestNoMorePortsThanADataplaneServes(t *testing.T) {
	var all []Device
	for i := range 20 {
		all = append(all, dev(fmt.Sprintf("0000:00:%02x.0", i), fmt.Sprintf("m%d", i), "virtio-pci", fmt.Sprintf("eth%d", i)))
	}
	p := Assign(all, &record.Record{})
	if len(p.Ports) != MostPorts || len(p.Notes) != 3 {
		t.Errorf("%d ports and %q", len(p.Ports), p.Notes)
	}
}

// TestHandedOverCardsAreRecalled: once a card is handed over the kernel does not tell its MAC address, and start may be repeated.
func TestHandedOverCardsAreRecalled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nics.json")
	before := []Device{{Address: "0000:00:04.0", MAC: "bb", Queues: 4, Net: "eth1", Bypasses: true}, {Net: "eth9", MAC: "cc"}}
	if err := Recall(before, path); err != nil {
		t.Fatal(err)
	}
	for range 2 { // what is recalled is written down again
		after := []Device{{Address: "0000:00:04.0", Driver: uio}, {Address: "0000:00:05.0"}, {Net: "eth9"}}
		if err := Recall(after, path); err != nil {
			t.Fatal(err)
		}
		if d := after[0]; d.MAC != "bb" || d.Queues != 4 || d.Net != "" || !d.Bypasses || after[1].MAC != "" || after[2].MAC != "" {
			t.Errorf("recalled are %+v", after)
		}
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Recall([]Device{{Address: "0000:00:04.0"}}, path); err != nil {
		t.Errorf("a file that was half written: %v", err)
	}
}

func TestCardIsBound(t *testing.T) {
	s := newTree(t)
	s.card(card{address: "0000:00:04.0", ids: "8086:10d3", driver: "e1000e"})
	if err := Bind(s.root, "0000:00:04.0", "e1000e"); err != nil {
		t.Errorf("a card that is bound already: %v", err)
	}
	if err := Bind(s.root, "0000:00:04.0", vfio); err == nil || !strings.Contains(err.Error(), "no driver vfio-pci") {
		t.Errorf("without the driver: %v", err)
	}
	// The kernel's part is played: whoever writes to unbind and to drivers_probe finds the link changed.
	s.file("bus/pci/drivers/vfio-pci/x", "")
	s.file("bus/pci/drivers/e1000e/unbind", "")
	s.file("bus/pci/drivers_probe", "")
	s.file("bus/pci/devices/0000:00:04.0/driver_override", "")
	done := make(chan error, 1)
	go func() { done <- Bind(s.root, "0000:00:04.0", vfio) }()
	probe := filepath.Join(s.root, "bus/pci/drivers_probe")
	for {
		if text, _ := os.ReadFile(probe); string(text) == "0000:00:04.0" {
			break
		}
		select {
		case err := <-done:
			t.Fatalf("it ended early: %v", err)
		default:
		}
	}
	link := filepath.Join(s.root, "bus/pci/devices/0000:00:04.0/driver")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	s.link("bus/pci/devices/0000:00:04.0/driver", "../../../../bus/pci/drivers/vfio-pci")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if text, _ := os.ReadFile(filepath.Join(s.root, "bus/pci/devices/0000:00:04.0/driver_override")); string(text) != vfio {
		t.Errorf("driver_override is %q", text)
	}
}
