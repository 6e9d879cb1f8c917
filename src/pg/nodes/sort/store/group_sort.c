/*
 * group_sort.c
 *		Rows of a group in order (see group_sort.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/datum.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/group_sort.h"

/* Rows that lie elsewhere are prefetched AHEAD at a time, in groups of at least AHEAD_MIN rows. */
#define AHEAD 32
#define AHEAD_MIN 4

/* Rows of a group whose values are prefetched while it is merged. */
#define MERGE_AHEAD 4

/* The value of a row of a group, of a key left to core. */
static inline Datum
group_value(const RowStore *store, uint32 row, int key, bool *isnull)
{
	uint32		ref = store->narrow ? row : store->arrays.refs[row];

	if (store->elsewhere)
		return store->elsewhere->value(store->elsewhere->arg, ref, key, isnull);
	return row_tuple_value(row_store_tuple(store, ref), store->tupdesc,
						   store->keys->rest[key].ssup_attno, isnull);
}

/*
 * Brings rows of a group that lie elsewhere into the processor's cache before their values are
 * asked for.  It is called when row i is, a multiple of AHEAD; what says where rows lie comes one
 * step before the rows, as in place_rows_prefetch().
 */
static void
prefetch_group(const RowStore *store, const uint32 *rows, Size n, Size i)
{
	uint32		refs[3 * AHEAD];
	Size		from = i == 0 ? 0 : i + AHEAD;
	Size		end = Min(i + 3 * AHEAD, n);
	Size		known = i == 0 ? 0 : AHEAD; /* of these, rows of which it is known where they lie */

	if (from >= end)
		return;
	for (Size j = from; j < end; j++)
		refs[j - from] = store->narrow ? rows[j] : store->arrays.refs[rows[j]];
	if (end - from > known)
		store->elsewhere->prefetch(store->elsewhere->arg, refs + known, (int) (end - from - known),
								   true);
	store->elsewhere->prefetch(store->elsewhere->arg, refs,
							   (int) Min(end - from, i == 0 ? 2 * AHEAD : AHEAD), false);
}

/*
 * Returns the order of two rows of a group, by the mapped keys that are not in the code and then by
 * those left to core: < 0, 0 or > 0.
 */
static int
compare_rows(const GroupSort *sort, const RowGroupEntry *left, const RowGroupEntry *right)
{
	const RowStore *store = sort->store;
	const KeyColumns *keys = store->keys;
	int			result;

	for (int i = sort->first; i < keys->nmapped; i++)
	{
		bool		null_l = row_store_is_null(store, left->row, i);
		bool		null_r = row_store_is_null(store, right->row, i);

		result = key_compare(&keys->keys[i], null_l, store->arrays.images[i][left->row],
							 null_r, store->arrays.images[i][right->row]);
		if (result != 0)
			return result;
	}
	if (sort->nrest > 0)
	{
		result = ApplySortComparator(left->value, left->isnull, right->value, right->isnull,
									 &keys->rest[0]);
		if (result != 0)
			return result;
		for (int i = 1; i < sort->nrest; i++)
		{
			bool		null_l;
			bool		null_r;
			Datum		value_l = group_value(store, left->row, i, &null_l);
			Datum		value_r = group_value(store, right->row, i, &null_r);

			result = ApplySortComparator(value_l, null_l, value_r, null_r, &keys->rest[i]);
			if (result != 0)
				return result;
		}
	}
	return 0;
}

/*
 * Whether two rows have the very same value of a key that is the only one left: some comparison
 * functions copy both values first.
 */
static bool
are_alike(const GroupSort *sort, const RowGroupEntry *left, const RowGroupEntry *right)
{
	const RowStore *store = sort->store;
	Form_pg_attribute att;

	if (sort->nrest != 1 || sort->first < store->keys->nmapped || left->isnull || right->isnull)
		return false;
	att = TupleDescAttr(store->tupdesc, store->keys->rest[0].ssup_attno - 1);
	return datumIsEqual(left->value, right->value, att->attbyval, att->attlen);
}

/* Returns the row after the rows that are equal to one of end's array. */
static inline RowGroupEntry *
after_equal(RowGroupEntry *row, const RowGroupEntry *end)
{
	do
		row++;
	while (row < end && row->repeats);
	return row;
}

