package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dialogue answers what the console asks.
func (g *guest) dialogue(t *testing.T, steps ...[2]string) {
	t.Helper()
	for _, s := range steps {
		if _, err := g.vm.Console.Wait(patience, s[0]); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s[0], "assword") || strings.Contains(s[0], "again") { // the terminal shows nothing from a moment after the question on
			time.Sleep(2 * time.Second)
		}
		if err := g.vm.Console.Type(s[1] + "\r"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWizard: a machine that is told nothing asks on its console, and lets in by the network whom it was told then and there.
func TestWizard(t *testing.T) {
	if !full() {
		return
	}
	g := newMachine(t, 0, "virtio-net-pci")
	if err := g.start(); err != nil {
		t.Fatal(err)
	}
	const secret = "Typed by hand 1"
	g.dialogue(t, [2]string{"nobody can log in by the network", ""}, [2]string{"or dhcp", "10.9.0.77/24"}, [2]string{"Default gateway", ""}, [2]string{"Host name", "typed"},
		[2]string{"Password of nsroot: ", secret}, [2]string{"again: ", secret}, [2]string{"Is that right?", "yes"},
		[2]string{"login: ", "nsroot"}, [2]string{"assword: ", secret}, [2]string{"> ", "show ns config"}, [2]string{"10.9.0.77", "save ns config"}, [2]string{"Done", "exit"}, [2]string{"login: ", ""})
	if strings.Contains(g.vm.Console.Text(), secret) {
		t.Error("the console shows the password")
	}
}

// TestFirstBootSources: a disc of the reference product's kind, QEMU's fw_cfg, and strings of the firmware.
func TestFirstBootSources(t *testing.T) {
	if !full() {
		return
	}
	commands := "set system user nsroot \"Told at boot 1\"\nset ns hostName told\nadd server told 10.2.0.99\n"
	for name, tell := range map[string]func(g *guest) error{
		"NetScaler userdata": func(g *guest) error {
			dir := filepath.Join(g.spec.Dir, "disc")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, "userdata"), []byte("<NS-PRE-BOOT-CONFIG><NS-CONFIG>\n"+commands+"</NS-CONFIG></NS-PRE-BOOT-CONFIG>\n"), 0o644); err != nil {
				return err
			}
			g.spec.Volumes = []string{"disc.iso"}
			return run("xorrisofs", "-quiet", "-V", "anything", "-o", filepath.Join(g.spec.Dir, "disc.iso"), dir)
		},
		"QEMU fw_cfg": func(g *guest) error {
			g.spec.More = []string{"-fw_cfg", "name=opt/org.sluice/user-data,file=told"}
			return os.WriteFile(filepath.Join(g.spec.Dir, "told"), []byte("#sluice\n"+commands), 0o644)
		},
		"SMBIOS strings": func(g *guest) error {
			g.spec.More = []string{"-smbios", "type=11,value=org.sluice.hostname=told,value=org.sluice.password=Told at boot 1"}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newMachine(t, 0, "virtio-net-pci")
			if err := tell(g); err != nil {
				t.Fatal(err)
			}
			if err := g.start(); err != nil {
				t.Fatal(err)
			}
			g.dialogue(t, [2]string{"login: ", "nsroot"}, [2]string{"assword: ", "Told at boot 1"}, [2]string{"> ", "show ns hostName"}, [2]string{"Hostname: told", "exit"}, [2]string{"login: ", ""})
			g.stop()
		})
	}
}
