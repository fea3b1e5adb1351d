// Package firstboot reads what a machine is told at its first boot: NoCloud files, the reference product's userdata, OVF environments, SMBIOS
// strings and EC2 metadata. All of it is bytes in and answers out; who fetches the bytes is another's business.
package firstboot

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"

	"sluice/image/record"
	"sluice/vendor-config/password"
)

const (
	// Largest is how many bytes one file of a source may have. Clouds allow 16 to 64 KiB.
	Largest = 1 << 20

	mostProblems = 40
	mostKeys     = 64
	mostQuoted   = 64 // bytes of what is quoted from a source
)

// Root is the operator who may do everything.
const Root = "nsroot"

// Answers are what a source says that the box is to be. What is empty it does not say.
type Answers struct {
	Source, Instance string

	Hostname   string
	Management string       // MAC address of the management card
	Address    netip.Prefix // of the management card, the NSIP; none: DHCP
	Gateway    netip.Addr
	DNS        []netip.Addr
	NTP        []string

	Password     string // of nsroot, plain; it never leaves this package but as a hash
	PasswordHash string
	Keys         []string // SSH keys of nsroot

	Commands []string // of the configuration, a line each
	Problems []string // what was not understood, a sentence each; nothing of a value stands in it, which may be a secret
}

// problem notes what was not understood.
func (a *Answers) problem(format string, args ...any) {
	switch n := len(a.Problems); {
	case n < mostProblems:
		a.Problems = append(a.Problems, fmt.Sprintf(format, args...))
	case n == mostProblems:
		a.Problems = append(a.Problems, "there is more that was not understood")
	}
}

// quoted makes a word of a source fit for a sentence on a console: nothing in it moves the cursor.
func quoted(word string) string {
	if len(word) > mostQuoted {
		word = word[:mostQuoted] + "..."
	}
	return strconv.QuoteToASCII(word)
}

// Empty tells whether a source has said nothing that matters.
func (a *Answers) Empty() bool {
	return a.Hostname == "" && a.Management == "" && !a.Address.IsValid() && !a.Gateway.IsValid() && len(a.DNS)+len(a.NTP)+len(a.Keys)+len(a.Commands) == 0 &&
		a.Password == "" && a.PasswordHash == "" && len(a.Problems) == 0
}

