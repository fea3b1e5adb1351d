package sshd

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	gossh "golang.org/x/crypto/ssh"
)

// hostKey reads the host key; if there is none it makes one and keeps it, so that clients know the appliance again.
func hostKey(path string) (signer gossh.Signer, made bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeHostKey(path); err != nil {
			return nil, false, fmt.Errorf("the SSH host key %s cannot be made: %w", path, err)
		}
		made = true
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, false, fmt.Errorf("the SSH host key cannot be read: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, fmt.Errorf("the SSH host key cannot be read: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, false, fmt.Errorf("the SSH host key %s can be read or written by others than its owner: chmod 600 it, or remove it and a new one is made", path)
	}
	signer, err = gossh.ParsePrivateKey(data)
	if err != nil {
		return nil, false, fmt.Errorf("%s holds no SSH host key that can be used (%w): put the right file back, or remove it and a new one is made", path, err)
	}
	return signer, made, nil
}

// makeHostKey writes a new ed25519 key. The file gets its name when it is whole and on the disk; one that another
// program has put there meanwhile is left alone.
func makeHostKey(path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := gossh.MarshalPrivateKey(private, "sluice host key")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, filepath.Base(path)+".tmp-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(pem.EncodeToMemory(block))
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		if err := os.Rename(tmp.Name(), path); err != nil { // a file system without second names
			return err
		}
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
