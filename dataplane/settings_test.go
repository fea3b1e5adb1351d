package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func settingsFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dataplane.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const onePort = "ports: [{name: \"1/1\", device: da, twin: tw0}]\n"

func TestSettingsAreRead(t *testing.T) {
	got, err := readSettings(settingsFile(t, "socket: /tmp/a.sock\nlcore: 1\nmemory: 128\nhuge: true\nfile-prefix: p\nflows: 4096\nsessions: 5000\ntable-memory: 9\nbusy: true\n"+
		"eal-args: [--log-level, debug]\nports:\n  - {name: \"1/1\", device: da, twin: tw0}\n  - {name: \"1/2\", device: db, twin: tw1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := &settings{
		Ports:  []portSetting{{Name: "1/1", Device: "da", Twin: "tw0"}, {Name: "1/2", Device: "db", Twin: "tw1"}},
		Socket: "/tmp/a.sock", Lcore: 1, Memory: 128, Huge: true, FilePrefix: "p", Flows: 4096, Sessions: 5000, Tables: 9, Busy: true,
		EALArgs: []string{"--log-level", "debug"}, Lcores: []int{},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("settings are %+v, want %+v", got, want)
	}
	if ds := got.devices(); len(ds) != 2 || ds[1].Twin != "tw1" {
		t.Errorf("devices are %v", ds)
	}
}

func TestSettingsOfPCIPorts(t *testing.T) {
	s, err := readSettings(settingsFile(t, "huge: true\nports:\n  - {name: \"1/1\", pci: \"0000:00:04.0\", twin: tw0}\n  - {name: \"1/2\", device: db, twin: tw1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := s.devices(); d[0].PCI != "0000:00:04.0" || d[0].Device != "" || d[1].PCI != "" {
		t.Errorf("devices are %+v", d)
	}
	if e := s.eal(); !slices.Equal(e.PCI, []string{"0000:00:04.0"}) {
		t.Errorf("DPDK drives %q itself", e.PCI)
	}
	for line, want := range map[string]string{
		`{name: "1/1", pci: "0000:00:04.0", device: da, twin: tw0}`:                                    "both a device and a pci address",
		`{name: "1/1", pci: "00:04", twin: tw0}`:                                                       "no PCI address",
		`{name: "1/1", twin: tw0}`:                                                                     "a device or a pci address",
		`{name: "1/1", pci: "0000:00:04.0", twin: tw0}, {name: "1/2", pci: "0000:00:04.0", twin: tw1}`: "device 0000:00:04.0 stands twice",
	} {
		if _, err := readSettings(settingsFile(t, "ports: ["+line+"]\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}

func TestSettingsDefaultsAndEnvironment(t *testing.T) {
	t.Setenv("SLUICE_DATAPLANE_FILE_PREFIX", "from-env")
	t.Setenv("SLUICE_DATAPLANE_FLOWS", "2048")
	s, err := readSettings(settingsFile(t, onePort))
	if err != nil {
		t.Fatal(err)
	}
	if s.Socket != "/run/sluice/dataplane.sock" || s.Memory != 64 || s.Huge || s.Busy || s.FilePrefix != "from-env" || s.Flows != 2048 || s.Sessions != 1<<18 {
		t.Errorf("settings are %+v", s)
	}
}

func TestLcoresAreTheWorkers(t *testing.T) {
	for text, want := range map[string][]int{"": {0}, "lcore: 3\n": {3}, "lcores: [1]\n": {1}, "lcores: [0, 1]\n": {0, 1}, "lcores: [1, 1, 0, 0]\n": {1, 1, 0, 0}} {
		s, err := readSettings(settingsFile(t, onePort+text))
		if err != nil || !slices.Equal(s.lcores(), want) || !slices.Equal(s.eal().Lcores, want) {
			t.Errorf("%q gives the workers %v, %v, want %v", text, s.lcores(), err, want)
		}
	}
	t.Setenv("SLUICE_DATAPLANE_LCORES", "0,1")
	if s, err := readSettings(settingsFile(t, onePort)); err != nil || !slices.Equal(s.lcores(), []int{0, 1}) {
		t.Errorf("the environment gives the workers %v, %v", s.lcores(), err)
	}
}

func TestFlowsFitTheMachine(t *testing.T) {
	if err := checkFlows(1<<20, 74<<20); err != nil {
		t.Errorf("a table that fits is refused with %v", err)
	}
	if err := checkFlows(1<<20, 73<<20); err == nil || !strings.Contains(err.Error(), "`flows` is 1048576") || !strings.Contains(err.Error(), "74 MiB") {
		t.Errorf("a table beyond the machine's memory is refused with %v", err)
	}
}

func TestBadSettingsAreNamed(t *testing.T) {
	for text, want := range map[string]string{
		onePort + "flws: 3\n": "flws",
		"ports: [{name: a, device: da, twin: tw0, speed: 3}]\n":    "speed",
		onePort + "flows: many\n":                                  "flows",
		onePort + "flows: 3\n":                                     "`flows` is 3",
		onePort + "sessions: 9\n":                                  "`sessions` is 9",
		onePort + "table-memory: -1\n":                             "`table-memory` is -1",
		onePort + "table-memory: 99999999\n":                       "`table-memory` is 99999999: this machine has ",
		onePort + "lcore: -1\n":                                    "`lcore` is -1",
		onePort + "lcores: [0, 1, 2]\n":                            "must be 1, 2, 4",
		onePort + "lcores: [0, -1]\n":                              "`lcores` is [0 -1]",
		onePort + "lcore: 1\nlcores: [0, 1]\n":                     "`lcore` and `lcores` are both set",
		onePort + "lcores: [0" + strings.Repeat(", 0", 31) + "]\n": "`lcores` lists 32 CPUs",
		"socket: /a\n":                                             "`ports` is empty",
		onePort + "socket: \"\"\n":                                 "`socket` is empty",
		onePort + "socket: /" + strings.Repeat("a", 120) + "\n":    "longer than a Unix socket's path",
		"ports: [{name: a, device: da}]\n":                         "entry 1 of `ports` needs",
		"ports: [{name: a, device: da, twin: da}]\n":               "device da stands twice",
		"ports: [{name: a, device: \"da,iface=x\", twin: tw0}]\n":  "not the name of a network device",
		"ports: [{name: a, device: abcdefghijklmnop, twin: t}]\n":  "not the name of a network device",
		"ports: [\n": "cannot be read",
	} {
		_, err := readSettings(settingsFile(t, text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is refused with %v, want one line with %q", text, err, want)
		}
	}
	many := "ports:\n"
	for i := range 17 {
		n := string(rune('a' + i))
		many += "  - {name: " + n + ", device: d" + n + ", twin: t" + n + "}\n"
	}
	if _, err := readSettings(settingsFile(t, many)); err == nil || !strings.Contains(err.Error(), "17 entries") {
		t.Errorf("17 ports are refused with %v", err)
	}
	if _, err := readSettings(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "-config") {
		t.Errorf("a missing file is refused with %v", err)
	}
}