/*
 * Merges the rows before middle with those from there on, before end; both are in order.  Of equal
 * rows, which know it of each other, one is compared.
 */
static void
merge_rows(const GroupSort *sort, RowGroupEntry *rows, RowGroupEntry *middle, RowGroupEntry *end)
{
	RowGroupEntry *left = sort->scratch;
	RowGroupEntry *left_end = left + (middle - rows);
	RowGroupEntry *right = middle;
	RowGroupEntry *next;

	memcpy(left, rows, (char *) middle - (char *) rows);
	while (left < left_end && right < end)
	{
		int			result = compare_rows(sort, left, right);

		CHECK_FOR_INTERRUPTS();
		if (result <= 0)
		{
			next = after_equal(left, left_end);
			for (; left < next; left++)
				*rows++ = *left;
			if (left + MERGE_AHEAD < left_end)
				__builtin_prefetch(DatumGetPointer(left[MERGE_AHEAD].value));
		}
		if (result >= 0)
		{
			next = after_equal(right, end);
			right->repeats = result == 0;
			for (; right < next; right++)
				*rows++ = *right;
			if (right + MERGE_AHEAD < end)
				__builtin_prefetch(DatumGetPointer(right[MERGE_AHEAD].value));
		}
	}
	memcpy(rows, left, (char *) left_end - (char *) left);
}

/*
 * Puts rows of a group in order, equal ones in the order in which they came.  A merge sort takes
 * fewer comparisons than any other, works on rows that lie near each other before it comes to all
 * of them, and compares neighbours only if rows are in order as they are.
 */
static void
sort_rows_of_group(const GroupSort *sort, RowGroupEntry *rows, Size n)
{
	RowGroupEntry *middle = rows + n / 2;
	int			result;

	if (n < 2)
		return;
	sort_rows_of_group(sort, rows, n / 2);
	sort_rows_of_group(sort, middle, n - n / 2);
	result = are_alike(sort, middle - 1, middle) ? 0 : compare_rows(sort, middle - 1, middle);
	if (result > 0)
		merge_rows(sort, rows, middle, rows + n);
	else
		middle->repeats = result == 0;
}

/*
 * Whether rows of a group, of which this is one, are known to be equal by the one key that is
 * left.
 */
static bool
are_known_equal(const GroupSort *sort, uint32 row)
{
	const RowStore *store = sort->store;
	const KeyColumns *keys = store->keys;
	int			last = keys->nmapped - 1;

	/* Images that are exact may be elsewhere, and say nothing of the key that is left. */
	return sort->first >= keys->nmapped && sort->nrest == keys->nrest &&
		keys->nexact < keys->nmapped &&
		key_columns_are_known_equal(keys, row_store_is_null(store, row, last),
									store->arrays.images[last][row]);
}

void
group_sort(GroupSort *sort, uint32 *rows, Size n, void *scratch)
{
	RowStore   *store = sort->store;
	bool		ahead = store->elsewhere && sort->nrest > 0 && n >= AHEAD_MIN;

	if (are_known_equal(sort, rows[0]))
		return;
	if (n > sort->room)
	{
		if (sort->rows)
			pfree(sort->rows);
		sort->room = Max(n, 64);
		sort->rows = MemoryContextAllocHuge(store->memory, sort->room * sizeof(RowGroupEntry));
	}
	for (Size i = 0; i < n; i++)
	{
		RowGroupEntry *row = &sort->rows[i];

		/* Before the first row, too, as groups may be many and small. */
		if (i % CHECK_EVERY == 0)
			CHECK_FOR_INTERRUPTS();
		if (ahead && i % AHEAD == 0)
			prefetch_group(store, rows, n, i);
		memset(row, 0, sizeof(*row));
		row->row = rows[i];
		if (sort->nrest > 0)
			row->value = group_value(store, rows[i], 0, &row->isnull);
	}
	sort->scratch = scratch;
	sort_rows_of_group(sort, sort->rows, n);
	for (Size i = 0; i < n; i++)
		rows[i] = sort->rows[i].row;
	if (store->elsewhere && sort->nrest > 0)
		store->elsewhere->forget(store->elsewhere->arg);
}

void
group_sort_end(GroupSort *sort)
{
	if (sort->rows)
		pfree(sort->rows);
}
