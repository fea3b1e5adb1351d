// Program sluice-boot is what the appliance itself does around its programs: it readies disks and cards when the machine starts, asks what
// the machine is to be at its first boot, keeps the console, and says whether an upgrade has come up. It never carries a packet.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// commands are what the program does, each in a file of its own.
var commands = map[string]func(args []string) error{
	"disks":     disks,
	"firstboot": firstBoot,
	"start":     start,
	"dhcp":      dhcp,
	"console":   keepConsole,
	"health":    health,
	"install":   install,
}

func main() {
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		var names []string
		for name := range commands {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "sluice-boot: give one of %s\n", strings.Join(names, ", "))
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "sluice-boot %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}
