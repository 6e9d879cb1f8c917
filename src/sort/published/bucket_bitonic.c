/*
 * bucket_bitonic.c
 *		Bucket and bitonic sort (Chen, Qin, Xie, Zhao, Heng 2009, Algorithms 1 to 3).
 *
 * A list is cut into slices of equal width.  Slices are joined to buckets of at most M elements,
 * and a bitonic network sorts each bucket.  Buckets with more elements are lists again.
 *
 * Elements are keys alone, or pairs of key and row number, the authors' structures.  The network
 * compares whole pairs, and a list of one key is cut by the row numbers, so that equal keys keep
 * their order.
 *
 * Slices are cut by value: of integers, or of the floats whose images the keys are.  There is one
 * slice before them for -infinity, and one behind them for infinity and NaN.  The smallest and
 * the largest value of a list are never in one slice, so that each level ends.
 *
 * The strided order of Eq. 4, for nearly sorted lists, keeps a GPU's threads from waiting for
 * one counter.  A single thread gains nothing by it, but takes the elements in this order, too.
 */
#include "sort/published/parts.h"

#include <math.h>

#include "sort/float_image.h"
#include "sort/kernels/permutation.h"
#include "sort/kernels/wide.h"

#define SLICE_KEYS_DEFAULT 80
#define BUCKET_KEYS_DEFAULT 512
#define DISORDER_DEFAULT 10.0

/* A list to be sorted: n elements from an index on. */
typedef struct List
{
	uint64_t	from;
	uint64_t	n;
} List;

/* A sort by this algorithm, and its memory. */
typedef struct Bitonic
{
	Published  *p;
	uint32_t	slice_keys;		/* E */
	uint32_t	bucket_keys;	/* M */
	double		disorder;		/* C */
	uint32_t	flip;			/* key ^ flip, unsigned, is in the wanted order */
	uint32_t   *slice_of_elements;	/* [n] */
	uint32_t   *offset_in_slice;	/* [n] */
	uint32_t   *slice_sizes;	/* [slices] */
	uint32_t   *slice_offsets;	/* [slices] */
	uint32_t   *bucket_offsets; /* [slices] */
	void	   *new_list;		/* [n] */
	void	   *shared;			/* [M] */
	List	   *lists;			/* of the current level */
	List	   *next;			/* of the next level */
	uint64_t	nnext;
} Bitonic;

/* How a list is cut. */
typedef struct Slices
{
	bool		floats;			/* by the values of floats; false: of integers */
	bool		by_rows;		/* by the row numbers of equal keys */
	bool		flat;			/* all keys are equal */
	bool		nearly_sorted;
	double		low;			/* finite extremes */
	double		high;
	double		disorder;		/* Eq. 2 */
	double		step_width;		/* Eq. 1 */
	uint32_t	count;			/* slices of finite values; there is one more on either side */
} Slices;

/*
 * Returns the value by which a key's list is cut.  It is infinite for what is before or behind
 * all finite values.
 */
static inline double
value_of(const Bitonic *b, bool floats, uint32_t key)
{
	uint32_t	bits;
	float		value;

	if (!floats)
		return key;
	bits = float4_key_bits((int32_t) (key ^ b->flip));
	memcpy(&value, &bits, sizeof(value));
	value = isnan(value) ? INFINITY : value;
	return b->p->sort->descending ? -value : value;
}

/* Returns the slice of a value. */
static inline uint32_t
slice_of(const Slices *slices, double value)
{
	uint32_t	slice;

	if (isinf(value))
		return value < 0 ? 0 : slices->count + 1;
	slice = (uint32_t) ((value - slices->low) / slices->step_width);
	return 1 + (slice < slices->count ? slice : slices->count - 1);
}

/* Sets the width and number of a list's slices, and whether the list is nearly sorted. */
static void
cut_slices(Bitonic *b, uint64_t n, Slices *slices)
{
	const PublishedOptions *options = &b->p->sort->options;
	PublishedReport *report = &b->p->sort->report;

	/* a single value has no width */
	slices->step_width = slices->high > slices->low
		? (slices->high - slices->low) * b->slice_keys / (double) n : 1;
	slices->count = (uint32_t) ((slices->high - slices->low) / slices->step_width) + 1;
	slices->nearly_sorted = options->nearly_sorted > 0 ||
		(options->nearly_sorted == 0 && slices->disorder < b->disorder);
	report->lists++;
	report->nearly_sorted += slices->nearly_sorted;
}

/*
 * Algorithm 2: sets the slices' places and where each bucket begins.  Returns the number of
 * buckets.
 */
