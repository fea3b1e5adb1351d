package api

import "net/netip"

// Roles are what this appliance is in its virtual routers (VRRP). They change with elections only and travel by themselves, so that
// no takeover waits for a configuration.
type Roles struct {
	Version uint64
	List    []Role
}

// Role is what this appliance is in one virtual router on one port.
type Role struct {
	Port    uint16 // index of the port in the dataplane's settings, from 0
	ID      uint8  // vrID, 1-255
	Master  bool   // as long as the lease lasts it answers for the VIPs of the vrID, with the virtual MAC address
	Sharing bool   // while it is not master it serves what comes for them all the same

	// Via is the master's own address on this port, to whose MAC address goes what comes for the VIPs while this appliance is not
	// master; zero: it is dropped.
	Via netip.Addr
}

// Lease is how long the dataplane may be master by Roles of this version from now on: whoever holds the elections renews it. When it
// runs out, because management is dead or hangs, every Role is played as if Master were false, so that no two appliances answer
// for one VIP once another one has taken over. Flows that are known go on.
type Lease struct {
	Roles  uint64 // Roles.Version; those of another one are not meant
	Millis uint32 // 0 ends it
}
