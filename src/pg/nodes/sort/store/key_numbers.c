/*
 * key_numbers.c
 *		Numbers of the values of a sort key, and their ranks (see key_numbers.h).
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/key_numbers.h"

/* A value while values are sorted. */
typedef struct RankedValue
{
	Datum		value;
	uint32		number;
} RankedValue;

void
key_numbers_init(KeyNumbers *numbers, Oid type, Oid sortop, Oid collation,
				 KeyNumbersMemory *all)
{
	memset(numbers, 0, sizeof(*numbers));
	numbers->dictionary = dictionary_make(type, collation);
	numbers->sortop = sortop;
	numbers->collation = collation;
	numbers->all = all;
}

void
key_numbers_stop(KeyNumbers *numbers)
{
	if (numbers->memory)
		MemoryContextDelete(numbers->memory);
	numbers->memory = NULL;
	numbers->made = numbers->refused = numbers->ranked = false;
	numbers->all->bytes -= numbers->bytes;
	numbers->bytes = 0;
	numbers->n = numbers->nranked = 0;
	numbers->taken = 0;
	numbers->ranks = numbers->numbers = NULL;
}

void
key_numbers_start(KeyNumbers *numbers, MemoryContext memory)
{
	MemoryContext old;

	key_numbers_stop(numbers);
	numbers->memory = AllocSetContextCreate(memory, "hpsort numbers", ALLOCSET_SMALL_SIZES);
	numbers->scratch = AllocSetContextCreate(numbers->memory, "hpsort values",
											 ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(numbers->memory);
	numbers->order = palloc0_object(SortSupportData);
	numbers->order->ssup_cxt = numbers->memory;
	numbers->order->ssup_collation = numbers->collation;
	PrepareSortSupportFromOrderingOp(numbers->sortop, numbers->order);
	numbers->order->ssup_reverse = false;
	dictionary_begin(numbers->dictionary, numbers->all->limit);
	MemoryContextSwitchTo(old);
	numbers->made = true;
}

bool
key_numbers_are_refused(const KeyNumbers *numbers, uint64 rows, double expected_rows)
{
	if (numbers->refused || rows < KEY_NUMBERS_TRIED)
		return numbers->refused;
	if (rows * KEY_NUMBERS_PARTS >= expected_rows)
		return numbers->n > rows / 2;
	return rows * KEY_NUMBERS_FIRST >= expected_rows &&
		numbers->n > rows - rows / KEY_NUMBERS_RARE;
}

void
key_numbers_grow(KeyNumbers *numbers)
{
	numbers->n = (uint32) dictionary_size(numbers->dictionary);
	numbers->all->bytes -= numbers->bytes;
	numbers->bytes = MemoryContextMemAllocated(numbers->memory, true);
	numbers->all->bytes += numbers->bytes;
	if (numbers->all->bytes > numbers->all->limit * KEY_NUMBERS_MOST)
		numbers->refused = numbers->all->full = true;
}

/* A qsort_arg_comparator: the order of two values. */
static int
compare_values(const void *a, const void *b, void *arg)
{
	const RankedValue *left = (const RankedValue *) a;
	const RankedValue *right = (const RankedValue *) b;

	return ApplySortComparator(left->value, false, right->value, false, (SortSupport) arg);
}

/* Sets values to those that have numbers and no ranks, in order, and returns how many they are. */
static uint32
sort_new_values(const KeyNumbers *numbers, RankedValue *values)
{
	uint32		n = numbers->n - numbers->nranked;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		values[i].number = numbers->nranked + i;
		values[i].value = dictionary_value(numbers->dictionary, values[i].number);
	}
	qsort_interruptible(values, n, sizeof(RankedValue), compare_values, numbers->order);
	return n;
}

/*
 * Merges the values that have ranks with n new ones, and sets order to their numbers and ranks to
 * their ranks: values that the comparison function takes to be equal have the same one.
 */
static void
merge_values(const KeyNumbers *numbers, const RankedValue *values, uint32 n, uint32 *order,
			 uint32 *ranks)
{
	uint32		total = numbers->n;
	uint32		rank = 0;
	uint32		old = 0;
	uint32		added = 0;
	RankedValue last = {0};
	uint32		i;

	for (i = 0; i < total; i++)
	{
		RankedValue next = {0};

		if (old < numbers->nranked)
		{
			next.number = numbers->numbers[old];
			next.value = dictionary_value(numbers->dictionary, next.number);
		}
		if (old == numbers->nranked ||
			(added < n && compare_values(&values[added], &next, numbers->order) < 0))
			next = values[added++];
		else
			old++;
		if (i > 0 && compare_values(&last, &next, numbers->order) != 0)
			rank = i;
		order[i] = next.number;
		ranks[next.number] = rank;
		last = next;
		CHECK_FOR_INTERRUPTS();
	}
}

void
key_numbers_rank(KeyNumbers *numbers)
{
	uint32		total = numbers->n;
	RankedValue *values;
	uint32	   *order;
	uint32	   *ranks;
	uint32		n;
	MemoryContext old;

	numbers->ranked = true;
	if (total == numbers->nranked)
		return;
	old = MemoryContextSwitchTo(numbers->scratch);
	values = MemoryContextAllocHuge(numbers->memory,
									(total - numbers->nranked) * sizeof(RankedValue));
	n = sort_new_values(numbers, values);
	order = MemoryContextAllocHuge(numbers->memory, total * sizeof(uint32));
	ranks = MemoryContextAllocHuge(numbers->memory, total * sizeof(uint32));
	merge_values(numbers, values, n, order, ranks);
	pfree(values);
	if (numbers->nranked > 0)
	{
		pfree(numbers->numbers);
		pfree(numbers->ranks);
	}
	numbers->numbers = order;
	numbers->ranks = ranks;
	numbers->nranked = total;
	MemoryContextSwitchTo(old);
	MemoryContextReset(numbers->scratch);
}
