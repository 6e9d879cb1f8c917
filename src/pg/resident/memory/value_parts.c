/*
 * value_parts.c
 *		Values of a column in resident memory (see value_parts.h).
 */
#include "postgres.h"

#include "utils/freepage.h"

#include "pg/resident/memory/value_parts.h"

/* A part has a quarter of the bytes of all pieces before it, but at least and at most so many. */
#define LEAST_PART (2 * FPM_PAGE_SIZE)
#define MOST_PART ((Size) RESIDENT_MB)

/* Values are copied until they are at least that many bytes: some 10 microseconds. */
#define COPY_BYTES 65536

/* A place in the table. */
typedef struct ValueEntry
{
	uint32		hash;
	uint32		number;			/* 1 more than it; 0: the place is free */
} ValueEntry;

/*
 * How many places are prepared or entered with each new value while the table grows: a lock is held
 * no longer than for some values, and the larger table is complete before the other is full.
 */
#define GROWN_AT_ONCE 32

/* Places of the first table, and parts of the first list: a page of memory each. */
#define FIRST_TABLE (FPM_PAGE_SIZE / sizeof(ValueEntry))
#define FIRST_PARTS (FPM_PAGE_SIZE / sizeof(ValuePart))

const ValuePart *
value_parts_list(const ResidentRoot *root, const ValueParts *values)
{
	return (const ValuePart *) resident_pointer(root, values->parts);
}

/* Returns the place of a new piece of size bytes; 0 if there is no room. */
static ResidentPlace
make_piece(ResidentRoot *root, ValueParts *values, Size size)
{
	ResidentPlace place = resident_allocate(root, size);

	if (place != 0)
		values->bytes += size;
	return place;
}

/* Frees a piece, unless it is nowhere. */
static void
free_piece(ResidentRoot *root, ValueParts *values, ResidentPlace place, Size size)
{
	if (place == 0)
		return;
	resident_free(root, place, size);
	values->bytes -= size;
}

uint32
value_parts_copy(const ResidentRoot *root, const ValueParts *values, uint32 first,
				 StringInfo bytes)
{
	const ValuePart *parts = value_parts_list(root, values);
	uint32		p = value_parts_find(parts, values->nparts, first);
	const ValuePart *part = &parts[p];
	const char *from = resident_pointer(root, part->place);
	uint32		end = p + 1 < values->nparts ? parts[p + 1].first : values->n;
	uint32		length;
	uint32		start = value_part_offset(part, from, first, &length);
	uint32		size = 0;
	uint32		n = 0;

	while (first + n < end && size < COPY_BYTES)
	{
		uint32		stop = *value_part_ends(part, from, first + n++) - start;

		appendBinaryStringInfo(bytes, (const char *) &stop, sizeof(stop));
		size = stop + n * sizeof(stop);
	}
	appendBinaryStringInfo(bytes, from + start, (int) (size - n * sizeof(uint32)));
	return n;
}

void
value_parts_drop(ResidentRoot *root, ValueParts *values)
{
	const ValuePart *parts = value_parts_list(root, values);

	for (uint32 p = 0; p < values->nparts; p++)
		free_piece(root, values, parts[p].place, parts[p].size);
	free_piece(root, values, values->parts, values->parts_room * sizeof(ValuePart));
	free_piece(root, values, values->table, values->table_room * sizeof(ValueEntry));
	free_piece(root, values, values->larger, 2 * values->table_room * sizeof(ValueEntry));
	Assert(values->bytes == 0);
	memset(values, 0, sizeof(*values));
}

/* Enters a number in the place where the search for its hash ends; returns this place. */
static uint32
enter(ValueEntry *table, uint32 room, ValueEntry entry)
{
	uint32		at = entry.hash & (room - 1);

	while (table[at].number != 0)
		at = (at + 1) & (room - 1);
	table[at] = entry;
	return at;
}

/* Has the table have a place for another number.  Returns 0, or how large a piece is missing. */
static Size
grow_table(ResidentRoot *root, ValueParts *values)
{
	uint32		room = Max(2 * values->table_room, FIRST_TABLE);
	Size		size = room * sizeof(ValueEntry);
	ResidentPlace place;

	if (values->larger != 0 || values->n < values->table_room / 8 * 5)
		return 0;
	place = make_piece(root, values, size);
	if (place == 0)
		return values->n < values->table_room / 4 * 3 ? 0 : size;
	if (values->table_room > 0)
	{
		values->larger = place;
		values->grown = 0;
		return 0;
	}
	memset(resident_pointer(root, place), 0, size);
	values->table = place;
	values->table_room = room;
	return 0;
}

