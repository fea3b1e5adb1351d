package firstboot

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// mostCommands bounds the lines of a configuration that a source may bring, which is a megabyte at most anyway.
const mostCommands = 100_000

// addCommands takes lines of a configuration. nsroot's password is taken out of them: it belongs to the box, and not in clear into a file.
func (a *Answers) addCommands(where, text string) {
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			a.problem("%s: line %d holds control characters and is left out", where, n+1)
		case len(a.Commands) >= mostCommands:
			a.problem("%s: there are more than %d lines", where, mostCommands)
			return
		case ofRoot.MatchString(line):
			if err := a.rootLine(line); err != nil {
				a.problem("%s: line %d: %v", where, n+1, err)
			}
		default:
			a.Commands = append(a.Commands, line)
		}
	}
}

var ofRoot = regexp.MustCompile(`(?i)^(set|add)\s+system\s+user\s+"?nsroot"?(\s|$)`)

// rootLine takes nsroot's password from `set system user nsroot PASSWORD` with -password or without, and -encrypted behind it.
func (a *Answers) rootLine(line string) error {
	words, err := words(line)
	if err != nil {
		return err
	}
	var secret string
	var encrypted, other bool
	for i := 4; i < len(words); i++ {
		switch w := words[i]; strings.ToLower(w) {
		case "-password":
		case "-encrypted":
			encrypted = true
		case "-hashmethod": // how the hash was made shows in it
			i++
		default:
			other = other || strings.HasPrefix(w, "-") && secret != "" || secret != "" && !other
			if secret == "" {
				secret = w
			}
		}
	}
	if other {
		a.problem("of the user %s only the password is taken; give the rest by a command later", Root)
	}
	if encrypted {
		return a.setHash(secret)
	}
	return a.SetPassword(secret)
}

// words splits a line as the command language does: at blanks, but not between quotation marks, in which a backslash takes the next
// character as it is.
func words(line string) (all []string, err error) {
	var word strings.Builder
	var inside, some bool
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case inside && c == '\\' && i+1 < len(line):
			i++
			word.WriteByte(line[i])
		case c == '"':
			inside, some = !inside, true
		case !inside && (c == ' ' || c == '\t'):
			if some {
				all = append(all, word.String())
			}
			word.Reset()
			some = false
		default:
			word.WriteByte(c)
			some = true
		}
	}
	if inside {
		return nil, fmt.Errorf("a quotation mark is not closed")
	}
	if some {
		all = append(all, word.String())
	}
	return all, nil
}

var (
	setsNSIP    = regexp.MustCompile(`(?i)^set\s+(ns\s+)?config\s.*-IPAddress\s|^add\s+ns\s+ip\s.*-type\s+NSIP\b`)
	setsDefault = regexp.MustCompile(`(?i)^add\s+route\s+0\.0\.0\.0\s+0\.0\.0\.0\s`)
	setsName    = regexp.MustCompile(`(?i)^set\s+ns\s+hostName\s`)
	savesConfig = regexp.MustCompile(`(?i)^save\s+(ns\s+)?config\s*$`)
)

// Configuration is the file of commands that management starts with: what the source says about the machine itself, unless its own
// commands do, and these.
func (a *Answers) Configuration() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# First boot: %s.\n", a.Source)
	says := func(what *regexp.Regexp) bool {
		for _, c := range a.Commands {
			if what.MatchString(c + " ") {
				return true
			}
		}
		return false
	}
	if a.Address.IsValid() && !says(setsNSIP) {
		fmt.Fprintf(&out, "set ns config -IPAddress %s -netmask %s\n", a.Address.Addr(), maskOf(a.Address.Bits()))
	}
	if a.Hostname != "" && !says(setsName) {
		fmt.Fprintf(&out, "set ns hostName %s\n", a.Hostname)
	}
	if a.Gateway.IsValid() && !says(setsDefault) {
		fmt.Fprintf(&out, "add route 0.0.0.0 0.0.0.0 %s\n", a.Gateway)
	}
	for _, d := range a.DNS {
		fmt.Fprintf(&out, "add dns nameServer %s\n", d)
	}
	for _, n := range a.NTP {
		fmt.Fprintf(&out, "add ntp server %s\n", n)
	}
	if len(a.NTP) > 0 {
		out.WriteString("enable ntp sync\n")
	}
	for _, c := range a.Commands {
		if !savesConfig.MatchString(c) { // what is not in force yet cannot be saved
			out.WriteString(c + "\n")
		}
	}
	return out.String()
}

// SetsNSIP tells whether the configuration brings the NSIP, so that nobody needs to ask for an address.
func (a *Answers) SetsNSIP() bool {
	for _, c := range a.Commands {
		if setsNSIP.MatchString(c + " ") {
			return true
		}
	}
	return a.Address.IsValid()
}

// HasNSIP tells whether a file of commands brings an NSIP.
func HasNSIP(text string) bool {
	for line := range strings.Lines(text) {
		if setsNSIP.MatchString(strings.TrimSpace(line) + " ") {
			return true
		}
	}
	return false
}

// maskOf is the mask of a length.
func maskOf(bits int) netip.Addr {
	v := ^uint32(0) << (32 - bits)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}
