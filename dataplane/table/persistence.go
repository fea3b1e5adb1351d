package table

import (
	"fmt"
	"math/bits"
	"unsafe"

	"sluice/dataplane/api"
)

// Persistence is what a vserver with persistence goes by: which packets are of one client, and for how long.
type Persistence struct {
	Bits    uint64 // of a key's A, source and destination address, that name the client
	Limit   uint32 // ticks without a new flow until the client is forgotten
	Kind    uint8  // api.Persistence; 0: there is none
	Backup  uint8  // the kind that is asked where the first knows nothing; 0: none
	Leaving uint8  // 1: its clients stay with a service that is leaving
	_       uint8
	Bits2   uint64 // those of the backup
	Limit2  uint32
	vserver uint32 // ID
}

const persistenceSize = unsafe.Sizeof(Persistence{})

// maxPersistence is the longest idle time of a session in seconds.
const maxPersistence = 1440 * 60

func checkPersistence(v *api.Vserver) error {
	for _, p := range []struct {
		kind    api.Persistence
		seconds uint32
	}{{v.Persistence, v.PersistSeconds}, {v.PersistBackup, v.PersistBackupSeconds}} {
		if p.kind > api.PersistSourceDestinationIP {
			return fmt.Errorf("vserver %s has persistence of kind %d, which this dataplane does not know", v.Name, p.kind)
		}
		if p.kind != 0 && (p.seconds == 0 || p.seconds > maxPersistence) {
			return fmt.Errorf("vserver %s forgets its clients after %d seconds: give 1 to %d", v.Name, p.seconds, maxPersistence)
		}
	}
	if v.PersistBackup != 0 && (v.Persistence == 0 || v.Persistence == v.PersistBackup) {
		return fmt.Errorf("vserver %s has backup persistence of kind %d for kind %d: a backup is for another kind", v.Name, v.PersistBackup, v.Persistence)
	}
	if v.SpillSeconds > maxPersistence {
		return fmt.Errorf("vserver %s has clients stay with its backup for %d seconds: give %d at most", v.Name, v.SpillSeconds, maxPersistence)
	}
	return nil
}

// persistBits are the bits of a key's A that name a client.
func persistBits(kind api.Persistence, mask uint32) uint64 {
	m := uint64(bits.ReverseBytes32(mask))
	if m == 0 {
		m = 1<<32 - 1
	}
	switch kind {
	case api.PersistSourceIP:
		return m
	case api.PersistDestinationIP:
		return m << 32
	case api.PersistSourceDestinationIP:
		return m | m<<32
	}
	return 0
}

// countPersistence counts the vservers that have persistence.
func (c *config) countPersistence() {
	for i := range c.src.Vservers {
		if c.src.Vservers[i].Persistence != 0 {
			c.persists++
		}
	}
	if c.persists != 0 {
		c.size += pad(uintptr(len(c.src.Vservers)) * persistenceSize)
	}
}

// fillPersistence compiles what the vservers say of it: one record for each, if any of them has it.
func (c *config) fillPersistence() {
	if c.persists == 0 {
		return
	}
	c.persistence = c.mem.take(uintptr(len(c.src.Vservers)) * persistenceSize)
	for i := range c.src.Vservers {
		v := &c.src.Vservers[i]
		p := (*Persistence)(unsafe.Add(nil, c.persistence+uintptr(i)*persistenceSize))
		*p = Persistence{vserver: v.ID, Kind: uint8(v.Persistence), Bits: persistBits(v.Persistence, v.PersistMask), Limit: timeout(v.PersistSeconds),
			Backup: uint8(v.PersistBackup), Bits2: persistBits(v.PersistBackup, v.PersistMask), Limit2: timeout(v.PersistBackupSeconds)}
		if v.PersistLeaving {
			p.Leaving = 1
		}
	}
}

// Persist says whether any vserver has persistence.
func (s *Set) Persist() bool { return s.conf.persists != 0 }

// Persistence returns what v goes by, which has persistence.
func (s *Set) Persistence(v *Vserver) *Persistence {
	return (*Persistence)(unsafe.Add(nil, s.conf.persistence+uintptr(v.pool)*persistenceSize))
}

// SessionLimit returns the ticks that a session of a vserver and a kind may be idle; 0 if the vserver has no such sessions. Kind 0 is
// that of clients who were spilled over.
func (s *Set) SessionLimit(vserver uint32, kind uint8) uint32 {
	if kind == 0 {
		if v := s.VserverOf(vserver); v != nil {
			return v.SpillLimit
		}
		return 0
	}
	i := s.placeOf(vserver)
	if i < 0 || s.conf.persists == 0 {
		return 0
	}
	p := (*Persistence)(unsafe.Add(nil, s.conf.persistence+uintptr(i)*persistenceSize))
	switch kind {
	case p.Kind:
		return p.Limit
	case p.Backup:
		return p.Limit2
	}
	return 0
}
