// Package password makes and checks the hashes by which the configuration keeps passwords: argon2id for new ones, and those of
// the reference product as they come with an imported file. Nothing else of a password is ever kept.
package password

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
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

// Max is the longest password that is looked at, in bytes.
const Max = 1024

// slots bounds the hashes that are computed at once: each takes memory.
var slots = make(chan struct{}, 2)

// Hash is a password's hash.
type Hash struct {
	memory, time uint32 // KiB, passes (RFC 9106); 0: a hash of the reference product
	lanes        uint8
	salt, sum    []byte
}

// Make returns the argon2id hash of a password as a PHC string, with a new salt.
func Make(plain string) (string, error) {
	if plain == "" {
		return "", errors.New("an empty password is not accepted")
	}
	if len(plain) > Max {
		return "", fmt.Errorf("a password is at most %d bytes long", Max)
	}
	h := Dummy()
	h.sum = h.of(plain)
	return h.String(), nil
}

// Dummy is a hash that no password is known to fit. What it costs to find that out is what a new hash costs.
func Dummy() Hash {
	h := Hash{memory: hashMemory, time: hashTime, lanes: hashLanes, salt: make([]byte, hashSalt), sum: make([]byte, hashSum)}
	rand.Read(h.salt) // never fails: crypto/rand
	rand.Read(h.sum)
	return h
}

// Dearer tells whether it costs more to try a password on h than on other.
func (h Hash) Dearer(other Hash) bool {
	return uint64(h.memory)*uint64(h.time) > uint64(other.memory)*uint64(other.time)
}

// AsDear is Dummy at the cost of h.
func (h Hash) AsDear() Hash {
	d := Dummy()
	d.memory, d.time, d.lanes = h.memory, h.time, h.lanes
	return d
}

func (h Hash) of(plain string) []byte {
	slots <- struct{}{}
	defer func() { <-slots }()
	if h.memory == 0 { // salted SHA of the text and its terminating zero
		text := string(h.salt) + plain + "\x00"
		if len(h.sum) == sha1.Size {
			sum := sha1.Sum([]byte(text))
			return sum[:]
		}
		sum := sha512.Sum512([]byte(text))
		return sum[:]
	}
	return argon2.IDKey([]byte(plain), h.salt, h.time, h.memory, h.lanes, uint32(len(h.sum)))
}

// Fits compares in constant time. It takes as long for a password that cannot be one.
func (h Hash) Fits(plain string) bool {
	fair := plain != "" && len(plain) <= Max
	if !fair {
		plain = ""
	}
	return subtle.ConstantTimeCompare(h.of(plain), h.sum) == 1 && fair
}

// String is the form that Parse reads, for argon2id: $argon2id$v=19$m=19456,t=2,p=1$salt$sum
func (h Hash) String() string {
	if h.memory == 0 {
		kind := "1"
		if len(h.sum) == sha512.Size {
			kind = "2"
		}
		return kind + string(h.salt) + hex.EncodeToString(h.sum)
	}
	b := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.memory, h.time, h.lanes,
		b.EncodeToString(h.salt), b.EncodeToString(h.sum))
}

var errForm = errors.New("the password hash is not of the form $argon2id$v=19$m=...,t=...,p=...$salt$sum; make one with sluice-mgmt -hash-password")

// Is tells whether s is a hash.
func Is(s string) bool {
	_, err := Parse(s)
	return err == nil
}

// Parse reads the PHC form, and the two of the reference product: 1 or 2, a salt of 8 hexadecimal digits, and the SHA-1 or
// SHA-512 sum. Costs that would let one login take the machine's memory are refused.
func Parse(s string) (Hash, error) {
	var h Hash
	if n := len(s) - 9; (n == 2*sha1.Size && s[0] == '1' || n == 2*sha512.Size && s[0] == '2') && strings.Trim(s, "0123456789abcdef") == "" {
		sum, err := hex.DecodeString(s[9:])
		return Hash{salt: []byte(s[1:9]), sum: sum}, err
	}
	part := strings.Split(s, "$")
	if len(part) != 6 || strings.ContainsAny(s, "\r\n") || part[0] != "" || part[1] != "argon2id" || part[2] != "v="+strconv.Itoa(argon2.Version) {
		return h, errForm
	}
	cost := strings.Split(part[3], ",")
	if len(cost) != 3 {
		return h, errForm
	}
	m, err1 := number(cost[0], "m=", math.MaxUint32)
	t, err2 := number(cost[1], "t=", math.MaxUint32)
	p, err3 := number(cost[2], "p=", math.MaxUint8)
	salt, err4 := base64.RawStdEncoding.Strict().DecodeString(part[4])
	sum, err5 := base64.RawStdEncoding.Strict().DecodeString(part[5])
	if errors.Join(err1, err2, err3, err4, err5) != nil {
		return h, errForm
	}
	if m > 256*1024 || m < 8*p || t > 16 || p > 16 || len(salt) < 8 || len(salt) > 64 || len(sum) < 16 || len(sum) > 64 {
		return h, errors.New("the password hash is out of bounds: at most m=262144 (KiB), t=16, p=16, a salt of 8 to 64 bytes and a sum of 16 to 64 bytes")
	}
	return Hash{memory: uint32(m), time: uint32(t), lanes: uint8(p), salt: salt, sum: sum}, nil
}

func number(s, name string, most uint64) (uint64, error) {
	digits, ok := strings.CutPrefix(s, name)
	n, err := strconv.ParseUint(digits, 10, 64)
	if !ok || err != nil || n == 0 || n > most || strconv.FormatUint(n, 10) != digits {
		return 0, errForm
	}
	return n, nil
}
