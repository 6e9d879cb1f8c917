/*
 * sorter_serialize.c
 *		A sorter as bytes, for parallel workers and other processes.
 *
 * Layout, native byte order, no padding between the parts:
 *
 *	SerializedHeader
 *	uint64 or uint32 counts[nruns]	by count_width
 *	int32 run_keys[nruns]			strictly ascending
 *	int32 keys[nkeys]				in any order
 *
 * sorter_deserialize checks everything: the bytes may come from a broken process.
 */
#include <string.h>

#include "sort/error.h"
#include "sort/sorter/sorter.h"
#include "sort/sorter/sorter_parts.h"

#define SERIALIZED_MAGIC UINT32_C(0x31735048)	/* "HPs1" */

typedef struct SerializedHeader
{
	uint32_t	magic;
	uint32_t	count_width;	/* bytes of a count: 4 if the sum of all fits, or 8 */
	uint64_t	nruns;
	uint64_t	nkeys;
} SerializedHeader;

/* Runs copied at once. */
#define BATCH 1024

/* Returns the header of a sorter without pending keys; histogram and sparse become one list. */
static SerializedHeader
describe(const Sorter *s)
{
	const SorterBig *big = s->big;
	SerializedHeader header = {
		.magic = SERIALIZED_MAGIC,
		.count_width = sorter_count(s) > UINT32_MAX ? 8 : 4,
		.nkeys = s->nbuf
	};

	if (big)
	{
		header.nruns = histogram_distinct(&big->dense) + big->sparse.len;
		header.nkeys += big->narray;
	}
	return header;
}

SortStatus
sorter_serialize_size(Sorter *s, size_t *size, SortError *err)
{
	SerializedHeader header;
	SortStatus	status = s->big ? sorter_absorb_pending(s, err)
	: sorter_check_bounds(s, s->buf, s->nbuf, err);

	if (status != SORT_OK)
		return status;
	if (s->big)
		histogram_sum_tables(&s->big->dense);
	header = describe(s);
	*size = sizeof(header) +
		(size_t) header.nruns * (header.count_width + sizeof(int32_t)) +
		(size_t) header.nkeys * sizeof(int32_t);
	return SORT_OK;
}

void
sorter_serialize(Sorter *s, void *data)
{
	const SerializedHeader header = describe(s);
	SorterCursor cursor;
	char	   *counts_at = (char *) data + sizeof(header);
	char	   *keys_at;
	SorterBig  *big = s->big;

	memcpy(data, &header, sizeof(header));
	keys_at = counts_at + (size_t) header.nruns * header.count_width;

	if (header.nruns > 0)
	{
		/* The cursor reads runs in order; kept keys are hidden from it. */
		size_t		nbuf = s->nbuf;
		uint64_t	left = header.nruns;

		s->nbuf = 0;
		sorter_cursor_start(s, false, &cursor);
		while (left > 0)
		{
			int32_t		keys[BATCH];
			uint64_t	counts[BATCH];
			size_t		got = sorter_cursor_take_runs(&cursor, keys, counts,
													  left < BATCH ? (size_t) left : BATCH);

			for (size_t i = 0; i < got; i++)
			{
				uint32_t	narrow = (uint32_t) counts[i];

				memcpy(counts_at, header.count_width == 4 ? (void *) &narrow : (void *) &counts[i],
					   header.count_width);
				counts_at += header.count_width;
			}
			memcpy(keys_at, keys, got * sizeof(int32_t));
			keys_at += got * sizeof(int32_t);
			left -= got;
		}
		s->nbuf = nbuf;
	}
	if (big && big->narray > 0)
	{
		memcpy(keys_at, big->array, big->narray * sizeof(int32_t));
		keys_at += big->narray * sizeof(int32_t);
	}
	memcpy(keys_at, s->buf, s->nbuf * sizeof(int32_t));
}

static SortStatus
corrupt(SortError *err, const char *what)
{
	return sort_fail(err, SORT_CORRUPT, "serialized keys are corrupt: %s", what);
}

SortStatus
sorter_deserialize(Sorter *s, const void *data, size_t size, SortError *err)
{
	const char *at = data;
	const SortAllocator *a = sorter_allocator(s);
	SerializedHeader header;
	uint64_t	total = sorter_count(s);
	Runs		runs = {0};
	SortStatus	status = SORT_OK;

	if (size < sizeof(header))
		return corrupt(err, "too short");
	memcpy(&header, at, sizeof(header));
	at += sizeof(header);
	size -= sizeof(header);
	if (header.magic != SERIALIZED_MAGIC)
		return corrupt(err, "unknown format");
	if (header.count_width != 4 && header.count_width != 8)
		return corrupt(err, "impossible count width");

	/* Compared by division first, so that the products cannot overflow. */
	if (header.nruns > size / (header.count_width + sizeof(int32_t)) ||
		header.nkeys > size / sizeof(int32_t) ||
		header.nruns * (header.count_width + sizeof(int32_t)) +
		header.nkeys * sizeof(int32_t) != size)
		return corrupt(err, "length does not match");
	/* The sum of all counts must be a number of keys that a sorter can have. */
	total += header.nkeys;
	if (header.nruns > 0)
	{
		if (!runs_reserve(&runs, (size_t) header.nruns, a))
			return sort_no_memory(err);
		for (uint64_t i = 0; i < header.nruns; i++)
		{
			uint64_t	count = 0;
			uint32_t	narrow;

			if (header.count_width == 4)
			{
				memcpy(&narrow, at + i * 4, sizeof(narrow));
				count = narrow;
			}
			else
				memcpy(&count, at + i * 8, sizeof(count));
			if (count == 0 || total > INT64_MAX || count > INT64_MAX - total)
			{
				status = corrupt(err, "impossible count");
				break;
			}
			total += count;
			runs.counts[i] = count;
		}
		at += header.nruns * header.count_width;
		memcpy(runs.keys, at, (size_t) header.nruns * sizeof(int32_t));
		at += header.nruns * sizeof(int32_t);
		runs.len = (size_t) header.nruns;
		for (uint64_t i = 1; i < header.nruns && status == SORT_OK; i++)
			if (runs.keys[i - 1] >= runs.keys[i])
				status = corrupt(err, "keys are not ascending");
		if (status == SORT_OK)
			status = sorter_add_runs(s, runs.keys, runs.counts, runs.len, err);
		runs_release(&runs, a);
	}

	/* The keys may lie at any address, so that they are copied to an aligned batch. */
	while (header.nkeys > 0 && status == SORT_OK)
	{
		int32_t		keys[BATCH];
		size_t		part = header.nkeys < BATCH ? (size_t) header.nkeys : BATCH;

		memcpy(keys, at, part * sizeof(int32_t));
		status = sorter_add(s, keys, part, err);
		at += part * sizeof(int32_t);
		header.nkeys -= part;
	}
	return status;
}
