package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"sluice/image/console"
	"sluice/image/firstboot"
	"sluice/image/lease"
	"sluice/image/notes"
	"sluice/image/record"
	"sluice/image/seed"
)

// cloudPatience bounds what asking a cloud may cost at the first boot, with the address that it takes.
const cloudPatience = 40 * time.Second

// first is the first boot of a machine, with the places it looks at.
type first struct {
	sys, dev, config, run string
}

var machine = first{sys: "/sys", dev: "/dev", config: "/config", run: "/run/sluice"}

// firstBoot asks what the machine is to be, once: the first source that has an answer counts. Whatever comes, the machine goes on; what is
// wrong is said on the console.
func firstBoot([]string) error {
	path := filepath.Join(machine.config, filepath.Base(record.Path))
	r, err := record.Read(path)
	var say []string
	if err != nil { // it is kept for who can read it, and the machine is a new one
		say = append(say, fmt.Sprintf("%v; it is kept as %s.damaged", err, path))
		if err := os.Rename(path, path+".damaged"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			say = append(say, err.Error())
		}
	}
	if r.FirstBoot.Source == "" {
		a, wrong := machine.ask(r)
		say = append(say, wrong...)
		if a != nil {
			fmt.Printf("sluice: first boot: %s\n", a.Source)
			for _, p := range a.Problems {
				say = append(say, a.Source+": "+p)
			}
			if err := console.Keep(machine.config, r, a); err != nil {
				say = append(say, fmt.Sprintf("what %s says is not kept: %v", a.Source, err))
			}
		}
	}
	for _, s := range say {
		fmt.Println("sluice:", s)
	}
	return notes.Put(notes.Dir, "firstboot", say)
}

// ask asks the sources in their order.
func (m first) ask(r *record.Record) (a *firstboot.Answers, wrong []string) {
	media, wrong := seed.Media(m.sys, m.dev, filepath.Join(m.run, "seed"))
	for _, source := range []func() *firstboot.Answers{
		func() *firstboot.Answers { return medium(media, seed.NoCloud, firstboot.NoCloud) },
		func() *firstboot.Answers {
			return medium(media, seed.NetScaler, func(f firstboot.Files) *firstboot.Answers { return firstboot.NetScaler(f.UserData) })
		},
		func() *firstboot.Answers {
			return medium(media, seed.OVF, func(f firstboot.Files) *firstboot.Answers { return firstboot.OVF(f.UserData) })
		},
		func() *firstboot.Answers {
			f, found, err := seed.FirmwareConfig(m.sys)
			if err != nil {
				wrong = append(wrong, fmt.Sprintf("QEMU's fw_cfg cannot be read: %v", err))
			}
			if !found {
				return nil
			}
			return firstboot.FirmwareConfig(f)
		},
		func() *firstboot.Answers { return firstboot.SMBIOS(seed.OEM(m.sys)...) },
		func() *firstboot.Answers {
			a, err := m.cloud(r)
			if err != nil {
				wrong = append(wrong, fmt.Sprintf("EC2 metadata: %v", err))
			}
			return a
		},
	} {
		if a := source(); a != nil && !a.Empty() {
			return a, wrong
		}
	}
	return nil, wrong
}

// medium reads the first medium of a kind.
func medium(media []seed.Medium, kind seed.Kind, read func(firstboot.Files) *firstboot.Answers) *firstboot.Answers {
	for _, m := range media {
		if m.Kind == kind {
			return read(m.Files)
		}
	}
	return nil
}

// cloud asks the metadata service of EC2, where the firmware says that the machine is one of it. It takes an address first.
func (m first) cloud(r *record.Record) (*firstboot.Answers, error) {
	if !seed.OnEC2(m.sys) {
		return nil, nil
	}
	device, err := managementDevice(m.sys, r.Management)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), cloudPatience)
	defer cancel()
	if _, err := m.port(device).Acquire(ctx); err != nil {
		return nil, err
	}
	answer, err := seed.Metadata(ctx, seed.Service, device)
	if err != nil {
		return nil, err
	}
	return firstboot.Metadata(answer), nil
}

// port is the management port as DHCP works on it.
func (m first) port(device string) *lease.Port {
	return &lease.Port{Device: device, Fallback: netip.MustParsePrefix(console.Fallback), State: filepath.Join(m.run, "dhcp"), Resolv: "/etc/resolv.conf", Log: os.Stdout}
}
