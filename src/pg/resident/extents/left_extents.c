/*
 * left_extents.c
 *		Extents that are left until all other blocks have been read (see left_extents.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/resident/extents/left_extents.h"
#include "pg/sort_context.h"
#include "sort/error.h"
#include "sort/kernels/wide.h"

/*
 * --- memory for a query's list, which the session keeps for its next query
 *
 * The list of the extents of 700,000 blocks takes 250 kB.  Memory of that size is the operating
 * system's again when it is freed, and the next query has a page fault for each of its 61 pages:
 * 4.5 us each on a virtual machine with an H100, together more than that GPU takes for counting
 * the rows.
 */

/* The largest list whose memory is kept, in bytes; a session keeps one. */
#define LIST_ROOM_KEPT ((Size) 2 * 1024 * 1024)

/* Memory of TopMemoryContext, and how to give it back. */
typedef struct ListRoom
{
	MemoryContextCallback callback;
	void	   *memory;
	Size		size;
} ListRoom;

/* Not in use; NULL: there is none. */
static void *kept = NULL;
static Size kept_size = 0;

/*
 * A MemoryContextCallback: keeps the memory for the next query.  Of two pieces the larger one is
 * kept, and the other one freed.
 */
static void
give_back(void *arg)
{
	ListRoom   *room = (ListRoom *) arg;

	if (kept && kept_size >= room->size)
	{
		pfree(room->memory);
		return;
	}
	if (kept)
		pfree(kept);
	kept = room->memory;
	kept_size = room->size;
}

/*
 * Returns memory of size bytes, not cleared.  It is the caller's until the context is reset or
 * deleted, and must not be freed or resized.
 */
static void *
list_room_take(MemoryContext context, Size size)
{
	ListRoom   *room;

	if (size > LIST_ROOM_KEPT)
		return MemoryContextAllocHuge(context, size);
	room = MemoryContextAllocZero(context, sizeof(ListRoom));
	if (kept && kept_size >= size)
	{
		room->memory = kept;
		room->size = kept_size;
		kept = NULL;
	}
	else
	{
		room->memory = MemoryContextAlloc(TopMemoryContext, size);
		room->size = size;
	}
	room->callback.func = give_back;
	room->callback.arg = room;
	MemoryContextRegisterResetCallback(context, &room->callback);
	return room->memory;
}

/* --- the list */

/* Returns an array of room elements at *at, and moves that on; NULL if elements have no size. */
static void *
take_array(char **at, size_t size, size_t room)
{
	void	   *array = *at;

	*at += room * size;
	return size > 0 ? array : NULL;
}

/* Makes an empty list with room for extents. */
static LeftExtents *
make_list(LeftPurpose purpose, int ncolumns, bool descending, size_t room)
{
	LeftExtents *left = palloc0_object(LeftExtents);
	const size_t generations = ncolumns * sizeof(uint64);
	const size_t pairs = purpose == LEFT_TO_ORDER ? sizeof(uint64) : 0;
	const size_t rows = purpose != LEFT_TO_ORDER ? sizeof(SortRows) : 0;
	const size_t bounds = purpose == LEFT_TO_ORDER ? sizeof(LeftBounds) : 0;
	char	   *at = list_room_take(CurrentMemoryContext,
									room * (generations + pairs + rows + bounds +
											sizeof(ResidentBlocks) + sizeof(uint32)));

	left->memory = CurrentMemoryContext;
	left->purpose = purpose;
	left->ncolumns = ncolumns;
	left->descending = descending;
	left->room = room;
	/* Arrays of the largest alignment come first. */
	left->generations = take_array(&at, generations, room);
	left->pairs = take_array(&at, pairs, room);
	left->rows = take_array(&at, rows, room);
	left->valid = take_array(&at, sizeof(ResidentBlocks), room);
	left->bounds = take_array(&at, bounds, room);
	left->numbers = take_array(&at, sizeof(uint32), room);
	return left;
}

LeftExtents *
left_extents_make(LeftPurpose purpose, int ncolumns, bool descending, BlockNumber nblocks)
{
	/*
	 * A scan that processes share may begin in the middle of an extent: one process may take the
	 * rest of that extent at first, and its other blocks in the end.
	 */
	return make_list(purpose, ncolumns, descending, visibility_extent(nblocks - 1) + 1 + 1);
}

