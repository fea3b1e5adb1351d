package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"sluice/image/firstboot"
	"sluice/image/record"
)

// Fallback is the address of a machine that nobody has told another one and that finds no DHCP: the reference product's.
const Fallback = "192.168.100.1/16"

func (c *Console) record() string { return filepath.Join(c.Config, filepath.Base(record.Path)) }

// setUp asks what a new machine is to be.
func (c *Console) setUp(r *record.Record) error {
	c.say("This appliance has no password yet, and nobody can log in by the network until it has one.")
	for _, p := range r.FirstBoot.Problems {
		c.say("! %s: %s", r.FirstBoot.Source, p)
	}
	a := &firstboot.Answers{Source: "console", Instance: r.FirstBoot.Instance}
	if c.plain() {
		if err := c.askNetwork(a); err != nil {
			return err
		}
	}
	if err := c.askPassword(a); err != nil {
		return err
	}
	summary := "Address by DHCP"
	switch {
	case !c.plain():
		summary = "The configuration stays as it is"
	case a.Address.IsValid():
		summary = "Address " + a.Address.String()
		if a.Gateway.IsValid() {
			summary += ", gateway " + a.Gateway.String()
		}
	}
	if a.Hostname != "" {
		summary += ", host name " + a.Hostname
	}
	var yes bool
	err := c.ask(summary+". Is that right? (yes or no)", "yes", func(s string) error {
		yes = strings.HasPrefix("yes", strings.ToLower(s))
		if !yes && !strings.HasPrefix("no", strings.ToLower(s)) {
			return errors.New("give yes or no")
		}
		return nil
	})
	if err != nil || !yes {
		return err
	}
	if err := c.keep(a); err != nil {
		return fmt.Errorf("nothing is set up: %w", err)
	}
	c.say("Management takes it over.")
	if err := c.Machine.Apply(); err != nil {
		return fmt.Errorf("it is kept and not in force: %w", err)
	}
	return nil
}

// plain tells whether nobody has brought or saved a configuration.
func (c *Console) plain() bool {
	if _, err := os.Stat(filepath.Join(c.Config, "startup.xml")); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	text, err := os.ReadFile(filepath.Join(c.Config, "ns.conf"))
	return err != nil || !firstboot.HasNSIP(string(text))
}

func (c *Console) askNetwork(a *firstboot.Answers) error {
	otherwise := "dhcp"
	if have := c.Machine.Address(); have != "" {
		c.say("The management port has the address %s now.", have)
		if have == Fallback {
			otherwise = have
		}
	}
	var address string
	err := c.ask("Address of the management port, such as 192.0.2.10/24, or dhcp", otherwise, func(s string) error {
		address = s
		if strings.EqualFold(s, "dhcp") {
			return nil
		}
		if !strings.Contains(s, "/") { // as the reference product asks
			if _, err := firstboot.ParseAddress(s, "32"); err != nil {
				return err
			}
			return nil
		}
		return a.SetAddress(s, "")
	})
	if err != nil {
		return err
	}
	if !a.Address.IsValid() && !strings.EqualFold(address, "dhcp") {
		if err := c.ask("Mask of its subnet", "255.255.255.0", func(s string) error { return a.SetAddress(address, s) }); err != nil {
			return err
		}
	}
	if a.Address.IsValid() {
		err = c.ask("Default gateway, or none", "none", func(s string) error {
			if s == "none" {
				return nil
			}
			if err := a.SetGateway(s); err != nil {
				return err
			}
			if !a.Address.Contains(a.Gateway) || a.Gateway == a.Address.Addr() {
				gateway := a.Gateway
				a.Gateway = firstboot.Answers{}.Gateway
				return fmt.Errorf("%s is none of the other addresses in %s", gateway, a.Address.Masked())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return c.ask("Host name", "sluice", a.SetHostname)
}

func (c *Console) askPassword(a *firstboot.Answers) error {
	for {
		one, err := c.secret("Password of " + Root + ": ")
		if err != nil {
			return err
		}
		if err := a.SetPassword(one); err != nil {
			c.say("%v", err)
			continue
		}
		again, err := c.secret("The same again: ")
		if err != nil {
			return err
		}
		if again == one {
			return nil
		}
		c.say("The two are not the same.")
	}
}

// keep writes the answers. Two consoles may be asked at once: the first one that is through counts.
func (c *Console) keep(a *firstboot.Answers) error {
	lock, err := os.OpenFile(filepath.Join(c.Config, ".setup"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	r, err := record.Read(c.record())
	if err != nil { // one that is damaged is kept for who can read it
		_ = os.Rename(c.record(), c.record()+".damaged")
	}
	if r.Reachable() {
		return errors.New("it was set up from another console meanwhile")
	}
	return Keep(c.Config, r, a)
}

// Keep writes what the box is to be: its record, and the commands that management starts with unless there is a configuration. The
// record comes last, so that a power cut before it has everything asked again.
func Keep(config string, r *record.Record, a *firstboot.Answers) error {
	commands := filepath.Join(config, "ns.conf")
	_, startup := os.Stat(filepath.Join(config, "startup.xml"))
	old, err := os.ReadFile(commands)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if errors.Is(startup, fs.ErrNotExist) {
		text := a.Configuration()
		switch {
		case strings.HasSuffix(string(old), text): // the same was cut off before the record was written
			text = string(old)
		case len(old) > 0: // what user-data has brought stays, and what is typed now comes after it
			text = strings.TrimRight(string(old), "\n") + "\n" + text
		}
		if err := record.Put(commands, []byte(text)); err != nil {
			return err
		}
	}
	if err := a.Record(r); err != nil {
		return err
	}
	return r.Write(filepath.Join(config, filepath.Base(record.Path)))
}
