/*
 * sort.c
 *		Putting the rows of a store in order (see sort.h).
 *
 * The mapped keys of a row become one unsigned integer, its code: as many
 * leading keys as fit 64 bits, each with as many values as lie between its
 * bounds, which are known exactly when all rows are there.  src/sort sorts the
 * codes.  A single key whose bytes take few values each, as a text's do, has a smaller
 * code (sort/byte_codes.h).  If keys are left over, mapped ones that did not fit or keys left to
 * core, the rows of equal codes are a group, and are compared key by key.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"

#include "pg/compat.h"
#include "pg/huge_pages.h"
#include "pg/nodes/sort/store/group_sort.h"
#include "pg/nodes/sort/store/sort.h"
#include "pg/sort_context.h"
#include "sort/byte_codes.h"
#include "sort/error.h"
#include "sort/kernels/wide.h"
#include "sort/key_code.h"

/* How the keys of the wide layout become codes. */
typedef struct Combination
{
	KeyCode		code;
	KeyCodeColumn columns[KEY_COLUMNS_MAX_MAPPED];
	int			nkeys;			/* leading keys in the code ... */
	int			nwhole;			/* ... of which these are equal if codes are */
	uint64		last;			/* largest code */
	ByteCodes  *bytes;			/* codes of the first key, the only one, are its images; or NULL */
	double		range;			/* possible combinations of all keys */
} Combination;

/*
 * Byte codes are tried with at least BYTE_CODES_SAMPLE rows, and used if they save at least
 * BYTE_CODES_GAIN bits.
 */
#define BYTE_CODES_SAMPLE 1024
#define BYTE_CODES_GAIN 4

/*
 * Byte codes are not made if the leading bits of the keys take at least this many times as many
 * values as there are rows.  Few rows then have to be looked at again, and making the codes takes
 * longer: a tenth of the time of a sort of 2e6 random float8.
 */
#define BYTE_CODES_ENOUGH 8.0

/* Finds how the keys of the store's rows become codes, by the ranges of their images. */
static void
combine_keys(const RowStore *store, Combination *c)
{
	memset(c, 0, sizeof(*c));
	c->code.ncolumns = store->keys->nmapped;
	c->code.columns = c->columns;
	row_store_key_ranges(store, &c->code);
	c->range = 1;
	for (int i = 0; i < c->code.ncolumns; i++)
	{
		const KeyRange *range = &c->columns[i].range;

		c->range *= range->nulls +
			(key_range_is_empty(range) ? 0 : (double) (range->hi - range->lo) + 1);
	}
	c->nkeys = key_code_fit(&c->code, &c->nwhole);
	c->last = c->code.ncodes - 1;
}

static inline uint64
row_code(const RowStore *store, const Combination *c, Size row)
{
	uint64		code = 0;
	int			i = 0;

	do
	{
		const KeyCodeColumn *column = &c->columns[i];
		bool		isnull = row_store_is_null(store, row, i);
		uint64		image = store->arrays.images[i][row];

		if (c->bytes && !isnull)
			image = byte_code(c->bytes, image);
		code += (key_code_place(column, image, isnull) >> column->cut) * column->stride;
	} while (++i < c->nkeys);
	return code;
}

/* Bits of a row's number, and of codes up to last. */
static inline int
row_bits(const RowStore *store)
{
	return pg_leftmost_one_pos64(store->n) + 1;
}

static inline int
code_bits(uint64 last)
{
	return last == 0 ? 1 : pg_leftmost_one_pos64(last) + 1;
}

/*
 * Replaces codes that do not fit into 64 bits beside a row's number by smaller ones,
 * where all there is of a row's code is one key whose bytes take few values.
 */
static void
try_byte_codes(RowStore *store, Combination *c)
{
	ByteCodes  *codes;
	Size		step = store->n / BYTE_CODES_SAMPLE;
	int			lost = code_bits(c->last) + row_bits(store) - 64;	/* bits */

	if (c->nkeys != 1 || c->nwhole != 1 || store->n < BYTE_CODES_SAMPLE || lost <= 0)
		return;
	codes = MemoryContextAlloc(store->memory, sizeof(ByteCodes));
	byte_codes_begin(codes);
	for (Size i = 0; i < store->n; i += step)
		byte_codes_see(codes, &store->arrays.images[0][i], 1);
	if (byte_codes_leading(codes, lost) >= (double) store->n * BYTE_CODES_ENOUGH)
	{
		pfree(codes);
		return;
	}
	byte_codes_number(codes);
	if (code_bits(codes->last) + BYTE_CODES_GAIN <= code_bits(c->last))
	{
		byte_codes_begin(codes);
		for (Size i = 0; i < store->n; i += CHECK_EVERY)
		{
			CHECK_FOR_INTERRUPTS();
			byte_codes_see(codes, store->arrays.images[0] + i, Min(store->n - i, CHECK_EVERY));
		}
		byte_codes_number(codes);
	}
	if (code_bits(codes->last) + BYTE_CODES_GAIN > code_bits(c->last))
	{
		pfree(codes);
		return;
	}
	c->bytes = codes;
	c->columns[0].range.lo = 0;
	c->columns[0].range.hi = codes->last;
	c->code.ncolumns = 1;
	key_code_fit(&c->code, &c->nwhole);
	c->last = c->code.ncodes - 1;
}