LeftExtents *
left_extents_chain(const List *lists)
{
	const LeftExtents *first = (const LeftExtents *) linitial(lists);
	size_t		room = 1;
	LeftExtents *all;

	foreach_ptr(const LeftExtents, extents, lists)
		room += extents->n;
	all = make_list(first->purpose, first->ncolumns, first->descending, room);
	foreach_ptr(const LeftExtents, left, lists)
	{
		memcpy(all->generations + all->n * all->ncolumns, left->generations,
			   left->n * left->ncolumns * sizeof(uint64));
		memcpy(all->rows + all->n, left->rows, left->n * sizeof(SortRows));
		memcpy(all->numbers + all->n, left->numbers, left->n * sizeof(uint32));
		memcpy(all->valid + all->n, left->valid, left->n * sizeof(ResidentBlocks));
		all->n += left->n;
	}
	return all;
}

void
left_extents_add(LeftExtents *left, const SourceColumn *columns, uint32 number,
				 const ResidentBlocks *valid)
{
	const ResidentExtent *first = &columns[0].reader.extents[number % VISIBILITY_EXTENTS];
	size_t		at = left->n;

	Assert(at < left->room);
	left->numbers[at] = number;
	left->valid[at] = *valid;
	for (int c = 0; c < left->ncolumns; c++)
		left->generations[at * left->ncolumns + c] =
			columns[c].reader.extents[number % VISIBILITY_EXTENTS].generation;
	if (left->bounds)
		left->bounds[at] = (LeftBounds)
	{
		first->base, first->top, first->rows, first->nulls
	};
	if (left->rows)
		left->rows[at] = (SortRows)
	{
		.blocks =
		{
			valid->words[0], valid->words[1]
		}
	};
	left->n++;
}

/*
 * Returns an extent's bound as an unsigned number, in ascending order: the largest value, inverted,
 * comes first.
 */
static uint64
bound_of(const LeftExtents *left, size_t at)
{
	const LeftBounds *bounds = &left->bounds[at];
	uint64		bound = (uint64) bounds->base ^ UINT64CONST(1) << 63;

	return left->descending ? ~(bound + bounds->top) : bound;
}

/*
 * Puts the pairs of bounds and indexes in order, by the upper 32 bits in which bounds differ: the
 * order is that in which it is best to read extents, no more.  Raises an error if the query is
 * cancelled.
 */
static void
sort_by_bounds(LeftExtents *left)
{
	SortContext context;
	SortError	err;
	uint64		least = PG_UINT64_MAX;
	uint64		most = 0;
	int			shift = 0;

	for (size_t at = 0; at < left->n; at++)
	{
		least = Min(least, bound_of(left, at));
		most = Max(most, bound_of(left, at));
	}
	while (left->n > 0 && (most - least) >> shift > PG_UINT32_MAX)
		shift++;
	for (size_t at = 0; at < left->n; at++)
		left->pairs[at] = ROWS_PAIR((uint32) ((bound_of(left, at) - least) >> shift), at);
	pg_sort_context_partial(&context, left->memory);
	if (left->n > 1 && !wide_sort_pairs(left->pairs, left->n, &context))
	{
		sort_cancelled(&err);
		pg_sort_error(&err);
	}
}

/*
 * Returns the index of the next extent from next on, in the order of reading, that the GPU has not
 * answered for; left->n if there is none.  *then is where to go on.
 */
static size_t
find_unanswered(const LeftExtents *left, size_t next, size_t *then)
{
	size_t		at = left->n;

	while (next < left->n)
	{
		at = left->purpose == LEFT_TO_ORDER ? ROWS_PAIR_REF(left->pairs[next]) : next;
		next++;
		if (resident_blocks_any(&left->valid[at]))
			break;
		at = left->n;
	}
	*then = next;
	return at;
}

bool
left_extents_next(LeftExtents *left, LeftExtent *next)
{
	size_t		at;
	size_t		ahead;
	size_t		then;

	if (left->next == 0 && left->purpose == LEFT_TO_ORDER)
		sort_by_bounds(left);
	at = find_unanswered(left, left->next, &left->next);
	if (at == left->n)
		return false;
	ahead = find_unanswered(left, left->next, &then);
	*next = (LeftExtent)
	{
		.index = at,
			.number = left->numbers[at],
			.valid = left->valid[at],
			.generations = left->generations + at * left->ncolumns,
			.bounds = left->bounds ? &left->bounds[at] : NULL,
			.ahead = left->numbers[ahead < left->n ? ahead : at]
	};
	return true;
}

bool
left_bounds_are_beyond(const LeftBounds *bounds, const ColumnCutoff *cutoff)
{
	/* NULLs are wanted in any case. */
	return bounds->nulls == 0 &&
		(bounds->base > cutoff->hi ||
		 (int64) ((uint64) bounds->base + bounds->top) < cutoff->lo);
}
