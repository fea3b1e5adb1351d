#include "turn.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>

// The layout of Go's Exchange.
struct exchange {
	uint32_t lanes, next, from, rx_n, free_n, spare_want, spare_n, pad[9];
	uint32_t tx_n[MAX_LANES];
	uint64_t tx_full[MAX_LANES];
	struct rte_mbuf *rx[BURST];
	struct rte_mbuf *free[FREE_ROOM];
	struct rte_mbuf *tx[MAX_LANES][TX_ROOM];
	struct rte_mbuf *spare[SPARE_ROOM];
};

_Static_assert(offsetof(struct exchange, tx_n) == 64, "Exchange.TxN");
_Static_assert(offsetof(struct exchange, tx_full) == 192, "Exchange.TxFull");
_Static_assert(offsetof(struct exchange, rx) == 448, "Exchange.Rx");
_Static_assert(offsetof(struct exchange, free) == 960, "Exchange.Free");
_Static_assert(offsetof(struct exchange, tx) == 3008, "Exchange.Tx");
_Static_assert(offsetof(struct exchange, spare) == 68544, "Exchange.Spare");
_Static_assert(sizeof(struct exchange) == 69056, "Exchange");

// The mbuf fields that Go reads and writes: see exchange.go.
_Static_assert(offsetof(struct rte_mbuf, buf_addr) == 0, "OffBufAddr");
_Static_assert(offsetof(struct rte_mbuf, data_off) == 16, "OffDataOff");
_Static_assert(offsetof(struct rte_mbuf, nb_segs) == 20, "OffNbSegs");
_Static_assert(offsetof(struct rte_mbuf, ol_flags) == 24, "OffFlags");
_Static_assert(offsetof(struct rte_mbuf, pkt_len) == 36, "OffPktLen");
_Static_assert(offsetof(struct rte_mbuf, data_len) == 40, "OffDataLen");
_Static_assert(offsetof(struct rte_mbuf, next) == 64, "OffNext");
_Static_assert(RTE_PKTMBUF_HEADROOM == 128, "Headroom");

// A descriptor that keeps failing is left out of poll(2) for so long: its device is gone, and poll would return at once.
enum { MUTE_MS = 1000 };

// A port without a descriptor is looked at so often while the worker is idle.
enum { BLIND_MS = 1 };

struct queue {
	struct rte_mempool *pool; // of empty packets, or NULL
	uint32_t lanes;
	uint16_t port[MAX_LANES], index[MAX_LANES]; // index of the port's receive and transmit queue
	uint8_t deaf[MAX_LANES]; // the lane has nothing to receive from

	uint32_t fds;                     // descriptors in poll, the first one is for waking
	int blind;                        // a lane has no descriptor
	struct pollfd poll[MAX_LANES + 1];
	uint32_t failed[MAX_LANES + 1];   // waits in a row that ended with an error on it
	uint64_t muted[MAX_LANES + 1];    // milliseconds of the monotonic clock until which it is left out, 0 if it is not
	uint64_t fd_errors;
};

struct queue *queue_new(int wakefd)
{
	struct queue *q = calloc(1, sizeof *q);
	if (q == NULL)
		return NULL;
	q->poll[0] = (struct pollfd){.fd = wakefd, .events = POLLIN};
	q->fds = 1;
	return q;
}

void queue_free(struct queue *q) { free(q); }

void queue_stock(struct queue *q, void *pool) { q->pool = pool; }

void queue_add_lane(struct queue *q, uint16_t port, uint16_t index, int fd, int blind, int deaf)
{
	q->deaf[q->lanes] = deaf != 0;
	q->index[q->lanes] = index;
	q->port[q->lanes++] = port;
	if (fd >= 0)
		q->poll[q->fds++] = (struct pollfd){.fd = fd, .events = POLLIN};
	if (blind)
		q->blind = 1;
}

uint64_t queue_fd_errors(struct queue *q) { return __atomic_load_n(&q->fd_errors, __ATOMIC_RELAXED); }

