/*
 * repeats.c
 *		Which abbreviations stand for one and the same value in all rows (see repeats.h).
 */
#include "postgres.h"

#include "pg/compat.h"
#include "pg/nodes/sort/store/repeats.h"

Repeats *
repeats_create(int16 typlen)
{
	Repeats    *repeats = (Repeats *) palloc(sizeof(Repeats));

	repeats->typlen = typlen;
	repeats->seen = repeats->repeated = 0;
	repeats->next_look = REPEATS_FIRST;
	memset(repeats->states, REPEATS_FREE, sizeof(repeats->states));
	return repeats;
}

/*
 * Bytes by which a value is known; 0 if it is not, as what it points to may change, or if these
 * are too many.
 */
static Size
value_size(const Repeats *repeats, const char *value)
{
	Size		size;

	if (repeats->typlen > 0)
		size = repeats->typlen;
	else if (repeats->typlen == -2)
		size = strlen(value) + 1;
	else if (VARATT_IS_EXTERNAL(value))
		return 0;
	else
		size = VARSIZE_ANY(value);
	return size <= REPEATS_VALUE_MAX ? size : 0;
}

bool
repeats_see(Repeats *repeats, uint64 image, Datum datum)
{
	const char *value = DatumGetPointer(datum);
	uint32		slot = repeats_slot(image);
	Size		size;

	if (unlikely(++repeats->seen > repeats->next_look))
	{
		uint64		wanted = repeats->next_look / (repeats->next_look == REPEATS_FIRST ?
												   REPEATS_FIRST_PART : REPEATS_PART);

		if (repeats->repeated < wanted)
			return false;
		repeats->next_look *= 4;
	}
	if (repeats->states[slot] == REPEATS_FREE)
	{
		/* No value of this abbreviation has been seen: an earlier one would have taken the slot. */
		size = value_size(repeats, value);
		repeats->images[slot] = image;
		repeats->states[slot] = size > 0 ? REPEATS_ALIKE : REPEATS_DIFFERENT;
		repeats->sizes[slot] = (uint8) size;
		memcpy(repeats->values[slot], value, size);
		return true;
	}
	if (repeats->images[slot] != image)
		return true;
	repeats->repeated++;
	if (repeats->states[slot] == REPEATS_ALIKE)
	{
		size = value_size(repeats, value);
		if (size != repeats->sizes[slot] || memcmp(value, repeats->values[slot], size) != 0)
			repeats->states[slot] = REPEATS_DIFFERENT;
	}
	return true;
}
