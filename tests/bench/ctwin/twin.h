// The path of known flows in C: see twin.go. Layouts are those of flow.Entry, table.Adjacency and port.Exchange, which twin.go
// asserts.
#ifndef SLUICE_TWIN_H
#define SLUICE_TWIN_H

#include <stdint.h>

struct twin {
	uint64_t seed[2];
	uint64_t base, buckets; // of the flow index
	uint64_t lines;         // of the flow entries
	uint64_t adjacencies;
	uint64_t counts; // 16 bytes a direction: packets, bytes
	uint64_t mac;    // of the port, in memory order, shifted left by 16
	uint64_t hits;   // packets translated
	uint32_t now, mtu, numbers, gen;
};

// Translates the n packets at rx and appends them to the lists of their lanes: room packets each, from tx on, lengths at tx_n.
// What is no plain hit is left out.
void twin_burst(uintptr_t twin, uintptr_t rx, uint32_t n, uintptr_t tx, uintptr_t tx_n, uint32_t room);

#endif