/*
 * Puts the n rows of a group, of which there are several, in order, and writes them to their sorted
 * pairs, which have the memory for it until then.
 */
static void
sort_pairs_of_group(GroupSort *sort, uint64 *pairs, Size n, int bits, uint32 *rows)
{
	uint64		code = pairs[0] >> bits << bits;

	group_sort(sort, rows, n, pairs);
	for (Size i = 0; i < n; i++)
		pairs[i] = code | rows[i];
}

/*
 * Writes the rows of n sorted pairs to rows, and puts rows of equal codes in order by the keys that
 * are left.  A pair is a code above bits bits, which are the row.  Counts the different codes.
 */
static inline void
order_groups(GroupSort *sort, uint64 *pairs, Size n, int bits, uint32 *rows)
{
	bool		compared = sort->first < sort->store->keys->nmapped || sort->nrest > 0;
	Size		start = 0;

	for (Size i = 0; i < n; i++)
	{
		rows[i] = (uint32) (pairs[i] & ((UINT64CONST(1) << bits) - 1));
		if (i + 1 == n || pairs[i] >> bits != pairs[i + 1] >> bits)
		{
			if (i > start && compared)
				sort_pairs_of_group(sort, pairs + start, i + 1 - start, bits, rows + start);
			start = i + 1;
			sort->store->stats.distinct++;
		}
		if (i % CHECK_EVERY == CHECK_EVERY - 1)
			CHECK_FOR_INTERRUPTS();
	}
}

void
row_store_cancelled(void)
{
	SortError	err;

	sort_cancelled(&err);
	pg_sort_error(&err);
}

/* Sorts integers in place: codes above rows, or images alone. */
static void
sort_integers(uint64 *integers, Size n, const SortContext *context)
{
	if (n > 0 && !wide_sort_pairs(integers, n, context))
		row_store_cancelled();
}