var hostname = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`)

// SetHostname takes a name that a host may have.
func (a *Answers) SetHostname(name string) error {
	if len(name) > 253 || !hostname.MatchString(name) {
		return fmt.Errorf("%s is no host name: letters, digits and hyphens, with dots between its parts", quoted(name))
	}
	a.Hostname = name
	return nil
}

// SetPassword takes nsroot's password. The one that everybody knows from the reference product is none.
func (a *Answers) SetPassword(plain string) error {
	switch {
	case plain == "":
		return fmt.Errorf("an empty password is not accepted")
	case strings.EqualFold(plain, Root):
		return fmt.Errorf("the password %s is known to everybody and not accepted", Root)
	case len(plain) > password.Max:
		return fmt.Errorf("a password is at most %d bytes long", password.Max)
	}
	a.Password, a.PasswordHash = plain, ""
	return nil
}

// setHash takes a hash as vendor-config/password makes or reads it.
func (a *Answers) setHash(hash string) error {
	if !password.Is(hash) {
		return fmt.Errorf("the password's hash is of a kind that is not known; sluice-mgmt -hash-password makes one")
	}
	a.Password, a.PasswordHash = "", hash
	return nil
}

// AddKey takes one line of an authorized_keys file.
func (a *Answers) AddKey(line string) error {
	line = strings.TrimSpace(line)
	if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err != nil || strings.ContainsAny(line, "\r\n") {
		return fmt.Errorf("the SSH key is not one line of an authorized_keys file")
	}
	switch {
	case slices.Contains(a.Keys, line):
	case len(a.Keys) >= mostKeys:
		return fmt.Errorf("there are more than %d SSH keys", mostKeys)
	default:
		a.Keys = append(a.Keys, line)
	}
	return nil
}

// Usable tells whether a host can have the address.
func usable(ip netip.Addr) bool {
	return ip.Is4() && !ip.IsUnspecified() && !ip.IsLoopback() && ip.As4()[0] != 0 && ip.As4()[0] < 224
}

// SetAddress takes the NSIP: ADDRESS/BITS, or an address with a mask of its own.
func (a *Answers) SetAddress(address, mask string) error {
	p, err := ParseAddress(address, mask)
	if err == nil {
		a.Address = p
	}
	return err
}

// ParseAddress reads ADDRESS/BITS, or an address and a mask.
func ParseAddress(address, mask string) (netip.Prefix, error) {
	address, mask = strings.TrimSpace(address), strings.TrimSpace(mask)
	p, err := netip.ParsePrefix(address)
	if err != nil && mask != "" {
		var ip netip.Addr
		if ip, err = netip.ParseAddr(address); err == nil {
			var bits int
			if bits, err = maskBits(mask); err == nil {
				p = netip.PrefixFrom(ip, bits)
			}
		}
	}
	switch {
	case err != nil && mask == "":
		return netip.Prefix{}, fmt.Errorf("%s is no address with its subnet's length, such as 192.0.2.10/24", quoted(address))
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("%s and the mask %s are no address of a subnet, such as 192.0.2.10 and 255.255.255.0", quoted(address), quoted(mask))
	case !usable(p.Addr()):
		return netip.Prefix{}, fmt.Errorf("%s is no IPv4 address that a host can have", quoted(address))
	case p.Bits() < 1 || p.Bits() < 31 && (p.Addr() == p.Masked().Addr() || p.Addr() == last(p)):
		return netip.Prefix{}, fmt.Errorf("%s is its subnet's own or broadcast address", quoted(address))
	}
	return p, nil
}

// last is the broadcast address of a subnet.
func last(p netip.Prefix) netip.Addr {
	b := p.Masked().Addr().As4()
	for i := p.Bits(); i < 32; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	return netip.AddrFrom4(b)
}

// maskBits is the length of a mask, given as an address or as the length.
func maskBits(mask string) (int, error) {
	if n, err := strconv.Atoi(mask); err == nil && n >= 1 && n <= 32 {
		return n, nil
	}
	ip, err := netip.ParseAddr(mask)
	if err != nil || !ip.Is4() {
		return 0, fmt.Errorf("no mask")
	}
	b := ip.As4()
	v := uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	for n := 1; n <= 32; n++ {
		if v == ^uint32(0)<<(32-n) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("no mask")
}

// SetGateway takes the default gateway.
func (a *Answers) SetGateway(text string) error {
	ip, err := netip.ParseAddr(strings.TrimSpace(text))
	if err != nil || !usable(ip) {
		return fmt.Errorf("%s is no IPv4 address of a gateway", quoted(text))
	}
	a.Gateway = ip
	return nil
}

// addDNS takes the address of a name server.
func (a *Answers) addDNS(text string) error {
	ip, err := netip.ParseAddr(strings.TrimSpace(text))
	switch {
	case err != nil || !usable(ip):
		return fmt.Errorf("%s is no IPv4 address of a name server", quoted(text))
	case !slices.Contains(a.DNS, ip) && len(a.DNS) < 3:
		a.DNS = append(a.DNS, ip)
	}
	return nil
}

// addNTP takes the name or address of a time server.
func (a *Answers) addNTP(name string) error {
	if _, err := netip.ParseAddr(name); err != nil && (len(name) > 253 || !hostname.MatchString(name)) {
		return fmt.Errorf("%s is neither the name nor the address of a time server", quoted(name))
	}
	if !slices.Contains(a.NTP, name) && len(a.NTP) < 8 {
		a.NTP = append(a.NTP, name)
	}
	return nil
}

// setManagement takes the MAC address of the management card.
func (a *Answers) setManagement(mac string) error {
	mac = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(mac), "-", ":"))
	if !macAddress.MatchString(mac) {
		return fmt.Errorf("%s is no MAC address", quoted(mac))
	}
	a.Management = mac
	return nil
}

var macAddress = regexp.MustCompile(`^[0-9a-f]{2}(:[0-9a-f]{2}){5}$`)

// Record writes into r what of the answers belongs to the box. It fails only when a password cannot be hashed.
func (a *Answers) Record(r *record.Record) error {
	hash := a.PasswordHash
	if a.Password != "" {
		var err error
		if hash, err = password.Make(a.Password); err != nil {
			return err
		}
	}
	if a.Management != "" {
		r.Management = a.Management
	}
	if hash != "" || len(a.Keys) > 0 {
		at := slices.IndexFunc(r.Users, func(u record.User) bool { return u.Name == Root })
		if at < 0 {
			at = len(r.Users)
			r.Users = append(r.Users, record.User{Name: Root})
		}
		if hash != "" {
			r.Users[at].PasswordHash = hash
		}
		if len(a.Keys) > 0 {
			r.Users[at].AuthorizedKeys = a.Keys
		}
	}
	r.FirstBoot = record.FirstBoot{Source: a.Source, Instance: a.Instance, Problems: a.Problems}
	return nil
}
