package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sluice/image/record"
	"sluice/vendor-config/platforms"
)

// box is a machine of files, on which a start is played.
type box struct {
	t       *testing.T
	root    string
	bound   []string
	unbound error             // what binding says
	written map[string]string // kernel arguments
	noBoot  error             // why the boot environment cannot be written
}

func newBox(t *testing.T) *box {
	b := &box{t: t, root: t.TempDir(), written: map[string]string{}}
	b.cpu(2, "QEMU TCG CPU version 2.5+", "fpu sse4_2 hypervisor")
	b.file("proc/meminfo", "MemTotal:        1000000 kB\n")
	b.file("proc/cmdline", "quiet\n")
	b.file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n")
	b.file("config/x", "")
	b.card("0000:00:03.0", "eth0", "52:54:00:00:00:01", 1)
	b.card("0000:00:04.0", "eth1", "52:54:00:00:00:02", 1)
	b.card("0000:00:05.0", "eth2", "52:54:00:00:00:03", 1)
	return b
}

func (b *box) file(name, text string) {
	b.t.Helper()
	path := filepath.Join(b.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) cpu(n int, name, flags string) {
	text := ""
	for i := range n {
		text += fmt.Sprintf("processor\t: %d\nmodel name\t: %s\nflags\t\t: %s\n\n", i, name, flags)
	}
	b.file("proc/cpuinfo", text)
}

func (b *box) card(address, net, mac string, queues int) {
	dir := "sys/bus/pci/devices/" + address
	b.file(dir+"/vendor", "0x1af4\n")
	b.file(dir+"/device", "0x1000\n")
	b.file(dir+"/class", "0x020000\n")
	b.file(dir+"/config", strings.Repeat("\x01", 64))
	b.file(dir+"/net/"+net+"/address", mac+"\n")
	for i := range queues {
		b.file(fmt.Sprintf("%s/net/%s/queues/tx-%d/x", dir, net, i), "")
	}
	b.file("sys/class/net/"+net+"/address", mac+"\n")
}

func (b *box) start() []string {
	b.t.Helper()
	at := func(name string) string { return filepath.Join(b.root, name) }
	say, err := (&beginning{sys: at("sys"), proc: at("proc"), config: at("config"), run: at("run"), root: b.root,
		load: func(...string) error { return nil },
		bind: func(_, address, driver string) error {
			if b.unbound == nil {
				b.bound = append(b.bound, address+" "+driver)
			}
			return b.unbound
		},
		args: func(_ string, values map[string]string) (bool, error) {
			changed := false
			for k, v := range values {
				changed = changed || b.written[k] != v
				b.written[k] = v
			}
			return changed, b.noBoot
		},
	}).ready()
	if err != nil {
		b.t.Fatal(err)
	}
	return say
}

// settings are a program's settings after a start; nil if there are none.
func (b *box) settings(name string) (m map[string]any) {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.root, "run", name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = yaml.Unmarshal(text, &m)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return m
}

func (b *box) says(say []string, want string) {
	b.t.Helper()
	if !slices.ContainsFunc(say, func(s string) bool { return strings.Contains(s, want) }) {
		b.t.Errorf("it says %q, want %q among it", say, want)
	}
}

func TestStartOfANewBox(t *testing.T) {
	b := newBox(t)
	for range 2 { // it may be repeated
		if say := b.start(); len(say) > 0 {
			t.Errorf("a sound machine says %q", say)
		}
		got := fmt.Sprint(b.settings(dataplaneFile))
		want := "map[busy:false flows:65536 huge:true lcores:[1] memory:64 ports:[map[name:1/1 pci:0000:00:04.0 twin:tw0] map[name:1/2 pci:0000:00:05.0 twin:tw1]] sessions:16384]"
		if got != want {
			t.Errorf("the dataplane's settings are\n%s, want\n%s", got, want)
		}
		m := b.settings(managementFile)
		if fmt.Sprint(m["management"]) != "map[device:eth0 name:0/1]" || len(m["ports"].([]any)) != 2 || m["users"] != nil {
			t.Errorf("management's settings are %v", m)
		}
	}
	if !slices.Contains(b.bound, "0000:00:04.0 uio_pci_generic") || slices.ContainsFunc(b.bound, func(s string) bool { return strings.Contains(s, "00:03.0") }) {
		t.Errorf("bound are %q", b.bound)
	}
	r, err := record.Read(filepath.Join(b.root, "config/boot.yaml"))
	if err != nil || r.Management != "52:54:00:00:00:01" || len(r.Ports) != 2 {
		t.Errorf("the record is %+v, %v", r, err)
	}
	text, err := os.ReadFile(filepath.Join(b.root, "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"))
	if err != nil || string(text) != "39" { // 64 MiB for packets, 6 for flows and sessions, 8 for a worker
		t.Errorf("%s huge pages are set aside, %v", text, err)
	}
	if len(b.written) > 0 {
		t.Errorf("kernel arguments are written: %v", b.written)
	}
}

func TestUsersOfTheRecordMayLogIn(t *testing.T) {
	b := newBox(t)
	r := &record.Record{Users: []record.User{{Name: "nsroot", PasswordHash: "$h", AuthorizedKeys: []string{"ssh-ed25519 A", "ssh-ed25519 B"}}, {Name: "nobody"}}}
	if err := r.Write(filepath.Join(b.root, "config/boot.yaml")); err != nil {
		t.Fatal(err)
	}
	b.start()
	users := b.settings(managementFile)["users"].([]any)
	if len(users) != 1 {
		t.Fatalf("users are %v, want the one who has a password", users)
	}
	u := users[0].(map[string]any)
	keys, err := os.ReadFile(u["authorized-keys"].(string))
	if err != nil || string(keys) != "ssh-ed25519 A\nssh-ed25519 B\n" || u["password-hash"] != "$h" {
		t.Errorf("the user is %v with keys %q, %v", u, keys, err)
	}
	for _, f := range []string{managementFile, dataplaneFile, filepath.Base(u["authorized-keys"].(string))} {
		if info, err := os.Stat(filepath.Join(b.root, "run", f)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v, want mode 0600", f, info.Mode(), err)
		}
	}
}

func TestWhatTheMachineLacks(t *testing.T) {
	for _, row := range []struct {
		name    string
		change  func(*box)
		says    string
		forward bool // the dataplane has settings
	}{
		{"no SSE4.2", func(b *box) { b.cpu(2, "QEMU Virtual CPU", "fpu sse2 hypervisor") }, "lacks SSE4.2", false},
		{"too little memory", func(b *box) { b.file("proc/meminfo", "MemTotal: 500000 kB\n") }, "488 MiB of memory", true},
		{"one CPU", func(b *box) { b.cpu(1, "AMD EPYC", "sse4_2 hypervisor") }, "one CPU", true},
		{"nothing is known", func(b *box) { os.RemoveAll(filepath.Join(b.root, "proc")) }, "does not tell how much memory", true},
		{"no card for data", func(b *box) {
			os.RemoveAll(filepath.Join(b.root, "sys/bus/pci/devices/0000:00:04.0"))
			os.RemoveAll(filepath.Join(b.root, "sys/bus/pci/devices/0000:00:05.0"))
		}, "no network card for data", false},
		{"no card", func(b *box) { os.RemoveAll(filepath.Join(b.root, "sys/bus/pci/devices")) }, "no network card for data", false},
		{"no huge pages", func(b *box) { os.RemoveAll(filepath.Join(b.root, "sys/kernel/mm")) }, "no huge pages of 2 MiB", true},
		{"a damaged record", func(b *box) { b.file("config/boot.yaml", "ports: 7\n") }, "is damaged", true},
		{"a configuration that cannot be written", func(b *box) { os.RemoveAll(filepath.Join(b.root, "config")) }, "names of ports may change", true},
		{"a profile that is not there", func(b *box) { b.file("config/boot.yaml", "platform: moon\n") }, `no platform profile "moon"`, true},
		{"a locked kernel", func(b *box) { b.file("sys/kernel/security/lockdown", "none [integrity]\n") }, "locked down (Secure Boot)", true},
		{"a driver that takes no card", func(b *box) { b.unbound = errors.New("the driver does not take it") }, "port 1/1: the driver does not take it", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBox(t)
			row.change(b)
			b.says(b.start(), row.says)
			if got := b.settings(dataplaneFile) != nil; got != row.forward {
				t.Errorf("the dataplane has settings: %v, want %v", got, row.forward)
			}
			if got := b.settings(managementFile) != nil; got != (row.name != "no SSE4.2") {
				t.Errorf("management has settings: %v", got)
			}
		})
	}
}

