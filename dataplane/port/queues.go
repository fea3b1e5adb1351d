package port

/*
#cgo pkg-config: libdpdk
#include <rte_config.h>
#include <rte_ethdev.h>

// What a port offers for several queues.
struct offer {
	uint16_t rx, tx;
	uint64_t hash; // what it can spread packets by, of what we want
};

static int port_offer(uint16_t port, struct offer *o)
{
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(port, &info);

	if (rc == 0)
		*o = (struct offer){info.max_rx_queues, info.max_tx_queues,
			info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP)};
	return rc;
}

enum { MODE_RSS = RTE_ETH_MQ_RX_RSS };
*/
import "C"

import (
	"fmt"

	"github.com/yerden/go-dpdk/ethdev"
	"github.com/yerden/go-dpdk/mempool"
	"golang.org/x/sys/unix"
)

// Numbers of descriptors per queue of a kernel device. The af_packet driver ignores them (its ring has framecnt frames), the tap driver
// sets that many buffers aside.
const (
	rxDescriptors = 64
	txDescriptors = 64
)

// startPort gives a port a transmit queue for each worker, as many receive queues as it has of those, and starts it. A device that
// can spreads packets over its receive queues by their addresses and ports; which of them it hashes how is of no matter, since a
// worker hands on what is another's. Queues are as deep as the port allows, at most so many descriptors; with 0 as a kernel device's.
func startPort(port ethdev.Port, pool *mempool.Mempool, workers int, most uint16) (rx int, err error) {
	var o C.struct_offer
	if rc := C.port_offer(C.uint16_t(port), &o); rc != 0 {
		return 0, fmt.Errorf("it does not tell how many queues it has: %w", unix.Errno(-rc))
	}
	if int(o.tx) < workers {
		return 0, fmt.Errorf("it has %d transmit queues for %d workers: list fewer CPUs in `lcores`", o.tx, workers)
	}
	rx = min(workers, int(o.rx))
	var options []ethdev.Option
	if rx > 1 && o.hash != 0 {
		options = append(options, ethdev.OptRxMode(ethdev.RxMode{MqMode: C.MODE_RSS}), ethdev.OptRss(ethdev.RssConf{Hf: uint64(o.hash)}))
	}
	return rx, startQueues(port, pool, rx, workers, most, options...)
}

// startQueues gives a port its queues and starts it.
func startQueues(port ethdev.Port, pool *mempool.Mempool, rx, tx int, most uint16, options ...ethdev.Option) error {
	if err := port.DevConfigure(uint16(rx), uint16(tx), options...); err != nil {
		return err
	}
	rxDepth, txDepth := uint16(rxDescriptors), uint16(txDescriptors)
	if most > 0 {
		rxDepth, txDepth = depth(port, most)
	}
	for q := range uint16(max(rx, tx)) {
		if q < uint16(rx) {
			if err := port.RxqSetup(q, rxDepth, pool); err != nil {
				return err
			}
		}
		if q < uint16(tx) {
			if err := port.TxqSetup(q, txDepth); err != nil {
				return err
			}
		}
	}
	return port.Start()
}
