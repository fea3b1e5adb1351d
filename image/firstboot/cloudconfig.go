package firstboot

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reader reads a node of YAML, or says what is wrong with it.
type reader func(n *yaml.Node) error

// node reads a YAML text's outermost node; nil if there is none, which is said when it is wrong.
func (a *Answers) node(file string, text []byte) *yaml.Node {
	if len(text) > Largest {
		a.problem("%s is larger than %d bytes", file, Largest)
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		a.problem("%s is no YAML and is left out as a whole", file) // the library's sentence may quote a secret
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return plainNode(doc.Content[0])
}

// plainNode follows an alias, once: what it stands for is no alias.
func plainNode(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// mapping has each key of a mapping read by who knows it. What nobody knows, and what is wrong, is said with its line.
func (a *Answers) mapping(file string, n *yaml.Node, known map[string]reader) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		a.problem("%s, line %d: keys with values are expected", file, n.Line)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := known[key.Value]
		switch {
		case !ok:
			a.problem("%s, line %d: %s is not understood, and nothing of it is done", file, key.Line, quoted(key.Value))
		case read != nil: // nil: known, and there is nothing to do
			if err := read(plainNode(n.Content[i+1])); err != nil {
				a.problem("%s, line %d: %s: %v", file, key.Line, key.Value, err)
			}
		}
	}
}

// text is a reader of a word.
func text(take func(string) error) reader {
	return func(n *yaml.Node) error {
		switch {
		case n.Kind != yaml.ScalarNode:
			return fmt.Errorf("one word is expected")
		case n.Tag == "!!null":
			return nil
		}
		return take(n.Value)
	}
}

// texts is a reader of a list of words, or of a single one.
func texts(take func(string) error) reader {
	return func(n *yaml.Node) error {
		if n.Kind == yaml.SequenceNode {
			for _, c := range n.Content {
				if err := text(take)(plainNode(c)); err != nil {
					return err
				}
			}
			return nil
		}
		return text(take)(n)
	}
}

// each is a reader of a list.
func each(take reader) reader {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.SequenceNode {
			return fmt.Errorf("a list is expected")
		}
		for _, c := range n.Content {
			if err := take(plainNode(c)); err != nil {
				return err
			}
		}
		return nil
	}
}

// cloudConfig reads user-data of the kind #cloud-config.
func (a *Answers) cloudConfig(data []byte) {
	const file = "user-data"
	var name, fqdn string
	keep := func(to *string) reader { return text(func(s string) error { *to = s; return nil }) }
	a.mapping(file, a.node(file, data), map[string]reader{
		"hostname":                  keep(&name),
		"fqdn":                      keep(&fqdn),
		"prefer_fqdn_over_hostname": nil,
		"password":                  text(a.SetPassword),
		"ssh_authorized_keys":       texts(a.AddKey),
		"chpasswd":                  func(n *yaml.Node) error { a.chpasswd(file, n); return nil },
		"users":                     each(func(n *yaml.Node) error { a.user(file, n); return nil }),
		"ntp":                       func(n *yaml.Node) error { a.ntp(file, n); return nil },
		"resolv_conf": func(n *yaml.Node) error {
			a.mapping(file, n, map[string]reader{"nameservers": texts(a.addDNS)})
			return nil
		},
		"manage_resolv_conf":   nil,
		"manage_etc_hosts":     nil,
		"preserve_hostname":    nil,
		"create_hostname_file": nil,
		"sluice":               func(n *yaml.Node) error { a.own(file, n); return nil },
	})
	if name == "" {
		name = fqdn
	}
	if name != "" {
		if err := a.SetHostname(name); err != nil {
			a.problem("%s: hostname: %v", file, err)
		}
	}
}

// own reads what only we understand.
func (a *Answers) own(file string, n *yaml.Node) {
	a.mapping(file, n, map[string]reader{
		"commands": texts(func(s string) error { a.addCommands(file+", commands", s); return nil }),
		// An address here spares a network-config.
		"address":       text(func(s string) error { return a.SetAddress(s, "") }),
		"gateway":       text(a.SetGateway),
		"dns":           texts(a.addDNS),
		"management":    text(a.setManagement),
		"password-hash": text(a.setHash),
	})
}

