/*
 * bucket_radix.c
 *		Radix sort with bucket partition (Zhang, Wu 2012).
 *
 * There is a pass for each digit.  A pass cuts the keys into rows of different digits.  Then one
 * key of each row at a time can be counted and moved, and no two of these keys have the same
 * digit.
 *
 * The authors' arrays by name: pivots divide the digits evenly.  sublists[i] and indices[i] are
 * the row of key i and its place there.  counts and countsoffset are the rows' lengths and where
 * they start in pInput.  histbins has the counting sort's counters.  The work items of a column
 * are taken in the order of their rows.  A row that has no more keys is left out of the next
 * columns; the authors' threads stay idle there.
 *
 * The authors' partition forgets the order of equal digits, so after two passes an insertion sort
 * has to repair it.  Here a single thread makes the rows in the order of the input, so the
 * insertion sort reads each key and moves none, as report.moved shows.
 */
#include "sort/published/parts.h"

#define RADIX_DEFAULT (UINT32_C(1) << 16)
#define ROWS_DEFAULT (UINT32_C(1) << 10)

/* A sort by this algorithm, and its memory. */
typedef struct Radix
{
	Published  *p;
	uint32_t   *keys;			/* distances; after each pass in the order of the pass's digit */
	uint64_t	n;
	uint32_t	radix;			/* r */
	uint32_t	rows;			/* s */
	uint64_t	digits;			/* different digits of this pass */
	uint32_t	shift;			/* of this pass's digit */
	uint16_t   *sublists;		/* [n] */
	uint32_t   *indices;		/* [n] */
	uint32_t   *pInput;			/* [n] */
	uint32_t   *counts;			/* [s] */
	uint32_t   *countsoffset;	/* [s] */
	uint32_t   *live;			/* [s] rows that reach the current column */
	uint32_t   *histbins;		/* [r] */
} Radix;

static inline uint32_t
digit_of(const Radix *x, uint32_t key)
{
	return (key >> x->shift) & (x->radix - 1);
}

/* The bucket partition: makes pInput, counts and countsoffset. */
static bool
partition(Radix *x)
{
	uint32_t	sum = 0;
	uint64_t	i = 0;
	uint64_t	end;
	uint32_t	row;

	for (row = 0; row < x->rows; row++)
		x->counts[row] = 0;
	while (sort_step(x->p->context, i, x->n, &end))
		for (; i < end; i++)
		{
			row = (uint32_t) ((uint64_t) digit_of(x, x->keys[i]) * x->rows / x->digits);
			x->sublists[i] = (uint16_t) row;
			x->indices[i] = x->counts[row]++;
		}
	if (i < x->n)
		return false;
	for (row = 0; row < x->rows; row++)
	{
		x->countsoffset[row] = sum;
		sum += x->counts[row];
	}
	i = 0;
	while (sort_step(x->p->context, i, x->n, &end))
		for (; i < end; i++)
			x->pInput[x->countsoffset[x->sublists[i]] + x->indices[i]] = x->keys[i];
	return i == x->n;
}

/* histogram-keys, or with permute rank-and-permute: one column of pInput after the other. */
static bool
walk_columns(Radix *x, bool permute)
{
	PublishedReport *report = &x->p->sort->report;
	uint32_t	nlive = 0;
	uint32_t	j;

	for (uint32_t row = 0; row < x->rows; row++)
		if (x->counts[row] > 0)
			x->live[nlive++] = row;
	for (j = 0; nlive > 0; j++)
	{
		uint32_t	reach = 0;

		for (uint32_t w = 0; w < nlive; w++)
		{
			uint32_t	value = x->pInput[x->countsoffset[x->live[w]] + j];
			uint32_t   *bin = &x->histbins[digit_of(x, value)];

			if (permute)
				x->keys[*bin] = value;
			(*bin)++;
			if (j + 1 < x->counts[x->live[w]])
				x->live[reach++] = x->live[w];
		}
		if (!published_goes_on(x->p, nlive))
			return false;
		nlive = reach;
	}
	if (!permute)
		report->columns += j;
	return !sort_interrupted(x->p->context);
}

