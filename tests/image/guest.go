package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"sluice/tests/image/machine"
	"sluice/tests/lab/topology"
)

// guest is the image in a virtual machine of the topology guest: its appliance as the operator reaches it, and the machine it runs in.
type guest struct {
	*topology.Appliance
	spec      machine.Config
	vm        *machine.Machine // the one that runs; each start makes another
	number    int
	key, hash string // of the operator
}

// MACs of the cards of virtual machine number i: management, the clients' side, the servers'.
func mac(i, card int) string { return fmt.Sprintf("52:54:00:00:%02x:%02x", i, card+1) }

// newGuest makes virtual machine number i with a disk of its own on top of the image, which stays as it is. Model is the kind of the
// cards that carry data.
func newGuest(l *topology.Lab, images string, i int, model string) (*guest, error) {
	g := &guest{Appliance: l.Guest(i), number: i}
	dir := l.Path(g.Node)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	var err error
	if g.key, g.hash, err = g.Credentials(); err != nil {
		return nil, err
	}
	image, err := filepath.Abs(filepath.Join(images, "sluice-vm.qcow2"))
	if err != nil {
		return nil, err
	}
	if err := run("qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2", "-b", image, filepath.Join(dir, "disk.qcow2")); err != nil {
		return nil, fmt.Errorf("run make image first: %w", err)
	}
	g.spec = machine.Config{
		Dir: dir, Disk: "disk.qcow2", Most: 2 * time.Hour,
		Prefix: []string{"ip", "netns", "exec", l.NS(topology.GuestNode)},
		NICs: []machine.NIC{
			{Model: "virtio-net-pci", MAC: mac(i, 0), Tap: topology.GuestTap("m", i)},
			{Model: model, MAC: mac(i, 1), Tap: topology.GuestTap("f", i)},
			{Model: model, MAC: mac(i, 2), Tap: topology.GuestTap("b", i)},
		},
	}
	return g, nil
}

// userData is what the first boot is told: how the operator gets in, and what is configured from the start.
func (g *guest) userData(commands string) string {
	type own struct {
		Management string `yaml:"management"`
		Address    string `yaml:"address"`
		Hash       string `yaml:"password-hash"`
		Commands   string `yaml:"commands,omitempty"`
	}
	text, err := yaml.Marshal(map[string]any{
		"hostname":            g.Node,
		"ssh_authorized_keys": []string{g.key},
		"sluice":              own{mac(g.number, 0), topology.GuestNSIP(g.number) + "/24", g.hash, commands},
	})
	if err != nil {
		panic(err) // of words
	}
	return "#cloud-config\n" + string(text)
}

// seed gives the machine a NoCloud volume with this user-data.
func (g *guest) seed(userData string) error {
	return g.volume("cidata", map[string]string{"user-data": userData, "meta-data": "instance-id: " + g.Node + "\n"})
}

// volume gives the machine a further disk with files, in the place of one that it had.
func (g *guest) volume(label string, files map[string]string) error {
	image := filepath.Join(g.spec.Dir, "seed.img")
	os.Remove(image)
	if err := run("mkfs.vfat", "-C", "-n", label, image, "1024"); err != nil {
		return err
	}
	for name, text := range files {
		file := filepath.Join(g.spec.Dir, "seed.part")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		if err := run("mcopy", "-o", "-i", image, file, "::"+name); err != nil {
			return err
		}
	}
	g.spec.Volumes = []string{"seed.img"}
	return nil
}

// start starts the machine, from its disk as that is.
func (g *guest) start() (err error) {
	if g.vm != nil && g.vm.Running() {
		return fmt.Errorf("the machine %s runs already", g.Node)
	}
	g.vm, err = machine.Start(g.spec)
	return err
}

// stop cuts the power, if there is any.
func (g *guest) stop() {
	if g.vm != nil {
		g.vm.Kill()
	}
}

// ready waits until the machine's shell answers and its ports are up.
func (g *guest) ready(most time.Duration) error {
	var err error
	for deadline := time.Now().Add(most); time.Now().Before(deadline); time.Sleep(time.Second) {
		if !g.vm.Running() {
			return fmt.Errorf("the machine has ended; its console says at last:\n%s", g.vm.Console.Tail())
		}
		var out string
		if out, err = g.Shell("show interface"); err == nil {
			if strings.Count(out, "ENABLED, UP, UP") >= len(g.Ports) {
				return nil
			}
			err = fmt.Errorf("ports are not up:\n%s", out)
		}
	}
	return fmt.Errorf("%w; the console says at last:\n%s", err, g.vm.Console.Tail())
}

func run(args ...string) error {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
