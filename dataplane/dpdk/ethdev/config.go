package ethdev

/*
#cgo pkg-config: libdpdk
#include <stdint.h>
#include <string.h>
#include <rte_ethdev.h>

// What Go knows of struct rte_eth_conf, without its bit fields.
struct go_conf {
	uint32_t rx_mq, mtu, tx_mq;
	uint64_t rx_offloads, tx_offloads, rss_hf;
	uint16_t pvid;
	uint8_t reject_tagged, reject_untagged, insert_pvid, rss_key_len;
	uint8_t rss_key[UINT8_MAX];
};

static int configure(uint16_t port, uint16_t nrx, uint16_t ntx, struct go_conf *c) {
	struct rte_eth_conf conf;
	memset(&conf, 0, sizeof conf);
	conf.rxmode.mq_mode = c->rx_mq;
	conf.rxmode.mtu = c->mtu;
	conf.rxmode.offloads = c->rx_offloads;
	conf.txmode.mq_mode = c->tx_mq;
	conf.txmode.offloads = c->tx_offloads;
	conf.txmode.pvid = c->pvid;
	conf.txmode.hw_vlan_reject_tagged = c->reject_tagged;
	conf.txmode.hw_vlan_reject_untagged = c->reject_untagged;
	conf.txmode.hw_vlan_insert_pvid = c->insert_pvid;
	conf.rx_adv_conf.rss_conf.rss_hf = c->rss_hf;
	if (c->rss_key_len) {
		conf.rx_adv_conf.rss_conf.rss_key = c->rss_key;
		conf.rx_adv_conf.rss_conf.rss_key_len = c->rss_key_len;
	}
	return rte_eth_dev_configure(port, nrx, ntx, &conf);
}

// The key is copied from and to the caller's memory, since the structure would hold a pointer into it.
static int rss_update(uint16_t port, uint8_t *key, uint8_t len, uint64_t hf) {
	struct rte_eth_rss_conf conf = { .rss_key = len ? key : NULL, .rss_key_len = len, .rss_hf = hf };
	return rte_eth_dev_rss_hash_update(port, &conf);
}

static int rss_get(uint16_t port, uint8_t *key, uint8_t *len, uint64_t *hf) {
	struct rte_eth_rss_conf conf = { .rss_key = key, .rss_key_len = *len };
	int rc = rte_eth_dev_rss_hash_conf_get(port, &conf);
	if (rc == 0) {
		*len = conf.rss_key_len;
		*hf = conf.rss_hf;
	}
	return rc;
}
*/
import "C"

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"github.com/yerden/go-dpdk/mempool"
)

// RxMode is how a port receives. The numbers are those of rte_ethdev.h (RTE_ETH_MQ_RX_*, RTE_ETH_RX_OFFLOAD_*).
type RxMode struct {
	MqMode       uint   // multi-queue distribution mode, e.g. RSS
	MTU          uint32 // requested MTU in bytes, 0 = the driver's
	SplitHdrSize uint16 // size of header buffers; DPDK 22.11 knows it no more and it has no effect
	Offloads     uint64 // per-port Rx offloads, a subset of what the device can do
}

// TxMode is how a port sends.
type TxMode struct {
	MqMode               uint
	Offloads             uint64 // per-port Tx offloads, a subset of what the device can do
	Pvid                 uint16 // i40e only
	HwVlanRejectTagged   bool
	HwVlanRejectUntagged bool
	HwVlanInsertPvid     bool
}

// RssConf is how a port spreads packets over its queues.
type RssConf struct {
	Key []byte // nil = the driver's default; keep it 40 bytes long
	Hf  uint64 // hash functions (RTE_ETH_RSS_*); 0 turns RSS off
}

// Option is a setting of DevConfigure.
type Option struct {
	set func(*C.struct_go_conf) error
}

// OptRxMode sets how the port receives.
func OptRxMode(conf RxMode) Option {
	return Option{func(c *C.struct_go_conf) error {
		c.rx_mq, c.mtu, c.rx_offloads = C.uint32_t(conf.MqMode), C.uint32_t(conf.MTU), C.uint64_t(conf.Offloads)
		return nil
	}}
}

// OptTxMode sets how the port sends.
func OptTxMode(conf TxMode) Option {
	return Option{func(c *C.struct_go_conf) error {
		c.tx_mq, c.tx_offloads, c.pvid = C.uint32_t(conf.MqMode), C.uint64_t(conf.Offloads), C.uint16_t(conf.Pvid)
		c.reject_tagged = bit(conf.HwVlanRejectTagged)
		c.reject_untagged = bit(conf.HwVlanRejectUntagged)
		c.insert_pvid = bit(conf.HwVlanInsertPvid)
		return nil
	}}
}

