package aaa

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

	"sluice/vendor-config/schema"
)

// Key tells who it is whose name and public key these are; ok is false when they fit nobody. The error says why the keys in a
// file, or one of them, were not regarded.
func (a *Accounts) Key(user string, k gossh.PublicKey) (p Person, ok bool, err error) {
	p = Person{Name: user}
	if r, isKey := k.(gossh.CryptoPublicKey); isKey {
		if r, isRSA := r.CryptoPublicKey().(*rsa.PublicKey); isRSA && r.N.BitLen() < 2048 {
			return p, false, errors.New("an RSA key of less than 2048 bits is refused")
		}
	}
	for _, b := range schema.All[schema.SystemUserKey](a.config()) {
		if b.User != user {
			continue
		}
		if key, _, _, _, err := gossh.ParseAuthorizedKey([]byte(b.Key)); err == nil && bytes.Equal(key.Marshal(), k.Marshal()) {
			return p, true, nil
		}
	}
	if keys := a.settings[user].keys; keys != "" {
		ok, err = inFile(keys, k)
	}
	return p, ok, err
}

// inFile tells whether the key stands in a file. It is read each time, so that a key that was taken out of it does not open
// the door again.
func inFile(path string, k gossh.PublicKey) (bool, error) {
	data, err := readKeys(path)
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
			ignored = fmt.Errorf("%s line %d is no public key and is ignored", path, n)
		case slices.ContainsFunc(options, strange):
			ignored = fmt.Errorf("%s line %d has an option that is not known here, so the key is ignored", path, n)
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
