package password

import (
	"strings"
	"testing"
)

func TestPasswordHash(t *testing.T) {
	text, err := Make("Secret 1 ü")
	if err != nil || !strings.HasPrefix(text, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatal(text, err)
	}
	if again, _ := Make("Secret 1 ü"); again == text {
		t.Error("two hashes have the same salt")
	}
	h, err := Parse(text)
	if err != nil || !h.Fits("Secret 1 ü") || h.Fits("secret 1 ü") || h.Fits("") || h.String() != text {
		t.Fatal(err, h)
	}
	for _, bad := range []string{"", strings.Repeat("x", Max+1)} {
		if _, err := Make(bad); err == nil {
			t.Errorf("a password of %d bytes is hashed", len(bad))
		}
	}
}

// The hash that the argon2 reference program prints for this password and salt:
// echo -n password | argon2 somesalt -id -t 2 -k 65536 -p 1 -l 32
func TestHashOfTheReferenceProgram(t *testing.T) {
	h, err := Parse("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	if err != nil || !h.Fits("password") || h.Fits("Password") {
		t.Fatal(err)
	}
}

// Hashes of the reference product: 1 or 2, the salt as it stands there, and the sum of salt, password and a zero byte. The sums
// are of the program sha1sum and sha512sum: printf '%s\0' 0a1b2c3dsecret | sha1sum
func TestHashOfTheReferenceProduct(t *testing.T) {
	for _, text := range []string{
		"10a1b2c3d7880f4a3656ee4aaab4e4556e4005094dafe373e",
		"20a1b2c3dbe1e67a1176136e1d3e15f097b7de9ba488e9d41e35038adc9a2b7dfeb3cf4b5d5bc6c4419eb4620c4b2650ceeff040676d03746297c2447feb876104fa16d0f",
	} {
		h, err := Parse(text)
		if err != nil || !h.Fits("secret") || h.Fits("Secret") || h.Fits("") || h.String() != text {
			t.Error(text, err)
		}
		if Is(text[1:]) || Is("3"+text[1:]) || Is(text+"0") || Is(strings.ToUpper(text)) {
			t.Error("too much is taken for a hash")
		}
	}
}

func TestBadHashes(t *testing.T) {
	const good = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
	for _, x := range [][2]string{{"argon2id", "argon2i"}, {"v=19", "v=16"}, {"m=65536", "m=262145"}, {"m=65536", "m=0"}, {"m=65536", "m=7"}, {"t=2", "t=17"},
		{"t=2", "t=-1"}, {"p=1", "p=300"}, {"p=1", "p=1,q=2"}, {"m=65536,t=2", "t=2,m=65536"}, {"c29tZXNhbHQ", "c29t"}, {"c29tZXNhbHQ", "c29tZXNhbHQ="},
		{"$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "$"}, {"PPc", "PP!"}, {"$argon2id", "argon2id"}, {"m=65536", "m=065536"}, {"t=2", "t=99999999999999999999"}} {
		if _, err := Parse(strings.Replace(good, x[0], x[1], 1)); err == nil {
			t.Errorf("%s in place of %s is accepted", x[1], x[0])
		}
	}
}

func FuzzParseHash(f *testing.F) {
	f.Add("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc")
	f.Add("$argon2id$v=19$m=8,t=1,p=1$$")
	f.Fuzz(func(t *testing.T, s string) {
		h, err := Parse(s)
		if err == nil && h.String() != s {
			t.Fatalf("%q is read as %q", s, h.String())
		}
	})
}
