package bundle

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
)

// KeyFile is where an appliance has the public key to which bundles are held, in PEM (SubjectPublicKeyInfo).
const KeyFile = "/etc/sluice/bundle.pub"

// keyMost is the greatest file of a key, in bytes.
const keyMost = 16 << 10

// ReadPrivate reads a signing key, as `openssl genpkey -algorithm ed25519` writes it (PKCS #8 in PEM).
func ReadPrivate(path string) (ed25519.PrivateKey, error) {
	der, err := readPEM(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKCS8PrivateKey(der)
	if k, ok := key.(ed25519.PrivateKey); ok && err == nil {
		return k, nil
	}
	return nil, fmt.Errorf("%s holds no ed25519 key: make one with openssl genpkey -algorithm ed25519", path)
}

// ReadPublic reads the key that WritePublic has written.
func ReadPublic(path string) (ed25519.PublicKey, error) {
	der, err := readPEM(path, "PUBLIC KEY")
	if err != nil {
		return nil, err
	}
	key, err := x509.ParsePKIXPublicKey(der)
	if k, ok := key.(ed25519.PublicKey); ok && err == nil {
		return k, nil
	}
	return nil, fmt.Errorf("%s holds no public ed25519 key", path)
}

// PublicText is the file for KeyFile that belongs to a signing key.
func PublicText(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

func readPEM(path, kind string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(text) > keyMost {
		return nil, fmt.Errorf("%s is no key: it is too large", path)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != kind {
		return nil, fmt.Errorf("%s holds no %s in PEM", path, kind)
	}
	return block.Bytes, nil
}
