package schema

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
)

// Hidden is what is shown in place of a secret.
const Hidden = "********"

// maskKey makes masks of secret keys tell nothing beyond this run of the program.
var maskKey = func() []byte {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // which never fails
	return key
}()

// Mask is what is shown in place of the field's value, if that is a secret. Masks of keys differ, since they tell rows apart, but
// say nothing about the key.
func (f *Field) Mask(text string) string {
	switch {
	case !f.Secret || text == "" || Masked(text):
		return text
	case f.Key > 0:
		h := hmac.New(sha256.New, maskKey)
		h.Write([]byte(text))
		return Hidden + "-" + hex.EncodeToString(h.Sum(nil)[:4])
	}
	return Hidden
}

// Masked tells whether a text is what Mask makes of a secret.
func Masked(text string) bool {
	rest, ok := strings.CutPrefix(text, Hidden)
	return ok && (rest == "" || len(rest) == 9 && rest[0] == '-')
}

// Unmask is the value that a text stands for: of a masked key the one that it was made of, if a row has it.
func (c *Config) Unmask(o *Object, key *Field, text string) string {
	if !key.Secret || !Masked(text) {
		return text
	}
	for row := range c.Each(o) {
		if secret := key.Text(reflect.ValueOf(row).Elem()); key.Mask(secret) == text {
			return secret
		}
	}
	return text
}