/* Sorts images of keys without rows, and counts the different ones. */
static void
sort_images(RowStore *store, const SortContext *context)
{
	const uint64 *images = store->arrays.images[0];

	sort_integers(store->arrays.images[0], store->n, context);
	for (Size i = 0; i < store->n; i++)
	{
		store->stats.distinct += i == 0 || images[i] != images[i - 1];
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	store->stats.plan.algorithm = SORT_ALGORITHM_RADIX;
}

/* Pairs of 32-bit keys in lo .. hi, in the way that the plan chose. */
static void
sort_rows(RowStore *store, uint64 *pairs, uint32 lo, uint32 hi, const SortContext *context)
{
	RowsSort	rows = {.pairs = pairs,.n = store->n,.lo = lo,.hi = hi};
	SortError	err;

	pg_sort_check(rows_sort(&rows, &store->stats.plan, context, &err), &err);
	store->order = rows.refs;
	store->stats.distinct = rows.distinct;
}

/*
 * Sorts a store of the narrow layout.  If no key is left to core, the plan decides how; else pairs
 * are sorted as integers, and rows of equal images by the keys that are left.  The references of
 * rows whose key is NULL, which are equal by the first key, are one group.
 */
static void
sort_narrow(RowStore *store, const SortContext *context)
{
	GroupSort	sort = {.store = store,.first = 1,.nrest = store->keys->nrest};

	if (sort.nrest == 0)
	{
		sort_rows(store, store->arrays.pairs, (uint32) store->ranges[0].lo,
				  (uint32) store->ranges[0].hi, context);
		return;
	}
	sort_integers(store->arrays.pairs, store->n, context);
	store->stats.plan.algorithm = SORT_ALGORITHM_RADIX;
	store->stats.compared = true;
	store->order = pg_huge_alloc(store->memory, (store->n + 1) * sizeof(uint32));
	order_groups(&sort, store->arrays.pairs, store->n, 32, store->order);
	if (store->nnull > 1)
	{
		void	   *scratch = pg_huge_alloc(store->memory, store->nnull * sizeof(uint64));

		group_sort(&sort, store->arrays.null_refs, store->nnull, scratch);
		pfree(scratch);
	}
	group_sort_end(&sort);
}

/*
 * Puts n sorted pairs, whose codes have equal leading bits, in the order of the lower bits, which
 * replace the leading ones in the pairs.  Often all pairs are equal, and in order as they are.
 */
static void
sort_lower_bits(const RowStore *store, const Combination *c, int bits, uint64 lower, uint64 *pairs,
				Size n, const SortContext *context)
{
	bool		ordered = true;

	for (Size i = 0; i < n; i++)
	{
		uint64		row = pairs[i] & ((UINT64CONST(1) << bits) - 1);

		pairs[i] = (row_code(store, c, row) & lower) << bits | row;
		ordered &= i == 0 || pairs[i - 1] < pairs[i];
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	if (!ordered)
		sort_integers(pairs, n, context);
}

/*
 * Sorts rows by their codes.  Rows are first sorted by the leading bits of their codes, as many as
 * there is room for in 64 bits beside the row's number: 40 bits of 1e7 rows.  The lower bits, which
 * are fewer than those of a row's number, are looked at only where the leading bits are equal, as
 * they are of few rows as a rule.
 */
static void
sort_codes(GroupSort *sort, const Combination *c, const SortContext *context)
{
	RowStore   *store = sort->store;
	int			bits = row_bits(store);
	int			nlower = Max(code_bits(c->last) + bits - 64, 0);
	uint64		lower = (UINT64CONST(1) << nlower) - 1;
	uint64	   *pairs = pg_huge_alloc(store->memory, store->n * sizeof(uint64));
	Size		end;

	for (Size i = 0; i < store->n; i++)
	{
		pairs[i] = row_code(store, c, i) >> nlower << bits | i;
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	sort_integers(pairs, store->n, context);
	store->order = pg_huge_alloc(store->memory, store->n * sizeof(uint32));
	for (Size start = nlower == 0 ? store->n : 0; start < store->n; start = end)
	{
		uint64		leading = pairs[start] >> bits;

		if (start % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		for (end = start + 1; end < store->n && pairs[end] >> bits == leading; end++)
			if (end % CHECK_EVERY == 0)
				CHECK_FOR_INTERRUPTS();
		if (likely(end - start == 1))
		{
			store->order[start] = (uint32) (pairs[start] & ((UINT64CONST(1) << bits) - 1));
			store->stats.distinct++;
			continue;
		}
		sort_lower_bits(store, c, bits, lower, pairs + start, end - start, context);
		order_groups(sort, pairs + start, end - start, bits, store->order + start);
	}
	if (nlower == 0)
		order_groups(sort, pairs, store->n, bits, store->order);
	pfree(pairs);
}

/*
 * Sorts codes of at most 32 bits that say all of the order, as the plan says.  References grow with
 * the rows, so the order of equal codes is the rows', too.
 */
static void
sort_short_codes(RowStore *store, const Combination *c, bool numbers, const SortContext *context)
{
	uint64	   *pairs = pg_huge_alloc(store->memory, store->n * sizeof(uint64));

	for (Size i = 0; i < store->n; i++)
	{
		pairs[i] = ROWS_PAIR(row_code(store, c, i), numbers ? (uint32) i : store->arrays.refs[i]);
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	sort_rows(store, pairs, 0, (uint32) c->last, context);
	if ((void *) store->order != (void *) pairs)
		pfree(pairs);
}

/*
 * Sorts a store of the wide layout, with tuples.  nrest: how many of the keys left to core are
 * compared, all or 0.  numbers: the order is that of the rows' numbers instead of their references.
 */
static void
sort_wide(RowStore *store, int nrest, bool numbers, const SortContext *context)
{
	GroupSort	sort = {.store = store,.nrest = nrest};
	Combination c;
	bool		is_short;

	combine_keys(store, &c);
	store->stats.range = c.range;
	store->stats.compared = c.nwhole < store->keys->nmapped || nrest > 0;
	sort.first = c.nwhole;
	try_byte_codes(store, &c);
	is_short = !store->stats.compared && c.last <= PG_UINT32_MAX;
	rows_plan(context, store->n, 0, c.last, is_short, &store->stats.plan);
	if (is_short)
		sort_short_codes(store, &c, numbers, context);
	else
		sort_codes(&sort, &c, context);
	if (c.bytes)
		pfree(c.bytes);
	group_sort_end(&sort);
	for (Size i = 0; i < store->n && !is_short && !numbers; i++)
	{
		store->order[i] = store->arrays.refs[store->order[i]];
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
}

/*
 * An integer that rows of the wide layout have in common if their keys are equal, and hardly any
 * others.
 */
static inline uint64
mix_keys(const RowStore *store, Size row)
{
	uint64		mixed = store->arrays.nulls ? store->arrays.nulls[row] : 0;

	for (int k = 0; k < store->keys->nmapped; k++)
	{
		mixed = (mixed ^ store->arrays.images[k][row]) * UINT64CONST(0x9E3779B97F4A7C15);
		mixed ^= mixed >> 32;
	}
	return mixed;
}

/*
 * Rows that have an equal one keep it.  Rows that are alone may meet one: it is assumed that each
 * time as many rows come as there are now, as many lone rows meet one as have met in pairs so far,
 * which is two for each pair.
 */
double
row_store_expect_equal(const RowStore *store, double times, const SortContext *context)
{
	uint64	   *keys = pg_huge_alloc(store->memory, Max(store->n, 1) * sizeof(uint64));
	double		equal = store->nnull > 1 ? store->nnull : 0;
	Size		alone = 0;
	Size		pairs = 0;
	Size		start = 0;

	for (Size i = 0; i < store->n; i++)
	{
		keys[i] = store->narrow ? ROWS_PAIR_KEY(store->arrays.pairs[i]) : mix_keys(store, i);
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
	}
	sort_integers(keys, store->n, context);
	for (Size i = 1; i <= store->n; i++)
	{
		if (i < store->n && keys[i] == keys[start])
			continue;
		alone += i - start == 1;
		pairs += i - start == 2;
		equal += i - start == 1 ? 0 : i - start;
		start = i;
	}
	pfree(keys);
	return equal + Min((double) alone, 2 * (double) pairs * (times - 1));
}

/* Replaces numbers by ranks in the images of key k. */
static void
rank_images(RowStore *store, int k)
{
	const KeyColumn *key = &store->keys->keys[k];
	uint64	   *images = store->arrays.images[k];
	bool		nulls = store->ranges[k].nulls;
	KeyRange	range = EMPTY_KEY_RANGE;

	for (Size i = 0; i < store->n; i++)
	{
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		if (nulls && row_store_is_null(store, i, k))
			continue;
		images[i] = key_rank_of_number(key, images[i] ^ key->flip);
		key_range_put(&range, images[i]);
	}
	range.nulls = nulls;
	store->ranges[k] = range;
}

/* Makes numbers ranks, of the store's rows and in its keys. */
static void
rank_numbers(RowStore *store)
{
	KeyColumns *keys = store->keys;

	key_columns_rank(keys);
	for (int k = 0; k < keys->nmapped; k++)
		if (key_is_numbered(&keys->keys[k]) && store->n > 0)
			rank_images(store, k);
}

void
row_store_sort_with_keys(RowStore *store, bool all, const SortContext *context)
{
	int			nrest = all ? store->keys->nrest : 0;

	Assert(store->elsewhere || store->narrow || !store->tuples);
	memset(&store->stats, 0, sizeof(store->stats));
	rank_numbers(store);
	store->nulls_before = store->narrow && store->keys->keys[0].nulls_first ? store->nnull : 0;
	rows_plan(context, store->n, 0, PG_UINT32_MAX, false, &store->stats.plan);
	if (store->narrow && nrest > 0)
		sort_narrow(store, context);
	else if (store->narrow || !store->tuples)
		sort_integers(store->narrow ? store->arrays.pairs : store->arrays.images[0], store->n,
					  context);
	else if (store->n > 0)
		sort_wide(store, nrest, true, context);
	store->peak = Max(store->peak, store->used + key_columns_memory(store->keys));
}

void
row_store_sort(RowStore *store, const SortContext *context)
{
	bool		nulls_apart = store->narrow || !store->tuples;

	memset(&store->stats, 0, sizeof(store->stats));
	rank_numbers(store);
	if (nulls_apart)
	{
		uint64		lo = store->n > 0 ? store->ranges[0].lo : 0;
		uint64		hi = store->n > 0 ? store->ranges[0].hi : 0;

		store->nulls_before = store->keys->keys[0].nulls_first ? store->nnull : 0;
		store->stats.range = store->n > 0 ? (double) (hi - lo) + 1 : 0;
		rows_plan(context, store->n, lo, hi, store->narrow && store->keys->nrest == 0,
				  &store->stats.plan);
	}
	if (store->narrow)
		sort_narrow(store, context);
	else if (!store->tuples)
		sort_images(store, context);
	else if (store->n > 0)
		sort_wide(store, store->keys->nrest, false, context);
	else
		rows_plan(context, 0, 0, 0, false, &store->stats.plan);
	if (nulls_apart && store->nnull > 0)
	{
		store->stats.range++;
		store->stats.distinct++;
	}
	store->peak = Max(store->peak, store->used + key_columns_memory(store->keys));
}
