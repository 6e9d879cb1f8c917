/*
 * key_code.c
 *		Ranges of images, and the strides of key codes (see key_code.h).
 *
 * The place of image x is x - lo, or hi - x if the column is descending, one more if NULL has
 * the place before: ((x ^ flip) - base) + first in unsigned arithmetic, as hi - x is ~x - ~hi.
 */
#include "sort/key_code.h"

/* A number of places, or of codes, of which there may be 2^64 and more. */
__extension__ typedef unsigned __int128 Places;

#define MOST_CODES ((Places) 1 << 64)

static inline uint64_t
smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- ranges */

static Places
places_of(const KeyRange *range, unsigned others)
{
	return (key_range_is_empty(range) ? 0 : (Places) (range->hi - range->lo) + 1) + others;
}

bool
key_range_add(KeyRange *range, const KeyRange *other)
{
	KeyRange	old = *range;

	range->nulls |= other->nulls;
	if (!key_range_is_empty(other))
	{
		range->lo = smaller(range->lo, other->lo);
		range->hi = range->hi > other->hi ? range->hi : other->hi;
	}
	return range->lo != old.lo || range->hi != old.hi || range->nulls != old.nulls;
}

void
key_range_extend(KeyRange *range, const KeyRange *old, const KeyRange *limits, uint64_t room)
{
	uint64_t	below;
	uint64_t	above;

	if (key_range_is_empty(range))
		return;
	if (key_range_is_empty(old) || (range->lo < old->lo && range->hi > old->hi))
		below = room / 2;
	else
		below = range->lo < old->lo ? room : 0;
	below = smaller(below, range->lo - limits->lo);
	above = smaller(room - below, limits->hi - range->hi);
	range->lo -= below;
	range->hi += above;
}

int
key_range_bits(const KeyRange *range, unsigned others)
{
	Places		places = places_of(range, others);

	if (places > MOST_CODES)
		return 65;
	return places <= 1 ? 0 : 64 - __builtin_clzll((uint64_t) (places - 1));
}

bool
key_range_widen(KeyRange *range, const KeyRange *other, const KeyRange *limits, unsigned others)
{
	KeyRange	old = *range;
	int			bits;

	if (!key_range_add(range, other))
		return false;
	bits = key_range_bits(range, others);
	if (bits <= 64)
		key_range_extend(range, &old, limits,
						 (uint64_t) (((Places) 1 << bits) - places_of(range, others)));
	return true;
}

/* --- strides */

/* Sets where the places of a column are; returns how many there are. */
static Places
set_places(KeyCodeColumn *column)
{
	const KeyRange *range = &column->range;

	column->flip = column->descending ? UINT64_MAX : 0;
	column->base = (column->descending ? range->hi : range->lo) ^ column->flip;
	column->images = key_range_images(range);
	column->first = range->nulls && column->nulls_first ? 1 : 0;
	column->null = column->nulls_first ? 0 : column->images;
	column->cut = 0;
	return places_of(range, range->nulls ? 1 : 0);
}

/*
 * Sets the strides of the first columns, beginning with the last of these, which gets the one
 * given.
 */
static Places
set_strides(KeyCode *code, int ncolumns, Places stride)
{
	for (int c = ncolumns - 1; c >= 0; c--)
	{
		code->columns[c].stride = (uint64_t) stride;
		stride *= places_of(&code->columns[c].range, code->columns[c].range.nulls ? 1 : 0);
	}
	code->packed = false;
	code->ncodes = (uint64_t) stride;
	return stride;
}

bool
key_code_number(KeyCode *code, uint64_t most)
{
	Places		total = 1;

	for (int c = 0; c < code->ncolumns; c++)
	{
		/* Neither factor is more than 2^64, or the other one is smaller. */
		total *= set_places(&code->columns[c]);
		if (total == 0 || total > most)
			return false;
	}
	set_strides(code, code->ncolumns, 1);
	return true;
}

void
key_code_pack(KeyCode *code)
{
	code->packed = true;
	code->ncodes = 0;
	code->bits = 0;
	for (int c = code->ncolumns - 1; c >= 0; c--)
	{
		KeyCodeColumn *column = &code->columns[c];
		int			bits = key_range_bits(&column->range, column->range.nulls ? 1 : 0);

		set_places(column);
		column->shift = code->bits;
		column->stride = bits == 0 || column->shift > 63 ? 0 : UINT64_C(1) << column->shift;
		code->bits += bits;
	}
}

/*
 * Fits the leading bits of a column's places into what the codes of the columns before it leave of
 * 64 bits, which is too little for whole places.  Returns how many different leading bits there
 * are; 1 if there is no room for one bit.
 */
static Places
fit_part(KeyCodeColumn *column, Places before)
{
	Places		places = set_places(column);
	Places		room = MOST_CODES / before;

	if (room < 2)
		return 1;

	/* All images and NULL: one place more than 64 bits have.  The two at one end share one. */
	if (places > MOST_CODES)
	{
		places = MOST_CODES;
		column->first = 0;
		column->null = column->nulls_first ? 0 : UINT64_MAX;
	}
	while (((places - 1) >> column->cut) + 1 > room)
		column->cut++;
	column->stride = 1;
	return ((places - 1) >> column->cut) + 1;
}

int
key_code_fit(KeyCode *code, int *nwhole)
{
	Places		total = 1;
	Places		part = 1;
	int			n;

	for (n = 0; n < code->ncolumns; n++)
	{
		Places		places = set_places(&code->columns[n]);

		if (places > MOST_CODES / total)
		{
			part = fit_part(&code->columns[n], total);
			break;
		}
		total *= places;
	}
	set_strides(code, n, part);
	*nwhole = n;
	return part > 1 ? n + 1 : n;
}
