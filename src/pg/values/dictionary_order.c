/*
 * dictionary_order.c
 *		The values of a dictionary in order (see dictionary_order.h).
 */
#include "postgres.h"

#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "pg/compat.h"
#include "pg/values/dictionary_order.h"
#include "sort/kernels/kernels.h"

/* Comparisons after which the memory is given back that they have left behind. */
#define COMPARISONS_PER_RESET 1024

/* Runs up to which they are inserted one by one. */
#define FEW_RUNS 16

/* A value to be sorted. */
typedef struct SortItem
{
	Datum		key;			/* the value, or its abbreviation */
	uint32		number;
} SortItem;

/* What comparisons of values need. */
typedef struct ValueSort
{
	const Dictionary *dictionary;
	SortSupportData compare;	/* perhaps of abbreviations */
	MemoryContext scratch;		/* what comparisons leave behind */
	uint32		comparisons;
} ValueSort;

bool
dictionary_order_exists(Oid type, int32 typmod, Oid collation)
{
	/* Without a length, trailing blanks are kept, and are no difference. */
	return OidIsValid(dictionary_order_operator(type)) && (type != BPCHAROID || typmod >= 0) &&
		dictionary_equal_is_image(type, collation);
}

Oid
dictionary_order_operator(Oid type)
{
	return lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr;
}

static void
prepare_compare(SortSupport compare, Oid sortop, Oid collation, bool abbreviate)
{
	memset(compare, 0, sizeof(*compare));
	compare->ssup_cxt = CurrentMemoryContext;
	compare->ssup_collation = collation;
	compare->abbreviate = abbreviate;
	PrepareSortSupportFromOrderingOp(sortop, compare);
	compare->ssup_reverse = false;
}

void
dictionary_order_compare(SortSupport compare, Oid sortop, Oid collation)
{
	prepare_compare(compare, sortop, collation, false);
}

/* Returns the order of two values, by their numbers, without abbreviations. */
static int
compare_values(ValueSort *sort, uint32 left, uint32 right)
{
	Datum		a = dictionary_value(sort->dictionary, left);
	Datum		b = dictionary_value(sort->dictionary, right);

	if (++sort->comparisons % COMPARISONS_PER_RESET == 0)
	{
		CHECK_FOR_INTERRUPTS();
		MemoryContextReset(sort->scratch);
	}
	return sort->compare.abbrev_converter ?
		ApplySortAbbrevFullComparator(a, false, b, false, &sort->compare) :
		ApplySortComparator(a, false, b, false, &sort->compare);
}

/* A qsort_arg_comparator of SortItems.  Values of a dictionary are all different. */
static int
compare_items(const void *a, const void *b, void *arg)
{
	const SortItem *left = (const SortItem *) a;
	const SortItem *right = (const SortItem *) b;
	ValueSort  *sort = (ValueSort *) arg;
	int			result = 0;

	if (sort->compare.abbrev_converter)
		result = ApplySortComparator(left->key, false, right->key, false, &sort->compare);
	return result == 0 ? compare_values(sort, left->number, right->number) : result;
}

/* Returns how many bytes the n values from number first on, which are texts, begin with. */
static int
find_alike(const Dictionary *dictionary, uint32 first, size_t n)
{
	const char *bytes = VARDATA_ANY(DatumGetPointer(dictionary_value(dictionary, first)));
	int			alike = PG_INT32_MAX;

	for (size_t i = 0; i < n && alike > 0; i++)
	{
		const void *value = DatumGetPointer(dictionary_value(dictionary, first + (uint32) i));
		const char *other = VARDATA_ANY(value);

		alike = Min(alike, (int) VARSIZE_ANY_EXHDR(value));
		if (memcmp(bytes, other, alike) != 0)
			for (alike = 0; bytes[alike] == other[alike];)
				alike++;
	}
	return alike;
}

/* Returns the abbreviation of a value, of a text of what is behind some bytes. */
static Datum
abbreviate(ValueSort *sort, uint32 number, int skipped)
{
	Datum		value = dictionary_value(sort->dictionary, number);
	union
	{
		struct varlena header;
		char		bytes[VARHDRSZ + 2 * sizeof(Datum)];
	}			rest;

	if (skipped > 0)
	{
		size_t		length = VARSIZE_ANY_EXHDR(DatumGetPointer(value)) - skipped;

		length = Min(length, 2 * sizeof(Datum));
		SET_VARSIZE(&rest, VARHDRSZ + length);
		memcpy(VARDATA(&rest), VARDATA_ANY(DatumGetPointer(value)) + skipped, length);
		value = PointerGetDatum(&rest);
	}
	return sort->compare.abbrev_converter(value, &sort->compare);
}

