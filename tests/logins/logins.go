// Package logins makes what tests of accounts and doors log in with: keys, files of them, and hashes of passwords that cost
// nothing to check.
package logins

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha1"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/ssh"
)

// Hash is that of a password in a form that is cheap to check.
func Hash(plain string) string {
	return fmt.Sprintf("10a1b2c3d%x", sha1.Sum([]byte("0a1b2c3d"+plain+"\x00")))
}

// Key is a new key: as what signs with it, as a line of a file of authorized keys, and as OpenSSH's file of the private half.
func Key(t testing.TB) (signer ssh.Signer, line string, private []byte) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if signer, err = ssh.NewSignerFromKey(key); err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	return signer, string(ssh.MarshalAuthorizedKey(signer.PublicKey())), pem.EncodeToMemory(block)
}

// File writes a file with exactly that mode, for the time of the test.
func File(t testing.TB, text string, mode os.FileMode) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}
