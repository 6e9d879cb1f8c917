/*
 * multiset_fuzz.c
 *		Fuzzes the reading of multisets: bytes from anywhere, asked everything.
 *
 * No question reads outside of the bytes, checked before or not.  What multiset_check
 * takes, a writer makes of its runs byte by byte.
 */
#include <stdlib.h>
#include <string.h>

#include "sort/multiset/multiset.h"
#include "plain_allocator.h"

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const SortContext context = {
	.allocator = PLAIN_ALLOCATOR,
	.device = SORT_DEVICE_CPU,
	.threads = 1,
};

/* Lends each slice as a block of its own, so that the sanitizer sees its edges. */
typedef struct Slices
{
	const uint8_t *data;
	uint8_t    *slice;
} Slices;

static const unsigned char *
lend_slice(void *arg, size_t from, size_t n)
{
	Slices	   *s = arg;

	free(s->slice);
	s->slice = malloc(n);
	memcpy(s->slice, s->data + from, n);
	return s->slice;
}

/* Every question, about key and about position. */
static void
ask(const Multiset *m, int32_t key, uint64_t position)
{
	SortError	err;
	MultisetBlock block;
	uint64_t	below;
	uint64_t	equal;

	multiset_find_key(m, key, &block, &err);
	if (multiset_find_position(m, position, &block, &err) == SORT_OK && position < block.before)
		abort();
	multiset_nth(m, position, &key, &err);
	if (multiset_rank(m, key, &below, &equal, &err) == SORT_OK &&
		(below > m->total || equal > m->total - below))
		abort();
	for (uint32_t number = 0; number < m->nblocks; number++)
		if (multiset_read_block(m, number, &block, &err) == SORT_OK)
			multiset_rank(m, block.keys[block.n - 1], &below, &equal, &err);
}

/* The writer's bytes of m's runs must be data. */
static void
write_again(const Multiset *m, const uint8_t *data, size_t size)
{
	MultisetBlock block;
	MultisetWriter w;
	SortError	err;
	size_t		made;
	uint8_t    *out;

	multiset_writer_init(&w, &context.allocator);
	for (uint32_t number = 0; number < m->nblocks; number++)
		if (multiset_read_block(m, number, &block, &err) != SORT_OK ||
			multiset_writer_add(&w, block.keys, block.counts, block.n, &err) != SORT_OK)
			abort();
	if (multiset_writer_size(&w, &made, &err) != SORT_OK || made != size)
		abort();
	out = malloc(made);
	multiset_writer_write(&w, out);
	if (memcmp(out, data, size) != 0)
		abort();
	free(out);
	multiset_writer_release(&w);
}

/*
 * The input is a key and a position, 12 bytes, and a value.  Its format's number is put
 * right, which the fuzzer need not find out.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Slices		slices = {0};
	MultisetBytes bytes = {0};
	Multiset	m;
	SortError	err;
	int32_t		key;
	uint64_t	position;
	uint8_t    *value;

	if (size < 16)
		return 0;
	memcpy(&key, data, 4);
	memcpy(&position, data + 4, 8);
	size -= 12;
	value = malloc(size);
	memcpy(value, data + 12, size);
	value[0] = MULTISET_FORMAT;
	value[1] = value[2] = value[3] = 0;
	bytes.data = value;
	bytes.size = size;
	if (multiset_open(&m, &bytes, &err) == SORT_OK)
	{
		ask(&m, key, position);
		if (multiset_check(&m, &context, &err) == SORT_OK)
			write_again(&m, value, size);
		slices.data = value;
		bytes.data = NULL;
		bytes.slice = lend_slice;
		bytes.arg = &slices;
		if (multiset_open(&m, &bytes, &err) != SORT_OK)
			abort();
		ask(&m, key, position);
		free(slices.slice);
	}
	free(value);
	return 0;
}