// OptRss sets how the port spreads packets over its queues.
func OptRss(conf RssConf) Option {
	return Option{func(c *C.struct_go_conf) error {
		if len(conf.Key) > math.MaxUint8 {
			return errKey(conf.Key)
		}
		c.rss_hf, c.rss_key_len = C.uint64_t(conf.Hf), C.uint8_t(len(conf.Key))
		for i, b := range conf.Key {
			c.rss_key[i] = C.uint8_t(b)
		}
		return nil
	}}
}

func errKey(key []byte) error {
	return fmt.Errorf("an RSS key of %d bytes: at most %d are possible: %w", len(key), math.MaxUint8, syscall.EINVAL)
}

func bit(b bool) C.uint8_t {
	if b {
		return 1
	}
	return 0
}

// DevConfigure gives the port nrxq receive and ntxq transmit queues. Every queue must be set up before Start.
func (pid Port) DevConfigure(nrxq, ntxq uint16, opts ...Option) error {
	var conf C.struct_go_conf
	for _, o := range opts {
		if err := o.set(&conf); err != nil {
			return fmt.Errorf("port %d: %w", pid, err)
		}
	}
	return pid.failed("configuring", C.configure(pid.c(), C.uint16_t(nrxq), C.uint16_t(ntxq), &conf))
}

// Thresh are a queue's thresholds for touching its descriptors.
type Thresh struct {
	PThresh, HThresh, WThresh uint8 // prefetch, host, writeback
}

// RxqConf is how a receive queue works.
type RxqConf struct {
	Thresh
	FreeThresh    uint16 // descriptors to gather before they are refilled
	DropEn        uint8  // drop if no descriptors are free
	DeferredStart uint8  // do not start with Start
	Offloads      uint64 // per-queue Rx offloads
}

// TxqConf is how a transmit queue works.
type TxqConf struct {
	Thresh
	RsThresh      uint16 // setting of the RS bit
	FreeThresh    uint16 // free sent packets when fewer descriptors are free
	DeferredStart uint8  // do not start with Start
	Offloads      uint64 // per-queue Tx offloads
}

// QueueOption is a setting of RxqSetup or TxqSetup.
type QueueOption struct {
	set func(*queueSettings)
}

type queueSettings struct {
	socket C.uint
	rx     *RxqConf // nil: the driver's default
	tx     *TxqConf
}

// OptSocket takes the queue's memory from a NUMA socket. The default is any.
func OptSocket(socket int) QueueOption {
	return QueueOption{func(s *queueSettings) { s.socket = C.uint(C.int(socket)) }}
}

// OptRxqConf replaces the driver's default. TxqSetup ignores it.
func OptRxqConf(conf RxqConf) QueueOption {
	return QueueOption{func(s *queueSettings) { s.rx = &conf }}
}

// OptTxqConf replaces the driver's default. RxqSetup ignores it.
func OptTxqConf(conf TxqConf) QueueOption {
	return QueueOption{func(s *queueSettings) { s.tx = &conf }}
}

func apply(opts []QueueOption) queueSettings {
	anySocket := C.int(-1)
	s := queueSettings{socket: C.uint(anySocket)}
	for _, o := range opts {
		o.set(&s)
	}
	return s
}

func (t Thresh) c() C.struct_rte_eth_thresh {
	return C.struct_rte_eth_thresh{pthresh: C.uint8_t(t.PThresh), hthresh: C.uint8_t(t.HThresh), wthresh: C.uint8_t(t.WThresh)}
}

// RxqSetup sets up a receive queue of nDesc descriptors (0: the driver's choice) that takes its buffers from mp.
func (pid Port) RxqSetup(qid, nDesc uint16, mp *mempool.Mempool, opts ...QueueOption) error {
	s := apply(opts)
	var conf *C.struct_rte_eth_rxconf
	if s.rx != nil {
		conf = &C.struct_rte_eth_rxconf{
			rx_thresh:         s.rx.Thresh.c(),
			rx_free_thresh:    C.uint16_t(s.rx.FreeThresh),
			rx_drop_en:        C.uint8_t(s.rx.DropEn),
			rx_deferred_start: C.uint8_t(s.rx.DeferredStart),
			offloads:          C.uint64_t(s.rx.Offloads),
		}
	}
	rc := C.rte_eth_rx_queue_setup(pid.c(), C.uint16_t(qid), C.uint16_t(nDesc), s.socket, conf,
		(*C.struct_rte_mempool)(unsafe.Pointer(mp)))
	return pid.failed(fmt.Sprintf("setting up receive queue %d", qid), rc)
}