/* Returns the n values from number first on, sorted; the array is the caller's to free. */
static SortItem *
sort_values(ValueSort *sort, bool texts, uint32 first, size_t n)
{
	SortItem   *items = palloc_extended(n * sizeof(SortItem), MCXT_ALLOC_HUGE);
	MemoryContext old = MemoryContextSwitchTo(sort->scratch);
	bool		by_bytes = texts && compat_collation_is_c(sort->compare.ssup_collation);
	int			alike = by_bytes ? find_alike(sort->dictionary, first, n) : 0;

	for (size_t i = 0; i < n; i++)
	{
		items[i].number = first + (uint32) i;
		if (sort->compare.abbrev_converter)
			items[i].key = abbreviate(sort, items[i].number, alike);
		if (i % COMPARISONS_PER_RESET == 0)
			MemoryContextReset(sort->scratch);
	}
	qsort_interruptible(items, n, sizeof(SortItem), compare_items, sort);
	MemoryContextSwitchTo(old);
	return items;
}

/* Merges n new values with those that have ranks, into new arrays of all. */
static void
merge_values(DictionaryOrder *order, ValueSort *sort, const SortItem *items, size_t n)
{
	size_t		total = order->n + n;
	uint32	   *ranks = palloc_extended(total * sizeof(uint32), MCXT_ALLOC_HUGE);
	uint32	   *numbers = palloc_extended(total * sizeof(uint32), MCXT_ALLOC_HUGE);
	MemoryContext old = MemoryContextSwitchTo(sort->scratch);
	size_t		ranked = 0;
	size_t		added = 0;

	for (size_t i = 0; i < total; i++)
	{
		if (ranked == order->n ||
			(added < n &&
			 compare_values(sort, items[added].number, order->numbers[ranked]) < 0))
			numbers[i] = items[added++].number;
		else
			numbers[i] = order->numbers[ranked++];
		ranks[numbers[i]] = (uint32) i;
	}
	MemoryContextSwitchTo(old);
	if (order->n > 0)
	{
		pfree(order->ranks);
		pfree(order->numbers);
	}
	order->ranks = ranks;
	order->numbers = numbers;
	order->n = total;
}

DictionaryOrder *
dictionary_order_make(const Dictionary *dictionary, Oid sortop, Oid collation)
{
	DictionaryOrder *order = palloc0_object(DictionaryOrder);

	order->dictionary = dictionary;
	order->memory = CurrentMemoryContext;
	order->sortop = sortop;
	dictionary_order_compare(&order->compare, sortop, collation);
	return order;
}

void
dictionary_order_rank(DictionaryOrder *order)
{
	size_t		n = dictionary_size(order->dictionary) - order->n;
	ValueSort	sort = {.dictionary = order->dictionary};
	SortItem   *items;
	MemoryContext memory;
	MemoryContext old;

	if (n == 0)
		return;
	memory = AllocSetContextCreate(order->memory, "hpsort dictionary sort",
								   ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(memory);
	prepare_compare(&sort.compare, order->sortop, order->compare.ssup_collation, true);
	sort.scratch = AllocSetContextCreate(memory, "hpsort dictionary comparisons",
										 ALLOCSET_DEFAULT_SIZES);
	items = sort_values(&sort, order->sortop == TextLessOperator, (uint32) order->n, n);
	MemoryContextSwitchTo(order->memory);
	merge_values(order, &sort, items, n);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(memory);
}

size_t
dictionary_order_find(const DictionaryOrder *order, Datum value, bool *found)
{
	SortSupportData compare = order->compare;
	size_t		lo = 0;
	size_t		hi = order->n;

	*found = false;
	while (lo < hi)
	{
		size_t		middle = lo + (hi - lo) / 2;
		int			result = ApplySortComparator(dictionary_order_value(order, (uint32) middle),
												 false, value, false, &compare);

		if (result < 0)
			lo = middle + 1;
		else
			hi = middle;
		*found |= result == 0;
	}
	return lo;
}

/* Sorts a few runs by insertion. */
static void
insert_runs(int64 *values, int64 *counts, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		int64		value = values[i];
		int64		count = counts[i];
		size_t		at = i;

		for (; at > 0 && values[at - 1] > value; at--)
		{
			values[at] = values[at - 1];
			counts[at] = counts[at - 1];
		}
		values[at] = value;
		counts[at] = count;
	}
}

void
dictionary_order_runs(const DictionaryOrder *order, int64 *values, int64 *counts, size_t n)
{
	uint64	   *pairs;
	int64	   *by_number;

	for (size_t i = 0; i < n; i++)
		values[i] = order->ranks[values[i]];
	if (n <= FEW_RUNS)
	{
		insert_runs(values, counts, n);
		return;
	}
	/* Ranks above the places of their counts. */
	pairs = palloc_extended(n * sizeof(uint64), MCXT_ALLOC_HUGE);
	by_number = palloc_extended(n * sizeof(int64), MCXT_ALLOC_HUGE);
	for (size_t i = 0; i < n; i++)
	{
		pairs[i] = (uint64) values[i] << 32 | i;
		by_number[i] = counts[i];
	}
	vqsort_pairs(pairs, n);
	for (size_t i = 0; i < n; i++)
	{
		values[i] = (int64) (pairs[i] >> 32);
		counts[i] = by_number[(uint32) pairs[i]];
	}
	pfree(by_number);
	pfree(pairs);
}
