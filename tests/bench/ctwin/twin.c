#include "twin.h"

#include <immintrin.h>
#include <string.h>

enum { BURST = 64, LINE = 64 };

struct entry {
	uint64_t a, b, addrs;
	uint32_t ports;
	uint16_t ip_delta, l4_delta;
	uint32_t last, packets, service, account;
	uint16_t pseudo;
	uint8_t state, kind;
	uint16_t adj, gen;
	uint64_t bytes;
};

_Static_assert(sizeof(struct entry) == LINE, "flow.Entry");

struct adjacency {
	uint64_t macs;
	uint32_t rest;
	uint16_t lane, mtu;
};

struct packet {
	uint8_t *data;
	uint64_t mbuf, a, b, hash;
	struct entry *line;
};

#define LOAD(type, p) ({ type v_; memcpy(&v_, (const void *)(p), sizeof v_); v_; })
#define STORE(type, p, v) ({ type v_ = (type)(v); memcpy((void *)(p), &v_, sizeof v_); })

static inline uint64_t hash(const struct twin *t, uint64_t a, uint64_t b)
{
	unsigned __int128 m = (unsigned __int128)(a ^ t->seed[0]) * (b ^ t->seed[1]);
	return (uint64_t)(m >> 64) ^ (uint64_t)m;
}

// RFC 1624, equation 3, as in worker/established.go.
static inline uint16_t patch(uint16_t sum, uint16_t delta)
{
	uint32_t s = (uint32_t)sum - delta;
	return (uint16_t)(s + (s >> 16));
}

// Finds the keys of untagged IPv4 packets to this port without fragments and options; the mask of them.
static inline uint64_t keys(const struct twin *t, const uint64_t *rx, uint32_t n, struct packet *pk)
{
	uint64_t bare = 0;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *m = (const uint8_t *)rx[i];
		uint8_t *d = (uint8_t *)LOAD(uint64_t, m) + LOAD(uint16_t, m + 16);
		uint32_t len = LOAD(uint16_t, m + 40), mid = LOAD(uint32_t, d + 20);
		if (len - 54 > t->mtu - 40 || (LOAD(uint32_t, d + 12) & 0x00ffffff) != 0x00450008 || (mid & 0xff3f) != 0 ||
		    (mid & 0xfe0000) == 0 || LOAD(uint64_t, d) << 16 != t->mac ||
		    (uint32_t)__builtin_bswap16(LOAD(uint16_t, d + 16)) - 28 > len - 14 - 28)
			continue;
		struct packet *p = &pk[i];
		p->data = d;
		p->mbuf = rx[i];
		p->a = LOAD(uint64_t, d + 26);
		p->b = LOAD(uint32_t, d + 34) | (uint64_t)(mid >> 24) << 32 | 1ull << 63;
		p->hash = hash(t, p->a, p->b);
		bare |= 1ull << i;
	}
	return bare;
}

// The bucket's words that have this tag.
static inline uint32_t match(const uint8_t *bucket, uint32_t tag, uint32_t numbers)
{
	__m256i n = _mm256_set1_epi32((int)numbers), want = _mm256_set1_epi32((int)tag);
	__m256i low = _mm256_andnot_si256(n, _mm256_load_si256((const __m256i *)bucket));
	__m256i high = _mm256_andnot_si256(n, _mm256_load_si256((const __m256i *)bucket + 1));
	uint32_t found = (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(low, want)));
	found |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(high, want))) << 8;
	return found & 0x7fff;
}

// Finds where the packets' entries should be, and fetches them, as asm.Locate does.
static inline void locate(const struct twin *t, struct packet *pk, uint64_t bare)
{
	for (uint64_t m = bare; m != 0; m &= m - 1) {
		struct packet *p = &pk[__builtin_ctzll(m)];
		const uint8_t *bucket = (const uint8_t *)(t->base + ((uint64_t)(uint32_t)p->hash * t->buckets >> 32) * LINE);
		uint32_t tag = (uint32_t)(p->hash >> 32) & ~t->numbers, found, number = 0;
		tag = tag > t->numbers ? tag : t->numbers + 1;
		while ((found = match(bucket, tag, t->numbers)) == 0 && LOAD(uint32_t, bucket + 60) != 0) {
			bucket += LINE;
			if (bucket == (const uint8_t *)(t->base + t->buckets * LINE))
				bucket = (const uint8_t *)t->base;
		}
		if (found != 0)
			number = LOAD(uint32_t, bucket + 4 * __builtin_ctz(found)) & t->numbers;
		p->line = (struct entry *)(t->lines + (uint64_t)number * LINE);
		__builtin_prefetch(p->line);
	}
}