static void send_lane(struct queue *q, struct exchange *x, uint32_t lane)
{
	uint16_t n = x->tx_n[lane], sent = rte_eth_tx_burst(q->port[lane], q->index[lane], x->tx[lane], n);
	x->tx_n[lane] = 0;
	// net_af_packet has the kernel empty its ring after it has looked for room: when a link comes back, the ring is full
	// of frames from before, and only the second try finds the room that the first one has made.
	if (sent < n)
		sent += rte_eth_tx_burst(q->port[lane], q->index[lane], x->tx[lane] + sent, n - sent);
	if (sent < n) {
		rte_pktmbuf_free_bulk(x->tx[lane] + sent, n - sent);
		x->tx_full[lane] += n - sent;
	}
}

// Receives up to a burst, by asking the driver for the usual 32 as long as it has so many: some drivers with vector instructions
// never give more at once.
static uint16_t receive(uint16_t port, uint16_t index, struct rte_mbuf **rx)
{
	uint16_t all = 0, n;
	do {
		n = rte_eth_rx_burst(port, index, rx + all, RX_BURST);
		all += n;
	} while (n == RX_BURST && all < BURST);
	return all;
}

void queue_turn(uintptr_t queue, uintptr_t exchange)
{
	struct queue *q = (struct queue *)queue;
	struct exchange *x = (struct exchange *)exchange;
	uint32_t lanes = q->lanes, lane = x->next < lanes ? x->next : 0;

	x->lanes = lanes;
	for (uint32_t l = 0; l < lanes; l++)
		if (x->tx_n[l] != 0)
			send_lane(q, x, l);
	if (x->free_n != 0) {
		rte_pktmbuf_free_bulk(x->free, x->free_n);
		x->free_n = 0;
	}
	if (x->spare_want > x->spare_n && x->spare_want <= SPARE_ROOM && q->pool != NULL &&
	    rte_pktmbuf_alloc_bulk(q->pool, x->spare + x->spare_n, x->spare_want - x->spare_n) == 0)
		x->spare_n = x->spare_want;
	x->rx_n = 0;
	for (uint32_t i = 0; i < lanes; i++) {
		uint16_t n = q->deaf[lane] ? 0 : receive(q->port[lane], q->index[lane], x->rx);
		uint32_t this = lane;
		lane = lane + 1 == lanes ? 0 : lane + 1;
		if (n != 0) {
			x->from = this;
			x->rx_n = n;
			break;
		}
	}
	x->next = lane;
}

static uint64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

// Lets descriptors whose time is over take part again.
static void unmute(struct queue *q)
{
	for (uint32_t i = 1; i < q->fds; i++)
		if (q->muted[i] != 0 && now_ms() >= q->muted[i]) {
			q->muted[i] = 0;
			q->poll[i].fd = ~q->poll[i].fd;
		}
}

// A link that goes down leaves one error in an AF_PACKET socket (ENETDOWN), which poll reports until it is read. A
// descriptor that fails again right after that has lost its device: poll ignores it (negative) for a while.
static void note_error(struct queue *q, uint32_t i)
{
	int err;
	socklen_t len = sizeof err;

	__atomic_store_n(&q->fd_errors, q->fd_errors + 1, __ATOMIC_RELAXED);
	getsockopt(q->poll[i].fd, SOL_SOCKET, SO_ERROR, &err, &len);
	if (++q->failed[i] > 1) {
		q->failed[i] = 0;
		q->muted[i] = now_ms() + MUTE_MS;
		q->poll[i].fd = ~q->poll[i].fd;
	}
}

void queue_wait(uintptr_t queue, int timeout_ms)
{
	struct queue *q = (struct queue *)queue;
	uint64_t count;

	unmute(q);
	if (q->blind && (timeout_ms < 0 || timeout_ms > BLIND_MS))
		timeout_ms = BLIND_MS;
	if (poll(q->poll, q->fds, timeout_ms) < 0)
		return;
	if (q->poll[0].revents != 0 && read(q->poll[0].fd, &count, sizeof count) < 0 && errno != EAGAIN)
		return; // the eventfd is never closed while the queue lives; nothing else can be done about it here
	for (uint32_t i = 1; i < q->fds; i++) {
		if (q->poll[i].revents & (POLLERR | POLLHUP | POLLNVAL))
			note_error(q, i);
		else
			q->failed[i] = 0;
	}
}
