package sshd

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of a new hash: OWASP's second choice for argon2id, about 30 ms on one core.
const (
	hashMemory = 19 * 1024 // KiB
	hashTime   = 2
	hashLanes  = 1
	hashSalt   = 16 // bytes
	hashSum    = 32
)

// maxPassword is the longest password that is looked at, in bytes.
const maxPassword = 1024

// passwordHash is a password's argon2id hash with its cost (RFC 9106).
type passwordHash struct {
	memory, time uint32 // KiB, passes
	lanes        uint8
	salt, sum    []byte
}

// HashPassword returns the argon2id hash of a password as a PHC string, with a new salt.
func HashPassword(password string) (string, error) {
	if password == "" {
		return "", errors.New("an empty password is not accepted")
	}
	if len(password) > maxPassword {
		return "", fmt.Errorf("a password is at most %d bytes long", maxPassword)
	}
	h := newHash()
	h.sum = h.of(password)
	return h.String(), nil
}

func newHash() passwordHash {
	h := passwordHash{memory: hashMemory, time: hashTime, lanes: hashLanes, salt: make([]byte, hashSalt), sum: make([]byte, hashSum)}
	rand.Read(h.salt) // never fails: crypto/rand
	return h
}

func (h passwordHash) of(password string) []byte {
	return argon2.IDKey([]byte(password), h.salt, h.time, h.memory, h.lanes, uint32(len(h.sum)))
}

// fits compares in constant time.
func (h passwordHash) fits(password string) bool {
	return subtle.ConstantTimeCompare(h.of(password), h.sum) == 1
}

// String is the PHC form: $argon2id$v=19$m=19456,t=2,p=1$salt$sum
func (h passwordHash) String() string {
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.lanes,
		b.EncodeToString(h.salt), b.EncodeToString(h.sum))
}

var errHash = errors.New("the password hash is not of the form $argon2id$v=19$m=...,t=...,p=...$salt$sum; make one with sluice-mgmt -hash-password")

// parseHash reads the PHC form. Costs that would let one login take the machine's memory are refused.
func parseHash(s string) (passwordHash, error) {
	var h passwordHash
	part := strings.Split(s, "$")
	if len(part) != 6 || strings.ContainsAny(s, "\r\n") || part[0] != "" || part[1] != "argon2id" || part[2] != "v="+strconv.Itoa(argon2.Version) {
		return h, errHash
	}
	cost := strings.Split(part[3], ",")
	if len(cost) != 3 {
		return h, errHash
	}
	m, err1 := number(cost[0], "m=", math.MaxUint32)
	t, err2 := number(cost[1], "t=", math.MaxUint32)
	p, err3 := number(cost[2], "p=", math.MaxUint8)
	salt, err4 := base64.RawStdEncoding.Strict().DecodeString(part[4])
	sum, err5 := base64.RawStdEncoding.Strict().DecodeString(part[5])
	if errors.Join(err1, err2, err3, err4, err5) != nil {
		return h, errHash
	}
	if m > 256*1024 || m < 8*p || t > 16 || p > 16 || len(salt) < 8 || len(salt) > 64 || len(sum) < 16 || len(sum) > 64 {
		return h, errors.New("the password hash is out of bounds: at most m=262144 (KiB), t=16, p=16, a salt of 8 to 64 bytes and a sum of 16 to 64 bytes")
	}
	return passwordHash{memory: uint32(m), time: uint32(t), lanes: uint8(p), salt: salt, sum: sum}, nil
}

func number(s, name string, most uint64) (uint64, error) {
	digits, ok := strings.CutPrefix(s, name)
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || n == 0 || n > most || strconv.FormatUint(n, 10) != digits {
		return 0, errHash
	}
	return n, nil
}
