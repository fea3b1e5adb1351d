package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A machine with two slots has one folder of configurations, and each slot its own configuration in it: what stood there when the slot
// was last left comes back when it is started again. A file says to which slot the folder belongs. It is what the slot before had left
// until the first start of another one, which keeps a copy of it as that slot's and puts its own in place, if it has one; an image
// that is new in a slot has none and goes on with what is there.
const (
	SlotsDir = "slots" // folder of the store's directory with all of it
	slotFile = "owner" // in it: the slot to which the configuration belongs
	slotTime = "2006_01_02_15_04_05"
)

// entering stands behind the owner while another slot takes over. What may be laid ready then is no backup's, and is dropped.
const entering = ">"

func slotArchive(slot string) string { return path.Join(SlotsDir, slot+backupEnd) }

// KeepSlot keeps the saved configuration, with the files that belong to it, as that of a slot.
func (s *Store) KeepSlot(slot string, m Manifest) error {
	err := s.keepSlot(slot, m)
	if err != nil {
		return fmt.Errorf("The configuration of slot %s cannot be kept: %w", slot, plain(err))
	}
	return nil
}

func (s *Store) keepSlot(slot string, m Manifest) error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	text, err := readLimited(s.Path()) // as it is: no line of it is lost, whether it is understood here or not
	if errors.Is(err, fs.ErrNotExist) {
		var r *result
		if r, err = s.read(); err == nil { // a file of commands may stand for it
			text, err = s.writer.XML(r.Config, nil, Meta{By: m.By, At: m.At})
		}
	}
	if err != nil {
		return err
	}
	a := &Archive{m}
	a.Level, a.Files = "basic", []Entry{{Name: File, Mode: 0o600, Data: text}}
	if _, err := a.gather(root, nil); err != nil {
		return err
	}
	data, err := a.pack()
	if err == nil {
		err = s.disk.mkdir(filepath.Join(s.dir, SlotsDir))
	}
	if err == nil {
		err = s.Put(slotArchive(slot), data)
	}
	return errors.Join(err, s.disk.syncDir(filepath.Join(s.dir, SlotsDir)), s.disk.syncDir(s.dir))
}

// SlotKept tells when the configuration of a slot was kept; the zero time is never.
func (s *Store) SlotKept(slot string) time.Time {
	info, err := os.Stat(filepath.Join(s.dir, slotArchive(slot)))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// RetireSlot makes the configuration that is kept for a slot a backup like any other, since another image comes there. name is that
// backup's; it is empty if there was nothing to keep.
func (s *Store) RetireSlot(slot string) (name string, err error) {
	from := filepath.Join(s.dir, slotArchive(slot))
	info, err := os.Stat(from)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil {
		name = "slot_" + slot + "_" + info.ModTime().UTC().Format(slotTime)
		err = s.disk.mkdir(filepath.Join(s.dir, BackupDir))
	}
	if err == nil {
		err = s.disk.rename(from, filepath.Join(s.dir, backupFile(name)))
	}
	if err == nil {
		err = errors.Join(s.disk.syncDir(filepath.Join(s.dir, BackupDir)), s.disk.syncDir(filepath.Join(s.dir, SlotsDir)))
	}
	if err != nil {
		return "", fmt.Errorf("The configuration that is kept for slot %s cannot be made a backup: %w", slot, plain(err))
	}
	return name, nil
}

// EnterSlot is the first thing of a start in a slot, before FinishRestore and Load. left is the slot that ran before, empty if it was this
// one; restored tells that the slot's own configuration comes into force, instead of going on with the one of before. After an error the
// folder is what it was, or complete.
func (s *Store) EnterSlot(slot string, m Manifest) (left string, restored bool, err error) {
	if err := s.disk.mkdir(filepath.Join(s.dir, SlotsDir)); err != nil {
		return "", false, plain(err)
	}
	owner, err := s.slotOwner()
	if err != nil {
		return "", false, err
	}
	if before, _, cut := strings.Cut(owner, entering); cut {
		owner = before
		if err := errors.Join(s.Unstage(), s.ownSlot(owner)); err != nil {
			return "", false, err
		}
	}
	if owner == "" {
		return "", false, s.ownSlot(slot)
	}
	if owner == slot {
		return "", false, nil
	}
	if _, err := s.FinishRestore(); err != nil { // it was begun in the other slot
		return owner, false, err
	}
	if err := s.KeepSlot(owner, m); err != nil {
		return owner, false, err
	}
	if err := s.ownSlot(owner + entering + slot); err != nil {
		return owner, false, err
	}
	a, err := s.slotsOwn(slot)
	if err != nil { // it will never be better
		_, e := s.RetireSlot(slot)
		return owner, false, errors.Join(err, e, s.ownSlot(slot))
	}
	if a != nil {
		if err := s.Stage(a); err != nil { // the next start tries again
			return owner, false, errors.Join(err, s.ownSlot(owner))
		}
	}
	return owner, a != nil, s.ownSlot(slot)
}

// slotsOwn reads the configuration that is kept for a slot, or nil.
func (s *Store) slotsOwn(slot string) (*Archive, error) {
	f, err := os.Open(filepath.Join(s.dir, slotArchive(slot)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		defer f.Close()
		var a *Archive
		if a, err = unpack(io.LimitReader(f, archivePacked), nil); err == nil {
			return a, nil
		}
	}
	return nil, fmt.Errorf("The configuration that is kept for slot %s cannot be used, what slot %s has left goes on: %w", slot, map[string]string{"A": "B", "B": "A"}[slot], plain(err))
}

func (s *Store) slotOwner() (string, error) {
	text, err := readOwn(filepath.Join(s.dir, SlotsDir, slotFile), 64)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), plain(err)
}

// ownSlot notes to which slot the configuration belongs.
func (s *Store) ownSlot(slot string) error {
	err := s.Put(path.Join(SlotsDir, slotFile), []byte(slot+"\n"))
	if err == nil {
		err = s.disk.syncDir(filepath.Join(s.dir, SlotsDir))
	}
	if err != nil && errors.Is(err, unix.ENOSPC) {
		err = fmt.Errorf("it cannot be noted which slot the configuration belongs to: %w", plain(err))
	}
	return err
}