// TxqSetup sets up a transmit queue of nDesc descriptors (0: the driver's choice).
func (pid Port) TxqSetup(qid, nDesc uint16, opts ...QueueOption) error {
	s := apply(opts)
	var conf *C.struct_rte_eth_txconf
	if s.tx != nil {
		conf = &C.struct_rte_eth_txconf{
			tx_thresh:         s.tx.Thresh.c(),
			tx_rs_thresh:      C.uint16_t(s.tx.RsThresh),
			tx_free_thresh:    C.uint16_t(s.tx.FreeThresh),
			tx_deferred_start: C.uint8_t(s.tx.DeferredStart),
			offloads:          C.uint64_t(s.tx.Offloads),
		}
	}
	rc := C.rte_eth_tx_queue_setup(pid.c(), C.uint16_t(qid), C.uint16_t(nDesc), s.socket, conf)
	return pid.failed(fmt.Sprintf("setting up transmit queue %d", qid), rc)
}

// RssHashUpdate changes the port's RSS.
func (pid Port) RssHashUpdate(conf *RssConf) error {
	if len(conf.Key) > math.MaxUint8 {
		return fmt.Errorf("port %d: %w", pid, errKey(conf.Key))
	}
	rc := C.rss_update(pid.c(), (*C.uint8_t)(unsafe.SliceData(conf.Key)), C.uint8_t(len(conf.Key)), C.uint64_t(conf.Hf))
	return pid.failed("changing RSS", rc)
}

// RssHashConfGet reads the port's RSS. If conf.Key has room for the key (40 bytes, often) it is filled and cut to the
// key's length; with a nil Key only Hf is read.
func (pid Port) RssHashConfGet(conf *RssConf) error {
	n := C.uint8_t(min(len(conf.Key), math.MaxUint8))
	var hf C.uint64_t
	if rc := C.rss_get(pid.c(), (*C.uint8_t)(unsafe.SliceData(conf.Key)), &n, &hf); rc != 0 {
		return pid.failed("reading RSS", rc)
	}
	conf.Hf = uint64(hf)
	if int(n) <= len(conf.Key) {
		conf.Key = conf.Key[:n]
	}
	return nil
}

// RssRetaEntry64 is a piece of 64 entries of the table that leads from a hash to a queue.
type RssRetaEntry64 C.struct_rte_eth_rss_reta_entry64

// Mask tells which of the 64 entries are meant, one bit each.
func (conf *RssRetaEntry64) Mask() *uint64 { return (*uint64)(&conf.mask) }

// Reta are the queues of the 64 entries, in place.
func (conf *RssRetaEntry64) Reta() (reta []uint16) {
	return unsafe.Slice((*uint16)(&conf.reta[0]), len(conf.reta))
}

// RssRetaQuery reads the entries whose mask bits are set, of a table of retaSize entries.
func (pid Port) RssRetaQuery(conf []RssRetaEntry64, retaSize uint16) error {
	if err := pid.retaFits(conf, retaSize); err != nil {
		return err
	}
	return pid.failed("reading the RSS table", C.rte_eth_dev_rss_reta_query(pid.c(), reta(conf), C.uint16_t(retaSize)))
}

// RssRetaUpdate writes the entries whose mask bits are set, of a table of retaSize entries.
func (pid Port) RssRetaUpdate(conf []RssRetaEntry64, retaSize uint16) error {
	if err := pid.retaFits(conf, retaSize); err != nil {
		return err
	}
	return pid.failed("changing the RSS table", C.rte_eth_dev_rss_reta_update(pid.c(), reta(conf), C.uint16_t(retaSize)))
}

func reta(conf []RssRetaEntry64) *C.struct_rte_eth_rss_reta_entry64 {
	return (*C.struct_rte_eth_rss_reta_entry64)(unsafe.SliceData(conf))
}

// retaFits keeps C from reading behind conf.
func (pid Port) retaFits(conf []RssRetaEntry64, retaSize uint16) error {
	if retaSize == 0 || len(conf)*64 < int(retaSize) {
		return fmt.Errorf("port %d: %d pieces hold no RSS table of %d entries: %w", pid, len(conf), retaSize, syscall.EINVAL)
	}
	return nil
}
