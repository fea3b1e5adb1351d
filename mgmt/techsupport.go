package main

import (
	"fmt"
	"strings"

	"sluice/cli/grammar"
	"sluice/mgmt/engine"
)

// supportFile is what `show techsupport` writes in the configuration directory. There is one, the last, so that it cannot fill the disk.
const supportFile = "techsupport.txt"

// supportMost bounds what one command adds to it, in bytes.
const supportMost = 4 << 20

// supportCommands are what it holds. The log is the system's, see its journal.
var supportCommands = []string{"show version", "show hardware", "show ns runningConfig", "show ns config -history", "show interface", "show ns ip",
	"show vlan", "show route", "show arp", "show dns nameServer", "show server", "show service", "show serviceGroup", "show lb vserver",
	"show lb monitor", "show system session", "stat ns", "stat worker", "stat lb vserver", "stat service"}

// techSupport writes the answers to supportCommands to the file, each as the session's user would read it: secrets are hidden, and what
// his command policies deny him is left out.
func (o *operator) techSupport(who engine.Author) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Tech support of %s, %s\n", o.hostName(), o.now().UTC().Format("2006-01-02 15:04:05 UTC"))
	for _, line := range supportCommands {
		text, err := o.support(who, line)
		if cut := len(text) - supportMost; cut > 0 {
			text = fmt.Sprintf("%s\n# cut here, %d bytes more\n", text[:supportMost], cut)
		}
		fmt.Fprintf(&b, "\n## %s\n%s", line, text)
		if err != nil {
			fmt.Fprintf(&b, "ERROR: %v\n", err)
		}
	}
	if err := o.store.Put(supportFile, []byte(b.String())); err != nil {
		return "", fmt.Errorf("The file cannot be written, free space or see the log: %w", err)
	}
	return fmt.Sprintf("Written to /config/%s, %d bytes: fetch it by SFTP\n", supportFile, b.Len()), nil
}

func (o *operator) support(who engine.Author, line string) (string, error) {
	op, err := grammar.Parse(line)
	if err != nil {
		return "", err
	}
	return o.Do(who.User, op)
}
