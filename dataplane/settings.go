package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/spf13/viper"
	"golang.org/x/sys/unix"

	"sluice/dataplane/flow"
	"sluice/dataplane/port"
	"sluice/dataplane/worker"
)

// settings are what the program is started with. They are read once, from a YAML file and the environment; what an
// operator configures never comes from here.
type settings struct {
	Ports      []portSetting `mapstructure:"ports"`        // the same list as management's
	Socket     string        `mapstructure:"socket"`       // where management connects
	Lcore      int           `mapstructure:"lcore"`        // CPU of the only worker
	Lcores     []int         `mapstructure:"lcores"`       // instead: CPU of each worker
	Memory     int           `mapstructure:"memory"`       // MiB for packets
	Huge       bool          `mapstructure:"huge"`         // take memory from hugepages
	FilePrefix string        `mapstructure:"file-prefix"`  // of DPDK's run-time files, if it makes any
	Flows      int           `mapstructure:"flows"`        // flow entries of all workers; a flow has two
	Sessions   int           `mapstructure:"sessions"`     // persistence sessions of all workers
	Tables     int           `mapstructure:"table-memory"` // MiB for tables, new and old; 0: what the machine has
	Busy       bool          `mapstructure:"busy"`         // never sleep: lowest latency, a whole CPU
	EALArgs    []string      `mapstructure:"eal-args"`     // further arguments for DPDK
}

type portSetting struct {
	Name   string `mapstructure:"name"`
	Device string `mapstructure:"device"` // of the kernel
	PCI    string `mapstructure:"pci"`    // instead: address of a NIC that DPDK drives itself
	Twin   string `mapstructure:"twin"`
}

// envPrefix begins the environment's variables: SLUICE_DATAPLANE_FILE_PREFIX is file-prefix.
const envPrefix = "SLUICE_DATAPLANE"

const (
	minFlows    = 1024
	maxFlows    = 1 << 28
	minSessions = 1024
	maxSessions = 1 << 26 // of 64 bytes each: 4 GiB
	maxName     = 15      // bytes of a network device's name (IFNAMSIZ less its end)
	maxSockPath = 107     // bytes of a Unix socket's path (sun_path less its end)
)

// readSettings reads the file and the environment, which wins. A word that is not known is an error that names it.
func readSettings(path string) (*settings, error) {
	v := viper.New()
	v.SetConfigFile(path)
	v.SetConfigType("yaml")
	v.SetEnvPrefix(envPrefix)
	v.SetEnvKeyReplacer(strings.NewReplacer("-", "_"))
	v.AutomaticEnv()
	for key, def := range map[string]any{
		"socket": "/run/sluice/dataplane.sock", "lcore": 0, "lcores": []int{}, "memory": 64, "huge": false, "file-prefix": "",
		"flows": 1 << 20, "sessions": worker.DefaultSessions, "table-memory": 0, "busy": false,
	} {
		v.SetDefault(key, def)
	}
	if err := v.ReadInConfig(); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no settings file %s: name one with -config", path)
	} else if err != nil {
		return nil, fmt.Errorf("the settings in %s cannot be read: %s", path, oneLine(err))
	}
	var s settings
	if err := v.UnmarshalExact(&s); err != nil {
		return nil, fmt.Errorf("the settings in %s are not understood: %s", path, oneLine(err))
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("the settings in %s: %w", path, err)
	}
	return &s, nil
}

// oneLine joins the lines of a decoder's error.
func oneLine(err error) string {
	s := strings.Join(strings.Fields(strings.ReplaceAll(err.Error(), "* ", "")), " ")
	s = strings.TrimPrefix(s, "decoding failed due to the following error(s): ")
	return strings.Replace(s, "'' has invalid keys: ", "there are no settings with these names, which the README lists: ", 1)
}

