// Program sluice is the operator's client on any machine: `sluice nsroot@adc1` is a session in the appliance's shell,
// `sluice nsroot@adc1 show lb vserver` one command. `sluice nsroot@adc1 push FILE [merge|replace]` loads a local file into the
// candidate configuration. It ends with 0, with 1 when the appliance has refused a command, with 255 when there is no session.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"sluice/cli/remote"
)

const usage = `sluice [flags] [USER@]HOST[:PORT]                              a session
sluice [flags] [USER@]HOST[:PORT] COMMAND                      one command, or several with ; between them
sluice [flags] [USER@]HOST[:PORT] push FILE [merge|replace]    load a local file (- is standard input) into the candidate

After push: diff config, validate, commit, commit confirmed MINUTES, discard. Flags:
`

func main() {
	home, _ := os.UserHomeDir()
	o := remote.Options{}
	identity := flag.String("i", "", "`file` of a private key; those of OpenSSH and its agent if left out")
	passwords := flag.String("password-file", "", "`file` whose first line is the password")
	flag.StringVar(&o.KnownHosts, "known-hosts", filepath.Join(home, ".ssh", "known_hosts"), "`file` of host keys")
	flag.BoolVar(&o.AcceptNew, "accept-new", false, "write the key of a host that is not known yet into the file of host keys")
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.CommandLine.Init("sluice", flag.ContinueOnError)
	if err := flag.CommandLine.Parse(os.Args[1:]); errors.Is(err, flag.ErrHelp) {
		os.Exit(remote.OK)
	} else if err != nil {
		os.Exit(remote.Lost)
	}
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(remote.Lost)
	}
	o.User, o.Address = target(flag.Arg(0))
	o.Identities = identities(home, *identity)
	o.Password = password(*passwords)
	code, err := run(o, flag.Args()[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "sluice: %v\n", err)
	}
	os.Exit(code)
}

// target splits USER@HOST:PORT.
func target(s string) (name, address string) {
	name, host, ok := strings.Cut(s, "@")
	if !ok {
		name, host = "", s
		if u, err := user.Current(); err == nil {
			name = u.Username
		}
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		host = net.JoinHostPort(strings.Trim(host, "[]"), "22")
	}
	return name, host
}

// identities are the files of keys: the one that is named, or those of OpenSSH.
func identities(home, named string) []string {
	if named != "" {
		return []string{named}
	}
	var all []string
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		all = append(all, filepath.Join(home, ".ssh", "id_"+kind))
	}
	return all
}

// password is where passwords come from: a file, or who sits at the terminal.
func password(file string) func(string) (string, error) {
	switch fd := int(os.Stdin.Fd()); {
	case file != "":
		return func(string) (string, error) {
			text, err := os.ReadFile(file)
			line, _, _ := strings.Cut(string(text), "\n")
			return strings.TrimSuffix(line, "\r"), err
		}
	case term.IsTerminal(fd):
		return func(prompt string) (string, error) {
			fmt.Fprint(os.Stderr, prompt)
			text, err := term.ReadPassword(fd)
			fmt.Fprintln(os.Stderr)
			return string(text), err
		}
	}
	return nil
}

// run does what the words behind the target say.
func run(o remote.Options, words []string) (int, error) {
	line, file := strings.Join(words, " "), ""
	if len(words) > 0 && words[0] == "push" {
		if len(words) < 2 || len(words) > 3 || len(words) == 3 && words[2] != "merge" && words[2] != "replace" {
			return remote.Lost, errors.New("push wants a FILE, and merge or replace if it is not to be merged")
		}
		file, line = words[1], strings.Join(append([]string{"load config -"}, words[2:]...), " ")
	}
	var in io.Reader
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return remote.Lost, err
		}
		defer f.Close()
		in = f
	} else if file == "-" {
		in = os.Stdin
	}
	c, err := remote.Dial(o)
	if err != nil {
		return remote.Lost, err
	}
	defer c.Close()
	if line == "" {
		return remote.Shell(c)
	}
	return remote.Run(c, line, in, os.Stdout, os.Stderr)
}