// chpasswd reads passwords as a list of user:password, or as users with name, password and type.
func (a *Answers) chpasswd(file string, n *yaml.Node) {
	lines := func(s string) error {
		for line := range strings.Lines(s) {
			name, secret, _ := strings.Cut(strings.TrimSpace(line), ":")
			switch {
			case name == "":
			case name != Root:
				return fmt.Errorf("there is no user %s here, only %s", quoted(name), Root)
			case secret == "R" || secret == "RANDOM":
				return fmt.Errorf("a random password is not made here, since nobody would know it")
			default:
				if err := a.SetPassword(secret); err != nil {
					return err
				}
			}
		}
		return nil
	}
	a.mapping(file, n, map[string]reader{
		"expire": text(func(s string) error {
			if s == "true" {
				return fmt.Errorf("the password is not asked for anew at the first login; `set system user %s -forcePasswordChange ENABLED` does that", Root)
			}
			return nil
		}),
		"list": texts(lines),
		"users": each(func(n *yaml.Node) error {
			var name, secret, kind string
			keep := func(to *string) reader { return text(func(s string) error { *to = s; return nil }) }
			a.mapping(file, n, map[string]reader{"name": keep(&name), "password": keep(&secret), "type": keep(&kind)})
			switch {
			case name != Root:
				return fmt.Errorf("there is no user %s here, only %s", quoted(name), Root)
			case kind == "hash":
				return a.setHash(secret)
			case kind == "RANDOM":
				return fmt.Errorf("a random password is not made here, since nobody would know it")
			}
			return a.SetPassword(secret)
		}),
	})
}

// user reads one of users: nsroot, or a word that says that there is a default one, which is nsroot here.
func (a *Answers) user(file string, n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Value == "default" {
		return
	}
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "name" && plainNode(n.Content[i+1]).Value != Root {
				a.problem("%s, line %d: there is no user %s here, only %s; others are made by the command `add system user`", file, n.Line, quoted(plainNode(n.Content[i+1]).Value), Root)
				return
			}
		}
	}
	a.mapping(file, n, map[string]reader{
		"name":                nil,
		"ssh_authorized_keys": texts(a.AddKey),
		"plain_text_passwd":   text(a.SetPassword),
		"passwd":              text(a.setHash),
		"hashed_passwd":       text(a.setHash),
		"lock_passwd":         nil, // nobody has a password here unless it is given
	})
}

// ntp reads time servers.
func (a *Answers) ntp(file string, n *yaml.Node) {
	a.mapping(file, n, map[string]reader{
		"enabled": text(func(s string) error {
			if s != "true" {
				return fmt.Errorf("time servers that are given are asked")
			}
			return nil
		}),
		"servers": texts(a.addNTP),
		"pools":   texts(a.addNTP),
	})
}

// metaData reads the file meta-data.
func (a *Answers) metaData(data []byte) {
	const file = "meta-data"
	a.mapping(file, a.node(file, data), map[string]reader{
		"instance-id": text(func(s string) error {
			if len(s) > 128 {
				return fmt.Errorf("it is longer than 128 bytes")
			}
			a.Instance = s
			return nil
		}),
		"local-hostname": text(a.SetHostname),
		"hostname":       text(a.SetHostname),
		"public-keys":    a.publicKeys,
		"cloud-name":     nil,
		"dsmode":         nil,
	})
}

// publicKeys are a list, a single key, or keys by their names.
func (a *Answers) publicKeys(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return texts(a.AddKey)(n)
	}
	for i := 1; i < len(n.Content); i += 2 {
		c := plainNode(n.Content[i])
		if c.Kind == yaml.MappingNode {
			a.mapping("meta-data", c, map[string]reader{"openssh-key": text(a.AddKey)})
		} else if err := texts(a.AddKey)(c); err != nil {
			return err
		}
	}
	return nil
}

// decode64 reads base64 whatever its line breaks.
func decode64(r io.Reader) io.Reader { return base64.NewDecoder(base64.StdEncoding, r) }
