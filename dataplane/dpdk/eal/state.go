package eal

/*
#cgo pkg-config: libdpdk
#include <rte_build_config.h>
#include <rte_eal.h>
#include <rte_lcore.h>
*/
import "C"

import (
	"fmt"
	"syscall"
)

// PmdPath is the directory from which EAL loads drivers.
const PmdPath = C.RTE_EAL_PMD_PATH

// Cleanup releases what EAL has taken. Call it once, when ports are closed and lcores stopped; DPDK cannot be used
// in this process afterwards.
func Cleanup() error {
	if rc := C.rte_eal_cleanup(); rc != 0 {
		return fmt.Errorf("eal: rte_eal_cleanup: %w", syscall.Errno(-rc))
	}
	return nil
}

// GetMainLcore returns the main lcore's number.
func GetMainLcore() uint { return uint(C.rte_get_main_lcore()) }

// HasHugePages tells whether EAL's memory is in hugepages.
func HasHugePages() bool { return C.rte_eal_has_hugepages() != 0 }

// HasPCI tells whether EAL looks at the PCI bus; --no-pci turns that off.
func HasPCI() bool { return C.rte_eal_has_pci() != 0 }

// LcoreCount returns how many lcores EAL runs.
func LcoreCount() uint { return uint(C.rte_lcore_count()) }

// LcoreID returns the calling thread's lcore number; on a thread that is no lcore it is the largest uint32.
// It has a meaning only inside a function that runs on an lcore.
func LcoreID() uint { return uint(C.rte_lcore_id()) }

// LcoreToSocket returns the NUMA socket of an lcore.
func LcoreToSocket(id uint) uint { return uint(C.rte_lcore_to_socket_id(C.uint(id))) }

// Lcores returns the numbers of all lcores, ascending.
func Lcores() []uint { return nextLcores(0) }

// LcoresWorker returns the numbers of all lcores but the main one, ascending.
func LcoresWorker() []uint { return nextLcores(1) }

func nextLcores(skipMain C.int) (ids []uint) {
	for id := C.rte_get_next_lcore(^C.uint(0), skipMain, 0); id < C.RTE_MAX_LCORE; id = C.rte_get_next_lcore(id, skipMain, 0) {
		ids = append(ids, uint(id))
	}
	return ids
}

// ProcessType returns EAL's process type: 0 is primary, 1 secondary.
func ProcessType() int { return int(C.rte_eal_process_type()) }

// SocketID returns the calling thread's NUMA socket.
func SocketID() uint { return uint(C.rte_socket_id()) }
