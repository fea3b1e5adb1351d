// What C does once a burst for a worker: send, free, receive; and how a worker sleeps. No Go pointer passes here: the
// exchange and the queue lie off the Go heap, and Go hands over their addresses as numbers.
#ifndef SLUICE_TURN_H
#define SLUICE_TURN_H

#include <stdint.h>

enum { BURST = 64, RX_BURST = 32, MAX_LANES = 32, TX_ROOM = 256, FREE_ROOM = 256, SPARE_ROOM = 64 };

struct queue;

struct queue *queue_new(int wakefd);
void queue_free(struct queue *q);

// Names the pool that empty packets come from; without one there are none.
void queue_stock(struct queue *q, void *pool);

// Adds a lane; index is of its port's receive and transmit queue. fd becomes readable when the port has packets; -1 if the port has no such descriptor. A lane that is deaf
// only sends: the port has no receive queue of that number.
void queue_add_lane(struct queue *q, uint16_t port, uint16_t index, int fd, int blind, int deaf);

void queue_turn(uintptr_t queue, uintptr_t exchange);
void queue_wait(uintptr_t queue, int timeout_ms);

// Waits since start that ended with an error on a descriptor, e.g. since a link went down.
uint64_t queue_fd_errors(struct queue *q);

#endif
