package disk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// put copies a file into the disk at a place, leaving out blocks of zeros: the disk's file stays small, and what is not
// written there is zero already.
func put(disk *os.File, file string, at, room int64) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil {
		return err
	} else if info.Size() > room {
		return fmt.Errorf("%s has %d bytes, its partition %d: make the partition larger", filepath.Base(file), info.Size(), room)
	}
	block, zero := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, err := io.ReadFull(in, block)
		if n > 0 && !bytes.Equal(block[:n], zero[:n]) {
			if _, err := disk.WriteAt(block[:n], at); err != nil {
				return fmt.Errorf("%s cannot be written: %w", filepath.Base(file), err)
			}
		}
		at += int64(n)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}
