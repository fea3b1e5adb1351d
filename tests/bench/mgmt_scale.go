package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sluice/cli/grammar"
	"sluice/tests/lab/topology"
	"sluice/vendor-config/schema"
)

// What is promised of a large configuration, one of 10,000 vservers with four services each.
const (
	tabBar    = 50  // ms from the Tab to its list
	changeBar = 100 // ms from the line in the shell to its Done
	importBar = 5   // s for a file of 100,000 lines, from the command to its Done
	memoryBar = 300 // MiB of management, once it has made a few changes
)

// perVserver is how many services each vserver of a large configuration has.
const perVserver = 4

// deviceFile is a large configuration as a device saves it, 13 lines a vserver.
func deviceFile(vservers int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "add ns ip %s 255.255.255.0\nadd ns ip %s 255.255.255.0\nadd vlan 2\nbind vlan 2 -ifnum 1/2\nbind vlan 2 -IPAddress %s 255.255.255.0\nadd route 10.64.0.0 255.192.0.0 %s\n",
		topology.ClientNIP, topology.SNIP, topology.SNIP, topology.ServerIP(0))
	for i := range vservers * perVserver {
		fmt.Fprintf(&b, "add server srv%d 10.%d.%d.%d\n", i, 64+i>>16, i>>8&255, i&255)
	}
	for i := range vservers * perVserver {
		fmt.Fprintf(&b, "add service s%d srv%d TCP 80 -gslb NONE -maxClient 0 -maxReq 0 -cip DISABLED -usip NO -useproxyport YES -sp OFF -cltTimeout 9000 -svrTimeout 9000 -CKA NO -TCPB NO -CMP NO -healthMonitor NO\n", i, i)
	}
	for v := range vservers {
		fmt.Fprintf(&b, "add lb vserver v%d TCP 172.%d.%d.%d 80 -persistenceType NONE -cltTimeout 9000\n", v, 16+v>>16, v>>8&255, v&255)
	}
	for i := range vservers * perVserver {
		fmt.Fprintf(&b, "bind lb vserver v%d s%d\n", i/perVserver, i)
	}
	return b.String()
}

// scale is what was measured of a large configuration.
type scale struct {
	tab, change *timing
	lines       int           // of the file
	took        time.Duration // to import it
	memory      float64       // MiB
}

// measureTab times the list of names behind a command, among so many vservers.
func measureTab(vservers, rounds int) (*timing, error) {
	c := schema.New()
	if im := grammar.Import(c, []byte(deviceFile(vservers)), nil); im.Count[grammar.Applied] != len(im.Lines) {
		return nil, fmt.Errorf("of %d lines %d are applied", len(im.Lines), im.Count[grammar.Applied])
	}
	t := &timing{what: "Tab"}
	for range rounds {
		for _, head := range []string{"set lb vserver ", "set lb vserver v9", "bind lb vserver v99 ", "unbind lb vserver v99 ", "show service s1"} {
			at := time.Now()
			if list, _ := grammar.Complete(head, c); len(list) == 0 {
				return nil, fmt.Errorf("nothing follows `%s`", head)
			}
			t.since(at)
		}
	}
	return t, nil
}

// measureScale has an appliance import a large file and then changes it.
func measureScale(vservers, rounds int) (all *scale, err error) {
	s, err := openSite()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	text := deviceFile(vservers)
	all = &scale{lines: strings.Count(text, "\n"), change: &timing{what: "set lb vserver -cltTimeout"}}
	if err := os.WriteFile(s.lab.Path("adc/config/large.conf"), []byte(text), 0o600); err != nil {
		return nil, err
	}
	t, err := s.login()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if all.took, err = t.do("import ns.conf large.conf"); err != nil {
		return nil, err
	}
	if all.tab, err = measureTab(vservers, rounds); err != nil {
		return nil, err
	}
	for n := range rounds {
		d, err := t.do(fmt.Sprintf("set lb vserver v%d -cltTimeout %d", 17*n%vservers, 200+n))
		if err != nil {
			return nil, err
		}
		all.change.add(d)
		time.Sleep(50 * time.Millisecond) // changes come one by one, not as fast as they can
	}
	all.memory, err = s.memory("mgmt")
	return all, err
}

// memory is what a program occupies, in MiB.
func (s *site) memory(program string) (float64, error) {
	pid, err := s.adc.Pid(program)
	if err != nil {
		return 0, err
	}
	text, err := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "status"))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), "\nVmRSS:")
	var kib float64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0, fmt.Errorf("the memory of %s is not known: %w", program, err)
	}
	return kib / 1024, nil
}

// report are the rows of a large configuration, and what is not as promised.
func (a *scale) report(vservers int) (rows []row, missed []string) {
	for _, r := range []struct {
		workload, unit string
		value, bar     float64
	}{
		{"tab-10k", "ms", median(a.tab.samples), tabBar},
		{"change-10k-vservers", "ms", median(a.change.samples), changeBar},
		{"import-100k-lines", "s", a.took.Seconds() * 100_000 / float64(a.lines), importBar},
		{"memory-10k-vservers", "MiB", a.memory, memoryBar},
	} {
		rows = append(rows, row{Workload: r.workload, Flows: vservers, Value: round(r.value), Unit: r.unit})
		if r.value > r.bar {
			missed = append(missed, fmt.Sprintf("%s: %.1f %s, %.0f are promised", r.workload, r.value, r.unit, r.bar))
		}
	}
	fmt.Printf("%d lines imported in %.1f s; management occupies %.0f MiB\n\n", a.lines, a.took.Seconds(), a.memory)
	return rows, missed
}
