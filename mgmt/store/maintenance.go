package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// MaintenanceFile is the name of the file with the virtual routers that operators keep backup: the kernel's boot id and, a line each,
// their vrIDs. It outlives management and not the machine's run, for who maintains an appliance may well restart the one, and finds
// it in service after the other.
const MaintenanceFile = "maintenance"

const unusedMaintenance = MaintenanceFile + ".unused"

// KeepBackup notes which virtual routers are kept backup, before it returns.
func (s *Store) KeepBackup(ids []uint8) error {
	err := s.keepBackup(ids)
	if err != nil {
		return fmt.Errorf("that virtual routers are kept backup would not survive a restart of management: %w", err)
	}
	return nil
}

func (s *Store) keepBackup(ids []uint8) error {
	if len(ids) == 0 {
		_, err := s.drop(MaintenanceFile)
		return err
	}
	boot, err := s.boot()
	if err != nil {
		return err
	}
	ids = slices.Sorted(slices.Values(ids))
	text := boot + "\n"
	for _, id := range ids {
		text += strconv.Itoa(int(id)) + "\n"
	}
	return s.Put(MaintenanceFile, []byte(text)) // a power cut that loses the name makes the file void anyway
}

// KeptBackup are the virtual routers that an earlier run of management was to keep backup, in this run of the machine.
func (s *Store) KeptBackup() (ids []uint8, err error) {
	name := filepath.Join(s.dir, MaintenanceFile)
	data, err := readLimited(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	boot, bootErr := s.boot()
	if err = errors.Join(err, bootErr); err != nil {
		return nil, fmt.Errorf("which virtual routers are kept backup is not known: %w", err)
	}
	first, rest, _ := strings.Cut(string(data), "\n")
	if first != boot {
		return nil, nil // of an earlier run of the machine
	}
	for line := range strings.Lines(rest) {
		id, err := strconv.ParseUint(strings.TrimSuffix(line, "\n"), 10, 8)
		if err != nil || id == 0 || !strings.HasSuffix(line, "\n") {
			err := errors.New("which virtual routers are kept backup is damaged; give force vrID N -backup again")
			if e := os.Rename(name, filepath.Join(s.dir, unusedMaintenance)); e != nil {
				err = fmt.Errorf("%w; it cannot be put aside: %w", err, e)
			}
			return ids, err
		}
		ids = append(ids, uint8(id))
	}
	return ids, nil
}