/* One pass: the bucket partition of a digit, and the counting sort of the rows. */
static bool
pass(Radix *x)
{
	uint32_t	sum = 0;

	if (!partition(x))
		return false;
	published_phase(x->p, "partition");
	for (uint32_t digit = 0; digit < x->radix; digit++)
		x->histbins[digit] = 0;
	if (!walk_columns(x, false))
		return false;
	for (uint32_t digit = 0; digit < x->radix; digit++)
	{
		uint32_t	count = x->histbins[digit];

		x->histbins[digit] = sum;
		sum += count;
	}
	if (!walk_columns(x, true))
		return false;
	published_phase(x->p, "counting");
	x->p->sort->report.rounds++;
	return true;
}

/* Repairs the order of keys with the same last digit. */
static bool
insertion_sort(Radix *x)
{
	for (uint64_t i = 1; i < x->n; i++)
	{
		uint32_t	key = x->keys[i];
		uint64_t	at = i;

		for (; at > 0 && x->keys[at - 1] > key; at--)
			x->keys[at] = x->keys[at - 1];
		x->keys[at] = key;
		x->p->sort->report.moved += i - at;
		if (!published_goes_on(x->p, 1 + i - at))
			return false;
	}
	published_phase(x->p, "insertion");
	return true;
}

/* Replaces all keys by their distances, or these by their keys. */
static bool
translate(Published *p, bool to_keys)
{
	int32_t    *keys = p->sort->keys;
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(p->context, i, p->sort->n, &end))
		for (; i < end; i++)
			keys[i] = to_keys ? published_key(p->sort, (uint32_t) keys[i]) :
				(int32_t) published_distance(p->sort, keys[i]);
	return i == p->sort->n;
}

static bool
allocate(Radix *x)
{
	Published  *p = x->p;

	return (x->sublists = published_alloc(p, x->n, sizeof(uint16_t))) != NULL &&
		(x->indices = published_alloc(p, x->n, sizeof(uint32_t))) != NULL &&
		(x->pInput = published_alloc(p, x->n, sizeof(uint32_t))) != NULL &&
		(x->counts = published_alloc(p, x->rows, sizeof(uint32_t))) != NULL &&
		(x->countsoffset = published_alloc(p, x->rows, sizeof(uint32_t))) != NULL &&
		(x->live = published_alloc(p, x->rows, sizeof(uint32_t))) != NULL &&
		(x->histbins = published_alloc(p, x->radix, sizeof(uint32_t))) != NULL;
}

bool
published_bucket_radix(Published *p)
{
	const PublishedOptions *options = &p->sort->options;
	Radix		x = {
		.p = p,
		.keys = (uint32_t *) p->sort->keys,
		.n = p->sort->n,
		.radix = options->radix ? options->radix : RADIX_DEFAULT,
		.rows = options->rows ? options->rows : ROWS_DEFAULT
	};
	uint32_t	bits;

	if (x.radix < 2 || x.radix > (UINT32_C(1) << 16) || (x.radix & (x.radix - 1)) != 0 ||
		x.rows > (UINT32_C(1) << 16))
	{
		sort_fail(p->err, SORT_UNSUPPORTED, "bucket_radix has no radix %u with %u rows", x.radix,
				  x.rows);
		return false;
	}
	if (!allocate(&x) || !translate(p, false))
		return false;
	bits = (uint32_t) __builtin_ctz(x.radix);
	do
	{
		uint64_t	left = (p->range - 1) >> x.shift;

		x.digits = left < x.radix ? left + 1 : x.radix;
		if (!pass(&x))
			return false;
		x.shift += bits;
	} while (x.shift < 32 && (p->range - 1) >> x.shift > 0);
	if (p->sort->report.rounds > 1 && !insertion_sort(&x))
		return false;
	return translate(p, true);
}
