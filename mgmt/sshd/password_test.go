package sshd

import (
	"strings"
	"testing"
)

func TestPasswordHash(t *testing.T) {
	text, err := HashPassword("Secret 1 ü")
	if err != nil || !strings.HasPrefix(text, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatal(text, err)
	}
	if again, _ := HashPassword("Secret 1 ü"); again == text {
		t.Error("two hashes have the same salt")
	}
	h, err := parseHash(text)
	if err != nil || !h.fits("Secret 1 ü") || h.fits("secret 1 ü") || h.fits("") || h.String() != text {
		t.Fatal(err, h)
	}
	for _, bad := range []string{"", strings.Repeat("x", maxPassword+1)} {
		if _, err := HashPassword(bad); err == nil {
			t.Errorf("a password of %d bytes is hashed", len(bad))
		}
	}
}

// The hash that the argon2 reference program prints for this password and salt:
// echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32
func TestHashOfTheReferenceProgram(t *testing.T) {
	h, err := parseHash("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	if err != nil || !h.fits("password") || h.fits("Password") {
		t.Fatal(err)
	}
}

func TestBadHashes(t *testing.T) {
	const good = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, x := range [][2]string{{"argon2id", "argon2i"}, {"v=19", "v=16"}, {"m=65536", "m=262145"}, {"m=65536", "m=0"}, {"m=65536", "m=7"}, {"t=2", "t=17"},
		{"t=2", "t=-1"}, {"p=1", "p=300"}, {"p=1", "p=1,q=2"}, {"m=65536,t=2", "t=2,m=65536"}, {"c29tZXNhbHQ", "c29t"}, {"c29tZXNhbHQ", "c29tZXNhbHQ="},
		{"$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "$"}, {"PPc", "PP!"}, {"$argon2id", "argon2id"}, {"m=65536", "m=065536"}, {"t=2", "t=99999999999999999999"}} {
		if _, err := parseHash(strings.Replace(good, x[0], x[1], 1)); err == nil {
			t.Errorf("%s in place of %s is accepted", x[1], x[0])
		}
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	f.Add("$argon2id$v=19$m=8,t=1,p=1$$")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseHash(s)
		if err == nil && h.String() != s {
			t.Fatalf("%q is read as %q", s, h.String())
		}
	})
}