func (s *settings) check() error {
	switch {
	case s.Socket == "":
		return errors.New("`socket` is empty: name a file, e.g. /run/sluice/dataplane.sock")
	case len(s.Socket) > maxSockPath:
		return fmt.Errorf("`socket` is longer than a Unix socket's path may be: %d bytes, at most %d", len(s.Socket), maxSockPath)
	case s.Lcore < 0:
		return fmt.Errorf("`lcore` is %d: it is the number of a CPU, from 0", s.Lcore)
	case s.Tables < 0:
		return fmt.Errorf("`table-memory` is %d: it is a number of MiB, or 0 for what the machine has", s.Tables)
	case uint64(s.Tables) > machineBytes()>>20:
		return fmt.Errorf("`table-memory` is %d: this machine has %d MiB, set it lower", s.Tables, machineBytes()>>20)
	case s.Lcore != 0 && len(s.Lcores) > 0:
		return errors.New("`lcore` and `lcores` are both set: the first is for one worker, the second for several")
	case slices.ContainsFunc(s.Lcores, func(l int) bool { return l < 0 }):
		return fmt.Errorf("`lcores` is %v: it lists the numbers of CPUs, from 0", s.Lcores)
	case len(s.lcores())&(len(s.lcores())-1) != 0 || len(s.lcores()) > worker.MaxWorkers:
		return fmt.Errorf("`lcores` lists %d CPUs: the workers that share the flows must be 1, 2, 4, 8 or %d", len(s.Lcores), worker.MaxWorkers)
	case s.Sessions < minSessions || s.Sessions > maxSessions:
		return fmt.Errorf("`sessions` is %d: between %d and %d persistence sessions can be held", s.Sessions, minSessions, maxSessions)
	case len(s.Ports) == 0:
		return errors.New("`ports` is empty: name at least one, e.g. {name: 1/1, device: eth1, twin: tw0}")
	case len(s.Ports) > port.MaxLanes/2:
		return fmt.Errorf("`ports` has %d entries: a worker serves %d at most", len(s.Ports), port.MaxLanes/2)
	}
	if err := checkFlows(s.Flows, machineBytes()); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, p := range s.Ports {
		if p.Name == "" || p.Device == "" && p.PCI == "" || p.Twin == "" {
			return fmt.Errorf("entry %d of `ports` needs a name, a device or a pci address, and a twin", i+1)
		}
		if p.Device != "" && p.PCI != "" {
			return fmt.Errorf("port %s has both a device and a pci address: it is driven by the kernel or by DPDK", p.Name)
		}
		if p.PCI != "" && !port.IsPCIAddress(p.PCI) {
			return fmt.Errorf("port %s: %q is no PCI address such as 0000:00:04.0", p.Name, p.PCI)
		}
		for _, word := range []string{"port " + p.Name, "device " + p.Device + p.PCI, "device " + p.Twin} {
			if seen[word] {
				return fmt.Errorf("%s stands twice in `ports`", word)
			}
			seen[word] = true
		}
		for _, name := range []string{p.Device, p.Twin} {
			// A comma would end DPDK's argument and begin another.
			if len(name) > maxName || strings.ContainsAny(name, ", /\t\n") {
				return fmt.Errorf("port %s: %q is not the name of a network device", p.Name, name)
			}
		}
	}
	return nil
}

// checkFlows refuses a flow table that could not become full on a machine that has so many bytes of memory.
func checkFlows(n int, has uint64) error {
	if n < minFlows || n > maxFlows {
		return fmt.Errorf("`flows` is %d: between %d and %d entries can be held", n, minFlows, maxFlows)
	}
	if size := uint64(flow.Size(n)); size > has {
		return fmt.Errorf("`flows` is %d: so many entries take %d MiB, more memory than this machine has (%d MiB): set it lower", n, (size+1<<20-1)>>20, has>>20)
	}
	return nil
}

// machineBytes is the machine's memory; no bound if the kernel does not tell.
func machineBytes() uint64 {
	var m unix.Sysinfo_t
	if unix.Sysinfo(&m) != nil {
		return math.MaxUint64
	}
	return uint64(m.Totalram) * uint64(m.Unit)
}

// devices are the ports in the form of package port.
func (s *settings) devices() []port.Device {
	var ds []port.Device
	for _, p := range s.Ports {
		ds = append(ds, port.Device(p))
	}
	return ds
}

// lcores are the CPUs of the workers.
func (s *settings) lcores() []int {
	if len(s.Lcores) > 0 {
		return s.Lcores
	}
	return []int{s.Lcore}
}

// eal is what DPDK is started with.
func (s *settings) eal() *port.EALSettings {
	e := &port.EALSettings{Lcores: s.lcores(), MemoryMB: s.Memory, Huge: s.Huge, FilePrefix: s.FilePrefix, Extra: s.EALArgs}
	for _, p := range s.Ports {
		if p.PCI != "" {
			e.PCI = append(e.PCI, p.PCI)
		}
	}
	return e
}
