package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"sluice/image/nic"
	"sluice/image/notes"
	"sluice/image/record"
	"sluice/vendor-config/platforms"
)

// beginning readies a machine for its programs, with the places it looks at and the two things that it has the kernel do.
type beginning struct {
	sys, proc, config, run string
	root                   string // of the boot partition's device

	load func(modules ...string) error           // modules of the kernel
	bind func(sys, address, driver string) error // see nic.Bind
	args func(root string, values map[string]string) (changed bool, err error)
}

// start readies the machine for its programs at each start: which network card is what, how it is driven, memory for packets, and the
// settings of both programs. It may be repeated while they run. Whatever is wrong, the machine goes on as far as it can and says so
// on the console.
func start([]string) error {
	b := &beginning{sys: machine.sys, proc: "/proc", config: machine.config, run: machine.run, root: "/", load: modprobe, bind: nic.Bind, args: arguments}
	say, err := b.ready()
	for _, s := range say {
		fmt.Println("sluice:", s)
	}
	if e := notes.Put(notes.Dir, "start", say); e != nil {
		err = errors.Join(err, e)
	}
	return err
}

func modprobe(modules ...string) error {
	out, err := exec.Command("modprobe", append([]string{"-a"}, modules...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("modprobe %s: %w: %s", strings.Join(modules, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// ready does it, and returns what somebody should know.
func (b *beginning) ready() (say []string, err error) {
	note := func(err error) {
		if err != nil {
			say = append(say, err.Error())
		}
	}
	if err := os.MkdirAll(b.run, 0o755); err != nil {
		return nil, fmt.Errorf("there is no place for the settings: %w", err)
	}
	m, lacks, fatal := facts(b.proc)
	say = append(say, lacks...)
	path := filepath.Join(b.config, filepath.Base(record.Path))
	r, damaged := record.Read(path)
	note(damaged)
	before := fmt.Sprintf("%+v", r)

	all, err := nic.Find(b.sys)
	note(err)
	note(nic.Recall(all, filepath.Join(b.run, "nics.json")))
	plan := nic.Assign(all, r)
	say = append(say, plan.Notes...)
	if damaged == nil && fmt.Sprintf("%+v", r) != before {
		if err := r.Write(path); err != nil {
			note(fmt.Errorf("%w: names of ports may change at the next start", err))
		}
	}
	profile, err := platforms.Choose(r.Platform, m)
	if err != nil {
		note(err)
		if profile, err = platforms.Choose("", m); err != nil {
			return say, err
		}
	}
	s := sized(profile, m, r.Overrides)
	ports, notes := b.ports(plan)
	say = append(say, notes...)
	ports, notes = b.handOver(ports)
	say = append(say, notes...)
	s, notes = fewer(s, ports)
	say = append(say, notes...)
	if slices.ContainsFunc(ports, func(p port) bool { return p.PCI != "" }) {
		s, notes = b.pages(s, r.Overrides, reserve)
		say = append(say, notes...)
	}
	lcores := cpus(s.Workers, m.CPUs)
	say = append(say, b.isolate(profile, r.Overrides, lcores, m.CPUs)...)
	busy := profile.Busy
	if r.Overrides.Busy != nil {
		busy = *r.Overrides.Busy
	}
	if fatal { // both programs would end at once, again and again
		note(b.noSettings(dataplaneFile))
		note(b.noSettings(managementFile))
		return say, nil
	}
	note(b.writeDataplane(ports, s, lcores, busy))
	note(b.writeManagement(ports, plan.Management, r))
	fmt.Printf("sluice: platform %s, %d CPUs, %d MiB, %d workers; %s\n", profile.Name, m.CPUs, m.MiB, s.Workers, describe(plan, ports))
	return say, nil
}

// sized is what the machine gets by its profile and the record.
func sized(p *platforms.Profile, m platforms.Machine, o record.Overrides) platforms.Size {
	s := p.For(m)
	if o.Workers > 0 {
		s.Workers = o.Workers
	}
	if o.Memory > 0 {
		s.Memory = o.Memory
	}
	if o.Flows > 0 {
		s.Flows = o.Flows
	}
	return s
}

// port is a port as the settings have it.
type port struct {
	Name   string `yaml:"name"`
	Device string `yaml:"device,omitempty"`
	PCI    string `yaml:"pci,omitempty"`
	Twin   string `yaml:"twin"`

	driver string // that the card is to be handed to
	net    string // the kernel's device, if it is not handed over
	queues int    // 0: as many as are wanted
}

// ports says how the card of each port is driven.
func (b *beginning) ports(plan nic.Plan) (ports []port, say []string) {
	m := nic.Machine{Locked: nic.Locked(b.sys)}
	for _, p := range plan.Ports {
		m.Data = append(m.Data, p.Address)
	}
	for _, p := range plan.Ports {
		c, err := p.Choose(m)
		if err != nil {
			say = append(say, fmt.Sprintf("port %s: %v", p.Name, err))
			continue
		}
		if c.Note != "" {
			say = append(say, fmt.Sprintf("port %s: %s", p.Name, c.Note))
		}
		out := port{Name: p.Name, Twin: twin(p.Name), net: p.Net}
		if c.PCI {
			out.PCI, out.driver, out.queues = p.Address, c.Driver, max(p.Queues, 1)
		} else {
			out.Device = p.Net
		}
		ports = append(ports, out)
	}
	return ports, say
}

// twin is the name of the kernel's side of a port: tw0 of 1/1.
func twin(name string) string {
	var a, n int
	if _, err := fmt.Sscanf(name, "%d/%d", &a, &n); err == nil && a == 1 && n > 0 {
		return fmt.Sprintf("tw%d", n-1)
	}
	return "tw-" + strings.Map(func(r rune) rune {
		if r == '/' {
			return '-'
		}
		return r
	}, name)
}

// handOver brings the cards to their drivers. One that is not to be had goes through the kernel if that is possible.
func (b *beginning) handOver(ports []port) (ready []port, say []string) {
	var modules []string
	for _, p := range ports {
		if p.driver != "" && !slices.Contains(modules, p.driver) {
			modules = append(modules, p.driver)
		}
	}
	if slices.Contains(modules, "vfio-pci") {
		modules = append(modules, "vfio_iommu_type1")
	}
	if len(modules) > 0 {
		if err := b.load(modules...); err != nil {
			say = append(say, err.Error())
		}
	}
	for _, p := range ports {
		if p.driver != "" {
			if err := b.bind(b.sys, p.PCI, p.driver); err != nil {
				say = append(say, fmt.Sprintf("port %s: %v", p.Name, err))
				if p.net == "" {
					continue
				}
				if _, err := os.Stat(filepath.Join(b.sys, "class/net", p.net)); err != nil {
					continue // it has left the kernel's driver all the same
				}
				p.Device, p.PCI, p.driver, p.queues = p.net, "", "", 0
			}
		}
		ready = append(ready, p)
	}
	return ready, say
}

// fewer lowers the number of workers to what every card has queues for.
func fewer(s platforms.Size, ports []port) (platforms.Size, []string) {
	want, least := s.Workers, ""
	for _, p := range ports {
		for p.queues > 0 && s.Workers > p.queues {
			s.Workers /= 2
			least = fmt.Sprintf("the network card of port %s has %d queues", p.Name, p.queues)
		}
	}
	if s.Workers == want {
		return s, nil
	}
	return s, []string{fmt.Sprintf("%d workers run in the place of %d: %s (of a virtual machine's card the hypervisor sets how many)", s.Workers, want, least)}
}

// pages sets huge pages aside. If the kernel has no room for all of them, those that it has are used and the next start is asked for more.
func (b *beginning) pages(s platforms.Size, o record.Overrides, reserve func(sys string, want int) (int, error)) (platforms.Size, []string) {
	want := pagesFor(s)
	if o.Hugepages > 0 {
		want = o.Hugepages
	}
	has, err := reserve(b.sys, want)
	if err != nil {
		return s, []string{err.Error()}
	}
	if has >= want {
		return s, nil
	}
	say := []string{fmt.Sprintf("%d huge pages of 2 MiB are wanted and the kernel had room for %d", want, has)}
	if changed, err := b.args(b.root, map[string]string{"hp": fmt.Sprint(want)}); err != nil {
		say = append(say, fmt.Sprintf("the boot environment cannot be written: %v", err))
	} else if changed {
		say = append(say, "they are set aside early at the next start: restart the machine")
	}
	// Packets come first; flows and sessions take other memory where there are no huge pages.
	if room := has * pageMiB; room < s.Memory {
		s.Memory = max(room/32*32, 32)
	}
	return s, say
}

// isolate has the kernel leave the workers' CPUs to them, from the next start on.
func (b *beginning) isolate(p *platforms.Profile, o record.Overrides, lcores []int, has int) []string {
	want := ""
	switch {
	case o.Isolate == "none":
	case o.Isolate != "":
		want = o.Isolate
	case p.Isolate && has >= 2*len(lcores):
		want = span(lcores)
	}
	if want == "" && !strings.Contains(b.commandLine(), "isolcpus=") {
		return nil // as it is, and perhaps no boot environment is there
	}
	changed, err := b.args(b.root, map[string]string{"isol": want})
	switch {
	case err != nil:
		return []string{fmt.Sprintf("CPUs %s cannot be kept for packets: the boot environment cannot be written: %v", want, err)}
	case changed && want != "":
		return []string{fmt.Sprintf("CPUs %s are kept for packets from the next start on: restart the machine when it suits", want)}
	}
	return nil
}

func (b *beginning) commandLine() string {
	text, err := os.ReadFile(filepath.Join(b.proc, "cmdline"))
	if err != nil {
		return ""
	}
	return string(text)
}

// describe says in a line what is what.
func describe(plan nic.Plan, ports []port) string {
	words := []string{"no management card"}
	if d := plan.Management; d != nil {
		words[0] = "management 0/1 is " + d.Net
	}
	for _, p := range ports {
		words = append(words, fmt.Sprintf("%s is %s%s", p.Name, p.PCI, p.Device))
		if p.driver != "" {
			words[len(words)-1] += " by " + p.driver
		}
	}
	return strings.Join(words, ", ")
}