static uint64_t
make_buckets(Bitonic *b, const Slices *slices)
{
	uint64_t	buckets = 0;
	uint64_t	size = 0;
	uint32_t	sum = 0;

	b->bucket_offsets[0] = 0;
	for (uint32_t i = 0; i < slices->count + 2; i++)
	{
		if (size + b->slice_sizes[i] > b->bucket_keys && size != 0)
		{
			b->bucket_offsets[++buckets] = sum;
			size = 0;
		}
		size += b->slice_sizes[i];
		b->slice_offsets[i] = sum;
		sum += b->slice_sizes[i];
	}
	return buckets + 1;
}

#define BITONIC(name) keys_##name
#define BITONIC_TYPE uint32_t
#define BITONIC_KEY(e) (e)
#define BITONIC_HAS_ROWS false
#define BITONIC_ROW(e) 0
#include "sort/published/bitonic_template.h"

#define BITONIC(name) pairs_##name
#define BITONIC_TYPE uint64_t
#define BITONIC_KEY(e) ROWS_PAIR_KEY(e)
#define BITONIC_HAS_ROWS true
#define BITONIC_ROW(e) ROWS_PAIR_REF(e)
#include "sort/published/bitonic_template.h"

static bool
take_options(Bitonic *b)
{
	const PublishedOptions *options = &b->p->sort->options;

	b->slice_keys = options->slice_keys ? options->slice_keys : SLICE_KEYS_DEFAULT;
	b->bucket_keys = options->bucket_keys ? options->bucket_keys : BUCKET_KEYS_DEFAULT;
	b->disorder = options->disorder > 0 ? options->disorder : DISORDER_DEFAULT;
	b->flip = b->p->sort->descending ? UINT32_C(0x7FFFFFFF) : UINT32_C(0x80000000);
	if (b->bucket_keys >= 2 && b->bucket_keys <= (UINT32_C(1) << 16) &&
		(b->bucket_keys & (b->bucket_keys - 1)) == 0 && b->slice_keys <= b->bucket_keys / 2)
		return true;
	sort_fail(b->p->err, SORT_UNSUPPORTED,
			  "bucket_bitonic has no slices of %u keys with buckets of %u",
			  b->slice_keys, b->bucket_keys);
	return false;
}

static bool
allocate(Bitonic *b, size_t element)
{
	Published  *p = b->p;
	uint64_t	n = p->sort->n;

	/* rounding may make one more, and there is one on either side */
	uint64_t	slices = n / b->slice_keys + 4;
	uint64_t	lists = n / b->bucket_keys + 1;

	return (b->slice_of_elements = published_alloc(p, n, sizeof(uint32_t))) != NULL &&
		(b->offset_in_slice = published_alloc(p, n, sizeof(uint32_t))) != NULL &&
		(b->new_list = published_alloc(p, n, element)) != NULL &&
		(b->slice_sizes = published_alloc(p, slices, sizeof(uint32_t))) != NULL &&
		(b->slice_offsets = published_alloc(p, slices, sizeof(uint32_t))) != NULL &&
		(b->bucket_offsets = published_alloc(p, slices, sizeof(uint32_t))) != NULL &&
		(b->shared = published_alloc(p, b->bucket_keys, element)) != NULL &&
		(b->lists = published_alloc(p, lists, sizeof(List))) != NULL &&
		(b->next = published_alloc(p, lists, sizeof(List))) != NULL;
}

/* Flips all keys, so that their unsigned order is the wanted one, or flips them back. */
static bool
flip_keys(Bitonic *b)
{
	PublishedSort *sort = b->p->sort;
	uint64_t	i = 0;
	uint64_t	end;

	while (sort_step(b->p->context, i, sort->n, &end))
		for (; i < end; i++)
			sort->keys[i] ^= (int32_t) b->flip;
	return i == sort->n;
}

/* Sorts (key, row) pairs, and writes the rows to sort->positions. */
static bool
sort_pairs(Bitonic *b)
{
	PublishedSort *sort = b->p->sort;
	uint64_t   *pairs = published_alloc(b->p, sort->n, sizeof(uint64_t));

	return pairs != NULL &&
		permutation_pack(sort->keys, sort->n, sort->descending, sort->first, pairs,
						 b->p->context) &&
		pairs_sort(b, pairs, sort->n) &&
		permutation_unpack(pairs, sort->n, sort->positions, b->p->context);
}

bool
published_bucket_bitonic(Published *p)
{
	PublishedSort *sort = p->sort;
	Bitonic		b = {.p = p};

	if (!take_options(&b) || !allocate(&b, sort->positions ? sizeof(uint64_t) : sizeof(uint32_t)))
		return false;
	if (sort->positions)
		return sort_pairs(&b);
	return flip_keys(&b) && keys_sort(&b, (uint32_t *) sort->keys, sort->n) && flip_keys(&b);
}