// TestCardsThatCannotBeHandedOverGoThroughTheKernel: the port works all the same.
func TestCardsThatCannotBeHandedOverGoThroughTheKernel(t *testing.T) {
	b := newBox(t)
	b.file("sys/kernel/security/lockdown", "none [integrity]\n")
	b.start()
	m := b.settings(dataplaneFile)
	if got := fmt.Sprint(m["ports"], m["huge"]); got != "[map[device:eth1 name:1/1 twin:tw0] map[device:eth2 name:1/2 twin:tw1]] false" {
		t.Errorf("the ports are %s", got)
	}
	if len(b.bound) > 0 {
		t.Errorf("bound are %q", b.bound)
	}
}

func TestRestartIsAskedForWhenHugePagesAreShort(t *testing.T) {
	b := newBox(t)
	s := platforms.Size{Workers: 1, Memory: 64, Flows: 65536, Sessions: 16384}
	begin := &beginning{sys: filepath.Join(b.root, "sys"), root: b.root, args: func(_ string, v map[string]string) (bool, error) {
		changed := b.written["hp"] != v["hp"]
		b.written["hp"] = v["hp"]
		return changed, b.noBoot
	}}
	short := func(string, int) (int, error) { return 30, nil }
	got, say := begin.pages(s, record.Overrides{}, short)
	if b.written["hp"] != "39" || got.Memory != 32 {
		t.Errorf("hp=%s and %d MiB for packets, want 39 and 32", b.written["hp"], got.Memory)
	}
	b.says(say, "restart the machine")
	_, say = begin.pages(s, record.Overrides{}, short)
	if slices.ContainsFunc(say, func(s string) bool { return strings.Contains(s, "restart") }) {
		t.Errorf("it asks for a restart again: %q", say)
	}
	b.noBoot = errors.New("no boot partition")
	_, say = begin.pages(s, record.Overrides{}, short)
	b.says(say, "no boot partition")
}

