/*
 * resident_order.c
 *		A scan's extents in the order of their bounds (see resident_order.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/column/list_room.h"
#include "pg/column/resident_order.h"
#include "pg/compat.h"
#include "pg/sort_context.h"
#include "sort/error.h"
#include "sort/row_pairs.h"
#include "sort/wide.h"

typedef struct OrderedExtent
{
	uint32		number;
	ResidentBlocks valid;
} OrderedExtent;

/* An extent of a column, as the directory had it. */
typedef struct KnownExtent
{
	ResidentExtent extent;
	uint64		seen;			/* of resident_look */
} KnownExtent;

struct ResidentOrder
{
	MemoryContext memory;
	int			ncolumns;
	bool		descending;
	OrderedExtent *extents;		/* in the order in which they were added */
	KnownExtent *known;			/* ncolumns for each of them */
	uint64	   *pairs;			/* ROWS_PAIR of the bound and the place of each */
	size_t		n;
	size_t		room;
	size_t		next;
	bool		sorted;
};

/* Lists with order->room, in one piece of memory. */
static void
make_lists(ResidentOrder *order)
{
	size_t		known = order->room * order->ncolumns;

	order->known = list_room_take(order->memory, known * sizeof(KnownExtent) +
								  order->room * (sizeof(uint64) + sizeof(OrderedExtent)));
	order->pairs = (uint64 *) (order->known + known);
	order->extents = (OrderedExtent *) (order->pairs + order->room);
}

static void
grow_lists(ResidentOrder *order)
{
	const KnownExtent *known = order->known;
	const uint64 *pairs = order->pairs;
	const OrderedExtent *extents = order->extents;

	order->room *= 2;
	make_lists(order);
	memcpy(order->known, known, order->n * order->ncolumns * sizeof(KnownExtent));
	memcpy(order->pairs, pairs, order->n * sizeof(uint64));
	memcpy(order->extents, extents, order->n * sizeof(OrderedExtent));
}

ResidentOrder *
resident_order_make(int ncolumns, bool descending, size_t room)
{
	ResidentOrder *order = palloc0_object(ResidentOrder);

	order->memory = CurrentMemoryContext;
	order->ncolumns = ncolumns;
	order->descending = descending;
	order->room = room;
	make_lists(order);
	return order;
}

void
resident_order_add(ResidentOrder *order, const SourceColumn *columns, uint32 number,
				   const ResidentBlocks *valid)
{
	KnownExtent *known;
	uint32		bound;
	int			c;

	Assert(!order->sorted);
	if (order->n == order->room)
		grow_lists(order);
	known = &order->known[order->n * order->ncolumns];
	for (c = 0; c < order->ncolumns; c++)
	{
		known[c].extent = columns[c].reader.extents[number % VISIBILITY_EXTENTS];
		known[c].seen = columns[c].reader.seen;
	}
	order->extents[order->n] = (OrderedExtent) {.number = number, .valid = *valid};
	bound = (uint32) known->extent.base;
	if (order->descending)
		bound = ~(bound + known->extent.top);
	order->pairs[order->n] = ROWS_PAIR(bound ^ UINT32_C(1) << 31, order->n);
	order->n++;
}

static void
sort_extents(ResidentOrder *order)
{
	SortContext context;
	SortError	err;

	order->sorted = true;
	pg_sort_context_partial(&context, order->memory);
	if (order->n > 1 && !wide_sort_pairs(order->pairs, order->n, &context))
	{
		sort_cancelled(&err);
		pg_sort_error(&err);
	}
}

bool
resident_order_next(ResidentOrder *order, SourceColumn *columns, uint32 *number, ResidentBlocks *valid)
{
	const OrderedExtent *next;
	const KnownExtent *known;
	uint32		at;
	int			c;

	if (!order->sorted)
		sort_extents(order);
	if (order->next == order->n)
		return false;
	at = ROWS_PAIR_REF(order->pairs[order->next++]);
	next = &order->extents[at];
	known = &order->known[(size_t) at * order->ncolumns];
	for (c = 0; c < order->ncolumns; c++)
	{
		*extent_reader_extent(&columns[c].reader, next->number) = known[c].extent;
		columns[c].reader.seen = known[c].seen;
	}
	*number = next->number;
	*valid = next->valid;
	return true;
}

bool
resident_order_is_beyond(const ResidentExtent *extent, const ColumnCutoff *cutoff)
{
	/* NULLs are wanted in any case. */
	return extent->nulls == 0 &&
		(extent->base > cutoff->hi || (int64) extent->base + extent->top < cutoff->lo);
}
