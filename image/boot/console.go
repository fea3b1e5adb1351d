package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"sluice/image/console"
	"sluice/image/volume"
)

const (
	// startPatience is how long management may take to answer before the console counts it as not answering.
	startPatience = 90 * time.Second

	oneCommand = 3 * time.Minute // of the system's manager
)

// keepConsole keeps the console on this program's terminal.
func keepConsole([]string) error {
	return console.Run(console.Options{
		Config: machine.config, Data: "/data", Notes: filepath.Join(machine.run, "notes"),
		Door: "127.0.0.1:22", KnownHosts: filepath.Join(machine.run, fmt.Sprintf("known_hosts.%d", os.Getpid())),
		Release: release("/etc/sluice/release"), Machine: units{}, Patience: startPatience,
	})
}

// release is the line above the login.
func release(path string) string {
	var r struct{ Version, Flavour string }
	if text, err := os.ReadFile(path); err != nil || json.Unmarshal(text, &r) != nil || r.Version == "" {
		return "Sluice"
	}
	return fmt.Sprintf("Sluice %s (%s)", r.Version, r.Flavour)
}

// units is the machine as its service manager runs it.
type units struct{}

var _ console.Machine = units{}

const (
	mgmt      = "sluice-mgmt.service"
	dataplane = "sluice-dataplane.service"
	starting  = "sluice-boot.service"
	leasing   = "sluice-dhcp.service"
)

// Apply writes the settings anew and has management read them.
func (units) Apply() error {
	err := command("/usr/bin/sluice-boot", "start")
	return errors.Join(err, command("systemctl", "restart", mgmt), command("systemctl", "restart", leasing))
}

func (units) Restart() error { return command("systemctl", "restart", dataplane, mgmt) }

func (units) Hold() error { return command("systemctl", "stop", mgmt) }

func (units) Reboot() error { return command("systemctl", "reboot") }

func (units) PowerOff() error { return command("systemctl", "poweroff") }

// Address is what the management port has by DHCP, or in its place.
func (units) Address() string {
	text, err := os.ReadFile(filepath.Join(machine.run, "dhcp"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func (units) InMemory() bool { return volume.InMemory(machine.config) }

func (units) NewVolume() error { return volume.Renew(machine.sys, machine.dev, volume.Config) }

// Wrong says how the units are that must run, with the last line that one has logged that does not.
func (units) Wrong() (all []string) {
	for _, u := range []string{"sluice-disks.service", "sluice-firstboot.service", starting, dataplane, mgmt} {
		out, err := exec.Command("systemctl", "show", "-p", "ActiveState,SubState,Result,NRestarts", u).Output()
		if err != nil {
			all = append(all, fmt.Sprintf("%s: its state cannot be asked for: %v", u, err))
			continue
		}
		if s := stateOf(u, string(out)); s != "" {
			if line, err := exec.Command("journalctl", "-b", "-u", u, "-n", "1", "-o", "cat", "--no-pager").Output(); err == nil {
				s += strings.TrimRight(": "+strings.TrimSpace(string(line)), ": ")
			}
			all = append(all, s)
		}
	}
	return all
}

// stateOf is a sentence about a unit that is not as it should be, from what `systemctl show` says.
func stateOf(unit, properties string) string {
	p := map[string]string{}
	for line := range strings.Lines(properties) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		p[key] = value
	}
	name := strings.TrimSuffix(unit, ".service")
	switch again := p["NRestarts"]; {
	case p["ActiveState"] == "active" && (again == "0" || again == ""):
		return ""
	case p["ActiveState"] == "active":
		return fmt.Sprintf("%s runs and was restarted %s times", name, again)
	case p["Result"] != "" && p["Result"] != "success":
		return fmt.Sprintf("%s is %s (%s), %s, and was restarted %s times", name, p["ActiveState"], p["SubState"], p["Result"], again)
	default:
		return fmt.Sprintf("%s is %s (%s)", name, p["ActiveState"], p["SubState"])
	}
}

// command runs a program that has to end well.
func command(name string, args ...string) error {
	c := exec.Command(name, args...)
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		return err
	}
	slow := time.AfterFunc(oneCommand, func() { _ = c.Process.Kill() })
	defer slow.Stop()
	if err := c.Wait(); err != nil {
		text := strings.TrimSpace(said.String())
		return fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, text[max(0, len(text)-500):])
	}
	return nil
}