// The entry of a packet whose index word led to another's; NULL if it has none.
static __attribute__((noinline)) struct entry *find(const struct twin *t, const struct packet *p)
{
	const uint8_t *bucket = (const uint8_t *)(t->base + ((uint64_t)(uint32_t)p->hash * t->buckets >> 32) * LINE);
	uint32_t tag = (uint32_t)(p->hash >> 32) & ~t->numbers;
	tag = tag > t->numbers ? tag : t->numbers + 1;
	for (;;) {
		for (uint32_t m = match(bucket, tag, t->numbers); m != 0; m &= m - 1) {
			uint32_t number = LOAD(uint32_t, bucket + 4 * __builtin_ctz(m)) & t->numbers;
			struct entry *e = (struct entry *)(t->lines + (uint64_t)number * LINE);
			if (e->a == p->a && e->b == p->b)
				return e;
		}
		if (LOAD(uint32_t, bucket + 60) == 0)
			return NULL;
		bucket += LINE;
		if (bucket == (const uint8_t *)(t->base + t->buckets * LINE))
			bucket = (const uint8_t *)t->base;
	}
}

// The checksum of TCP or UDP over the whole packet whose IPv4 header is at h, in memory order; f is where it is.
static __attribute__((noinline)) uint16_t complete(const uint8_t *h, const uint8_t *f)
{
	uint32_t n = __builtin_bswap16(LOAD(uint16_t, h + 2)), sum = (uint32_t)h[9] << 8;
	sum += __builtin_bswap16((uint16_t)(n - 20));
	for (const uint8_t *p = h + 12; p + 1 < h + n; p += 2)
		sum += p == f ? 0 : LOAD(uint16_t, p);
	if (n & 1)
		sum += h[n - 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~((sum & 0xffff) + (sum >> 16)) & 0xffff;
	return (uint16_t)(sum == 0 && h[9] == 17 ? 0xffff : sum);
}

static inline uint32_t hits(struct twin *t, struct packet *pk, uint64_t mask, uint64_t *tx, uint32_t *tx_n, uint32_t room)
{
	uint32_t done = 0;
	uint64_t seen = 1ull << 32 | t->now;
	for (; mask != 0; mask &= mask - 1) {
		struct packet *p = &pk[__builtin_ctzll(mask)];
		struct entry *e = p->line;
		uint8_t *d = p->data;
		if (__builtin_expect(e->b != p->b || e->a != p->a, 0) && (e = find(t, p)) == NULL)
			continue;
		uint64_t word = LOAD(uint64_t, &e->pseudo);
		if ((word >> 48) != t->gen || (word & (uint64_t)d[47] << 29 & 7ull << 29) != 0)
			continue;
		uint32_t proto = d[23], udp = proto & 1;
		uint8_t *f = d + 34 + 22 - (proto & ~1u);
		uint16_t sum = LOAD(uint16_t, f);
		uint32_t pseudo = (uint16_t)word + (uint32_t)LOAD(uint16_t, d + 16);
		// It may be unfinished, or look so: one in 65536 does.
		if (__builtin_expect(sum == (uint16_t)(pseudo + (pseudo >> 16)), 0))
			sum = complete(d + 14, f);
		const struct adjacency *a = (const struct adjacency *)t->adjacencies + e->adj;
		STORE(uint64_t, d, a->macs);
		STORE(uint32_t, d + 8, a->rest);
		tx[(uint64_t)a->lane * room + tx_n[a->lane]++] = p->mbuf;
		uint16_t patched = patch(sum, e->l4_delta);
		if ((sum == 0 || patched == 0) && udp)
			patched = sum == 0 ? 0 : 0xffff;
		STORE(uint16_t, f, patched);
		STORE(uint64_t, d + 26, e->addrs);
		STORE(uint32_t, d + 34, e->ports);
		d[22]--;
		STORE(uint16_t, d + 24, patch(LOAD(uint16_t, d + 24), e->ip_delta));
		uint64_t n = __builtin_bswap16(LOAD(uint16_t, d + 16));
		uint64_t last = LOAD(uint64_t, &e->last);
		STORE(uint64_t, &e->last, (last >> 32 << 32) + seen);
		e->bytes += n;
		uint64_t *c = (uint64_t *)(t->counts + ((uint64_t)e->account << 4));
		c[0]++;
		c[1] += n;
		done++;
	}
	return done;
}

void twin_burst(uintptr_t twin, uintptr_t rx, uint32_t n, uintptr_t tx, uintptr_t tx_n, uint32_t room)
{
	struct twin *t = (struct twin *)twin;
	struct packet pk[BURST];
	const uint64_t *in = (const uint64_t *)rx;

	for (uint32_t i = 0; i < n; i++)
		__builtin_prefetch((uint8_t *)LOAD(uint64_t, in[i]) + LOAD(uint16_t, in[i] + 16));
	uint64_t bare = keys(t, in, n, pk);
	locate(t, pk, bare);
	t->hits += hits(t, pk, bare, (uint64_t *)tx, (uint32_t *)tx_n, room);
}
