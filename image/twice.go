package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"sluice/image/tool"
)

// drawn are the forms with identities that are drawn anew each time, which therefore cannot be the same twice.
var drawn = []string{".vhdx"}

// again builds a second time, from the same packages in another folder, and says whether each file is the same bit for bit.
func (b *build) again(ctx context.Context, box tool.Box, made []string) error {
	second := *b
	second.out, second.twice = filepath.Join(b.out, "again"), false
	box.Say("once more, into %s", second.out)
	if err := second.run(ctx, box); err != nil {
		return err
	}
	var differ []error
	for _, file := range made {
		if slices.Contains(drawn, filepath.Ext(file)) {
			continue
		}
		first, err := sum(file)
		if err != nil {
			return err
		}
		other, err := sum(filepath.Join(second.out, filepath.Base(file)))
		if err != nil {
			return err
		}
		if first != other {
			differ = append(differ, fmt.Errorf("%s is not the same when it is built again", filepath.Base(file)))
		} else {
			box.Say("the same again: %s, SHA-256 %x", filepath.Base(file), first)
		}
	}
	return errors.Join(differ...)
}

func sum(file string) (digest [sha256.Size]byte, err error) {
	f, err := os.Open(file)
	if err != nil {
		return digest, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err = io.Copy(h, f); err != nil {
		return digest, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
