package sshd

import (
	"bufio"
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	gossh "golang.org/x/crypto/ssh"
)

// Account is who may log in, and by what.
type Account struct {
	Name           string
	PasswordHash   string // PHC string of HashPassword; "": no password fits
	AuthorizedKeys string // file in the form of OpenSSH's authorized_keys; "": no key fits
}

// Accounts are all who may log in.
type Accounts struct {
	byName map[string]account
	dummy  passwordHash  // what an unknown user's password is held against, so that it takes as long
	slots  chan struct{} // hashes that may be computed at once: each takes memory
}

type account struct {
	hash *passwordHash
	keys string
}

// NewAccounts checks the accounts. The error names the account and never holds a hash.
func NewAccounts(list []Account) (*Accounts, error) {
	a := &Accounts{byName: map[string]account{}, dummy: newHash(), slots: make(chan struct{}, 2)}
	for _, x := range list {
		if _, ok := a.byName[x.Name]; ok {
			return nil, fmt.Errorf("there are two accounts named %q", x.Name)
		}
		if !goodName(x.Name) {
			return nil, fmt.Errorf("an account cannot be named %q: a name is 1 to 64 letters, digits and . _ -", x.Name)
		}
		if x.PasswordHash == "" && x.AuthorizedKeys == "" {
			return nil, fmt.Errorf("account %s has neither a password-hash nor authorized-keys, so nobody could log in with it", x.Name)
		}
		n := account{keys: x.AuthorizedKeys}
		if x.PasswordHash != "" {
			h, err := parseHash(x.PasswordHash)
			if err != nil {
				return nil, fmt.Errorf("account %s: %w", x.Name, err)
			}
			n.hash = &h
			if h.memory*h.time > a.dummy.memory*a.dummy.time {
				a.dummy.memory, a.dummy.time, a.dummy.lanes = h.memory, h.time, h.lanes
			}
		}
		a.byName[x.Name] = n
	}
	return a, nil
}

func goodName(s string) bool {
	return len(s) > 0 && len(s) <= 64 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
}

// password tells whether it is the user's. It takes the same time for a user that does not exist.
func (a *Accounts) password(user, password string) bool {
	x, known := a.byName[user]
	h := &a.dummy
	if known && x.hash != nil {
		h = x.hash
	}
	fair := password != "" && len(password) <= maxPassword
	if !fair {
		password = "" // the time that it takes must not depend on it
	}
	a.slots <- struct{}{}
	defer func() { <-a.slots }()
	return h.fits(password) && h != &a.dummy && fair
}

// key tells whether it is one of the user's keys. The file is read each time, so that a key that was taken out of it
// does not open the door again. The error says why the file, or a line of it, was not regarded.
func (a *Accounts) key(user string, k gossh.PublicKey) (bool, error) {
	x := a.byName[user]
	if x.keys == "" {
		return false, nil
	}
	if r, ok := k.(gossh.CryptoPublicKey); ok {
		if r, ok := r.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() < 2048 {
			return false, errors.New("an RSA key of less than 2048 bits is refused")
		}
	}
	data, err := readKeys(x.keys)
	if err != nil {
		return false, err
	}
	var ignored error
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		key, _, options, _, err := gossh.ParseAuthorizedKey(line)
		switch {
		case err != nil:
			ignored = fmt.Errorf("%s line %d is no public key and is ignored", x.keys, n)
		case slices.ContainsFunc(options, strange):
			ignored = fmt.Errorf("%s line %d has an option that is not known here, so the key is ignored", x.keys, n)
		case bytes.Equal(key.Marshal(), k.Marshal()):
			return true, nil
		}
	}
	return false, ignored
}

// strange is an option of a key that would have to be obeyed; the others forbid what this door never offers.
func strange(option string) bool {
	switch strings.ToLower(option) {
	case "no-port-forwarding", "no-x11-forwarding", "no-agent-forwarding", "no-user-rc":
		return false
	}
	return true
}

// readKeys reads a file of keys, unless others than its owner could have written it.
func readKeys(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the authorized keys cannot be read: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("the authorized keys cannot be read: %w", err)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("the authorized keys in %s are ignored: others may write the file; chmod go-w it", path)
	}
	const most = 1 << 20
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && len(data) > most {
		err = errors.New("the file is larger than 1 MiB")
	}
	if err != nil {
		return nil, fmt.Errorf("the authorized keys in %s cannot be read: %w", path, err)
	}
	return data, nil
}
