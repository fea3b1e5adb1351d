package firstboot

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// property is one thing that a hypervisor's form or firmware says. Keys are the same in OVF environments and SMBIOS strings.
type property struct{ key, value string }

// properties reads them all. A key may have a prefix, as vendors put the product's name before it: what counts is behind the last dot.
func (a *Answers) properties(where string, all []property) {
	var f Files
	var ip, mask string
	for _, p := range all {
		value := strings.TrimSpace(p.value)
		if value == "" { // a form that was not filled in
			continue
		}
		key := strings.ToLower(p.key[strings.LastIndexByte(p.key, '.')+1:])
		var err error
		switch strings.ReplaceAll(key, "_", "-") {
		case "hostname", "local-hostname":
			err = a.SetHostname(value)
		case "instance-id":
			a.Instance = value[:min(len(value), 128)]
		case "ip":
			ip = value
		case "netmask":
			mask = value
		case "gateway":
			err = a.SetGateway(value)
		case "dns":
			for _, s := range strings.FieldsFunc(value, comma) {
				err = errors.Join(err, a.addDNS(s))
			}
		case "ntp":
			for _, s := range strings.FieldsFunc(value, comma) {
				err = errors.Join(err, a.addNTP(s))
			}
		case "password":
			err = a.SetPassword(p.value)
		case "public-keys", "public-key":
			for line := range strings.Lines(value) {
				err = errors.Join(err, a.AddKey(line))
			}
		case "user-data", "userdata":
			f.UserData = unwrapped(value)
		case "meta-data":
			f.MetaData = unwrapped(value)
		case "network-config":
			f.NetworkConfig = unwrapped(value)
		default:
			a.problem("%s: %s is not understood, and nothing of it is done", where, quoted(p.key))
		}
		if err != nil {
			a.problem("%s: %s: %v", where, key, err)
		}
	}
	if ip != "" || mask != "" {
		if err := a.SetAddress(ip, mask); err != nil {
			a.problem("%s: ip: %v", where, err)
		}
	}
	a.read(f)
}

func comma(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }

// unwrapped is what base64 stands for, or the text itself.
func unwrapped(value string) []byte {
	plain, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), ""))
	if err != nil {
		return []byte(value)
	}
	return plain
}

// OVF reads an OVF environment (DSP0243, 11.1), as a hypervisor writes it from the form that who starts the machine has filled in.
func OVF(text []byte) *Answers {
	a := &Answers{Source: "OVF environment"}
	const namespace = "http://schemas.dmtf.org/ovf/environment/1"
	if len(text) > Largest {
		a.problem("the OVF environment is larger than %d bytes", Largest)
		return a
	}
	var all []property
	d := xml.NewDecoder(bytes.NewReader(text))
	root := false
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			a.problem("the OVF environment is no XML and is left out as a whole")
			return a
		}
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case !root && (e.Name.Local != "Environment" || e.Name.Space != namespace):
			a.problem("the OVF environment has no element Environment of its namespace")
			return a
		case e.Name.Local == "Environment":
			root = true
		case e.Name.Local == "Property":
			var p property
			for _, at := range e.Attr {
				switch at.Name.Local {
				case "key":
					p.key = at.Value
				case "value":
					p.value = at.Value
				}
			}
			all = append(all, p)
		}
	}
	a.properties("OVF environment", all)
	return a
}

// smbiosPrefix begins the strings that are for us.
const smbiosPrefix = "org.sluice."

// SMBIOS reads the strings of OEM structures (SMBIOS type 11): org.sluice.KEY=VALUE, files in base64. Others' strings are no concern.
func SMBIOS(structures ...[]byte) *Answers {
	a := &Answers{Source: "SMBIOS strings"}
	var all []property
	for _, raw := range structures {
		strs, err := oemStrings(raw)
		if err != nil {
			a.problem("SMBIOS: %v", err)
		}
		for _, s := range strs {
			if key, value, ok := strings.Cut(s, "="); ok && strings.HasPrefix(key, smbiosPrefix) {
				all = append(all, property{key, value})
			}
		}
	}
	a.properties("SMBIOS", all)
	return a
}

// oemStrings are the strings of a structure of type 11: a formatted area of its own length, then the strings, each with a zero at its
// end, and one more zero.
func oemStrings(raw []byte) (all []string, err error) {
	if len(raw) < 5 || raw[0] != 11 || int(raw[1]) < 5 || int(raw[1]) > len(raw) || len(raw) > Largest {
		return nil, fmt.Errorf("the structure of OEM strings is damaged")
	}
	for rest := raw[raw[1]:]; len(all) < int(raw[4]); {
		s, after, ok := bytes.Cut(rest, []byte{0})
		if !ok || len(s) == 0 {
			return all, fmt.Errorf("the structure of OEM strings ends before its last string")
		}
		all = append(all, string(s))
		rest = after
	}
	return all, nil
}

// FirmwareConfig reads the three files from QEMU's fw_cfg, opt/org.sluice/user-data and so on.
func FirmwareConfig(f Files) *Answers {
	a := &Answers{Source: "QEMU fw_cfg"}
	a.read(f)
	return a
}

// EC2 is what the metadata service of EC2 has answered.
type EC2 struct {
	InstanceID, Hostname string
	PublicKeys           []string
	UserData             []byte
}

// Metadata reads it.
func Metadata(m EC2) *Answers {
	a := &Answers{Source: "EC2 metadata", Instance: m.InstanceID[:min(len(m.InstanceID), 128)]}
	if m.Hostname != "" {
		if err := a.SetHostname(m.Hostname); err != nil {
			a.problem("EC2 metadata: %v", err)
		}
	}
	for _, k := range m.PublicKeys {
		if err := a.AddKey(k); err != nil {
			a.problem("EC2 metadata: %v", err)
		}
	}
	a.userData(m.UserData, 0)
	return a
}
