/*
 * key_numbers.c
 *		Numbers of the values of a sort key, and their ranks (see key_numbers.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/key_numbers.h"

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
	numbers->n = 0;
	numbers->taken = 0;
	numbers->order = NULL;
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
	numbers->order = dictionary_order_make(numbers->dictionary, numbers->sortop,
										   numbers->collation);
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

void
key_numbers_rank(KeyNumbers *numbers)
{
	dictionary_order_rank(numbers->order);
	numbers->ranked = true;
}