/* Goes on making the larger table, which takes the place of the other when it has all entries. */
static void
go_on_growing(ResidentRoot *root, ValueParts *values)
{
	const ValueEntry *table = resident_pointer(root, values->table);
	ValueEntry *larger = resident_pointer(root, values->larger);
	uint32		room = 2 * values->table_room;
	uint32		end = values->grown + GROWN_AT_ONCE;

	for (; values->grown < end; values->grown++)
	{
		if (values->grown < room)
			larger[values->grown].number = 0;
		else if (table[values->grown - room].number != 0)
			enter(larger, room, table[values->grown - room]);
	}
	if (end < room + values->table_room)
		return;
	free_piece(root, values, values->table, values->table_room * sizeof(ValueEntry));
	values->table = values->larger;
	values->table_room = room;
	values->larger = 0;
}

/* Has the list have room for another part.  Returns 0, or how large a piece is missing. */
static Size
grow_list(ResidentRoot *root, ValueParts *values)
{
	uint32		room = Max(2 * values->parts_room, FIRST_PARTS);
	Size		size = room * sizeof(ValuePart);
	ResidentPlace place;

	if (values->nparts < values->parts_room)
		return 0;
	place = make_piece(root, values, size);
	if (place == 0)
		return size;
	if (values->nparts > 0)
		memcpy(resident_pointer(root, place), value_parts_list(root, values),
			   values->nparts * sizeof(ValuePart));
	free_piece(root, values, values->parts, values->parts_room * sizeof(ValuePart));
	values->parts = place;
	values->parts_room = room;
	return 0;
}

/* Whether the last part has room for a value more. */
static bool
last_has_room(const ResidentRoot *root, const ValueParts *values, uint32 length)
{
	const ValuePart *last = value_parts_list(root, values) + values->nparts - 1;
	uint32		used = 0;

	if (values->nparts == 0)
		return false;
	if (values->n > last->first)
		used = value_part_ends(last, resident_pointer(root, last->place), values->n - 1)[0];
	return used + length + (values->n - last->first + 1) * sizeof(uint32) <= last->size;
}

/* Adds a part in which a value has room.  Returns 0, or how large a piece is missing. */
static Size
add_part(ResidentRoot *root, ValueParts *values, uint32 length)
{
	Size		size = Max(Min(values->bytes / 4, MOST_PART), LEAST_PART);
	Size		missing = grow_list(root, values);
	ValuePart	part = {.first = values->n};

	if (missing > 0)
		return missing;
	size = TYPEALIGN(FPM_PAGE_SIZE, Max(size, length + sizeof(uint32)));
	part.size = (uint32) size;
	part.place = make_piece(root, values, size);
	if (part.place == 0)
		return size;
	((ValuePart *) resident_pointer(root, values->parts))[values->nparts++] = part;
	return 0;
}

/* Adds a value, for which the last part has room, and the table. */
static void
add_value(ResidentRoot *root, ValueParts *values, const ResidentValue *value)
{
	const ValuePart *last = value_parts_list(root, values) + values->nparts - 1;
	char	   *bytes = resident_pointer(root, last->place);
	uint32	   *end = unconstify(uint32 *, value_part_ends(last, bytes, values->n));
	uint32		start = values->n > last->first ? end[1] : 0;
	ValueEntry	entry = {.hash = value->hash};
	uint32		room = 2 * values->table_room;
	uint32		at;

	memcpy(bytes + start, value->bytes, value->length);
	*end = start + value->length;
	values->n++;
	entry.number = values->n;
	at = enter(resident_pointer(root, values->table), values->table_room, entry);
	if (values->larger == 0)
		return;
	if (room + at < values->grown)
		enter(resident_pointer(root, values->larger), room, entry);
	go_on_growing(root, values);
}

/* Whether a number is that of a value. */
static bool
is_value(const ResidentRoot *root, const ValueParts *values, uint32 number,
		 const ResidentValue *value)
{
	const ValuePart *parts = value_parts_list(root, values);
	const ValuePart *part = &parts[value_parts_find(parts, values->nparts, number)];
	const char *bytes = resident_pointer(root, part->place);
	uint32		length;
	uint32		start = value_part_offset(part, bytes, number, &length);

	return length == value->length && memcmp(bytes + start, value->bytes, length) == 0;
}

Size
value_parts_number(ResidentRoot *root, ValueParts *values, const ResidentValue *value,
				   uint32 *number)
{
	const ValueEntry *table = resident_pointer(root, values->table);
	uint32		at = value->hash;
	Size		missing;

	for (; table; at++)
	{
		const ValueEntry *entry = &table[at & (values->table_room - 1)];

		if (entry->number == 0)
			break;
		*number = entry->number - 1;
		if (entry->hash == value->hash && is_value(root, values, *number, value))
			return 0;
	}
	missing = grow_table(root, values);
	if (missing == 0 && !last_has_room(root, values, value->length))
		missing = add_part(root, values, value->length);
	if (missing > 0)
		return missing;
	*number = values->n;
	add_value(root, values, value);
	return 0;
}
