package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/tests/lab/topology"
)

// full leaves out a row that takes long unless all are asked for: it is run by FULL=1, and is no skipped test.
func full() bool { return os.Getenv("FULL") != "" }

// TestByShell: the same VIP, but typed over SSH into a machine that user-data has only told how to get in; the ports are cards of other
// kinds. Each row is one boot.
func TestByShell(t *testing.T) {
	rows := []struct {
		name, model string
		more        []string
		extra       string
	}{
		{"e1000e", "e1000e", nil, ""},
		{"vmxnet3", "vmxnet3", nil, ""},
		{"vfio", "virtio-net-pci,disable-legacy=on,iommu_platform=on,ats=on", []string{"-device", "intel-iommu,intremap=on,caching-mode=on"}, ""},
	}
	if !full() {
		rows = nil
	}
	for i, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			g := newMachine(t, i%topology.Guests, r.model)
			g.spec.More = r.more
			if err := g.seed(g.userData("")); err != nil {
				t.Fatal(err)
			}
			if err := g.start(); err != nil {
				t.Fatal(err)
			}
			if err := g.ready(patience); err != nil {
				t.Fatal(err)
			}
			if out, err := g.Script(topology.BasicScript() + "save ns config\n"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if err := g.Settled(patience, "web"); err != nil {
				t.Fatal(err)
			}
			served(t, 30)
			out, _ := g.Shell("show interface")
			t.Log(out)
			g.stop()
		})
	}
}

// TestDataplaneFails: one that is killed, and one that hangs, is started again by the machine, which says so on its console.
func TestDataplaneFails(t *testing.T) {
	if !full() {
		return
	}
	g := newMachine(t, 0, "virtio-net-pci")
	g.boot(t, g.userData(topology.BasicScript()))
	for _, r := range []struct{ name, signal, said string }{{"killed", "KILL", "sluice-dataplane.service: Main process exited"}, {"hung", "STOP", "sluice-dataplane.service: Watchdog timeout"}} {
		first := g.process(t, "sluice-dataplane")
		began := time.Now()
		g.do(t, "shell kill -"+r.signal+" "+first)
		if _, err := g.vm.Console.Wait(patience, r.said); err != nil {
			t.Fatal(err)
		}
		if err := topology.Eventually(patience, func() error {
			return lab.Run("client", "curl", "-sS", "-m", "1", "-o", "/dev/null", "http://"+topology.VIP+"/")
		}); err != nil {
			t.Fatal(err)
		}
		t.Logf("dataplane %s: served again after %.1f s", r.name, time.Since(began).Seconds())
		if now := g.process(t, "sluice-dataplane"); now == first {
			t.Errorf("%s: the same process goes on", r.name)
		}
	}
}

// process is the number of a program's process in the machine.
func (g *guest) process(t *testing.T, program string) string {
	t.Helper()
	out, err := g.Shell("shell pidof " + program)
	if f := strings.Fields(out); err == nil && len(f) > 0 {
		return f[0]
	}
	t.Fatalf("pidof %s: %v: %s", program, err, out)
	return ""
}

// TestPoorMachines: whatever a machine lacks, it says so on the console and can be reached there.
func TestPoorMachines(t *testing.T) {
	rows := []struct {
		name string
		poor func(g *guest)
		want string
	}{
		{"a CPU without SSE4.2", func(g *guest) { g.spec.CPU = "qemu64" }, "lacks SSE4.2"},
		{"little memory", func(g *guest) { g.spec.Memory = 512 }, "MiB of memory for use"},
		{"no card for data", func(g *guest) { g.spec.NICs = g.spec.NICs[:1] }, "no network card for data"},
		{"a damaged configuration partition", (*guest).damage, "configuration"},
		{"wrong user-data", func(g *guest) {
			if err := g.seed("#cloud-config\nhostname: [\nsluice: {colour: blue}\n"); err != nil {
				panic(err)
			}
		}, "user-data"},
	}
	if !full() {
		rows = nil
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			g := newMachine(t, 0, "virtio-net-pci")
			if err := g.seed(g.userData("")); err != nil {
				t.Fatal(err)
			}
			r.poor(g)
			if err := g.start(); err != nil {
				t.Fatal(err)
			}
			if _, err := g.vm.Console.Wait(patience, "\nSluice "); err != nil { // the greeting of the console
				t.Fatal(err)
			}
			if err := topology.Eventually(patience, func() error {
				if text := g.vm.Console.Text(); !strings.Contains(text, r.want) {
					return errNotSaid{r.want}
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			for _, line := range strings.Split(g.vm.Console.Text(), "\n") {
				if strings.Contains(line, "sluice:") || strings.HasPrefix(line, "!") {
					t.Log(strings.TrimSpace(line))
				}
			}
			g.stop()
		})
	}
}

// damage overwrites the beginning of the configuration partition, on the machine's own disk.
func (g *guest) damage() {
	text, err := exec.Command("sfdisk", "-J", filepath.Join(images, "sluice-vm.raw")).Output()
	var table struct {
		PartitionTable struct {
			Partitions []struct {
				Start int64 // sectors
				Name  string
			}
		}
	}
	if err == nil {
		err = json.Unmarshal(text, &table)
	}
	for _, p := range table.PartitionTable.Partitions {
		if p.Name == "sluice-config" {
			err = run("qemu-io", "-f", "qcow2", "-c", fmt.Sprintf("write -P 0x5a %d 1M", p.Start*512), filepath.Join(g.spec.Dir, g.spec.Disk))
		}
	}
	if err != nil {
		panic(err)
	}
}

type errNotSaid struct{ want string }

func (e errNotSaid) Error() string { return "the console does not say " + e.want }
