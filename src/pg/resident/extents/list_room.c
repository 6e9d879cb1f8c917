/*
 * list_room.c
 *		Memory for lists of extents (see list_room.h).
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "pg/compat.h"
#include "pg/resident/extents/list_room.h"

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

/* Of two the larger one is kept. */
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

void *
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