func TestWorkersAndTheirCPUs(t *testing.T) {
	b := newBox(t)
	b.cpu(8, "Intel Xeon Gold", "sse4_2") // no hypervisor
	b.file("proc/meminfo", "MemTotal: 16000000 kB\n")
	say := b.start()
	b.says(say, "1 workers run in the place of 4: the network card of port 1/1 has 1 queues")
	b.says(say, "CPUs 7 are kept for packets from the next start on")
	if m := b.settings(dataplaneFile); fmt.Sprint(m["busy"], m["lcores"]) != "true [7]" || b.written["isol"] != "7" {
		t.Errorf("settings are %v, isol=%s", m, b.written["isol"])
	}
	if again := b.start(); slices.ContainsFunc(again, func(s string) bool { return strings.Contains(s, "next start") }) {
		t.Errorf("it is said again: %q", again)
	}
	for i, net := range []string{"eth0", "eth1", "eth2"} {
		b.card(fmt.Sprintf("0000:00:%02x.0", i+3), net, fmt.Sprintf("52:54:00:00:00:%02x", i+1), 4)
	}
	b.start()
	if m := b.settings(dataplaneFile); fmt.Sprint(m["lcores"]) != "[4 5 6 7]" || b.written["isol"] != "4-7" {
		t.Errorf("with 4 queues settings are %v, isol=%s", m, b.written["isol"])
	}
	b.file("config/boot.yaml", "overrides: {workers: 2, busy: false, isolate: none, memory: 96, flows: 4096}\nmanagement: 52:54:00:00:00:01\n")
	b.file("proc/cmdline", "isolcpus=managed_irq,domain,4-7\n")
	b.start()
	if m := b.settings(dataplaneFile); fmt.Sprint(m["busy"], m["lcores"], m["memory"], m["flows"]) != "false [6 7] 96 4096" || b.written["isol"] != "" {
		t.Errorf("with overrides settings are %v, isol=%s", m, b.written["isol"])
	}
}

func TestTwins(t *testing.T) {
	for name, want := range map[string]string{"1/1": "tw0", "1/16": "tw15", "2/1": "tw-2-1", "LA/1": "tw-LA-1"} {
		if got := twin(name); got != want {
			t.Errorf("the twin of %s is %s, want %s", name, got, want)
		}
	}
}
