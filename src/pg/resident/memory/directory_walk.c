/*
 * directory_walk.c
 *		Going through all columns of the directory (see resident.h).
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "pg/guc.h"
#include "pg/resident/memory/directory.h"

/* What this transaction has dropped. */
typedef struct Dropped
{
	Oid			database;		/* InvalidOid: of this one, the table or its column */
	Oid			relid;
	AttrNumber	attnum;			/* InvalidAttrNumber: the table */
} Dropped;

static object_access_hook_type previous_hook;
static List *dropped = NIL;		/* in TopTransactionContext */

/* --- forgetting */

/* Forgets a column of a table, all of a table's, or all of a database. */
static void
forget(Oid database, bool all_tables, Oid relid, AttrNumber attnum)
{
	ResidentRoot *root;

	/*
	 * There is nothing to forget while the limit is 0: the worker forgets all when the limit is
	 * lowered.
	 */
	if (hpsort_resident_memory <= 0)
		return;
	root = resident_root();
	if (root == NULL || !resident_lock(root, LW_EXCLUSIVE))
		return;
	for (int b = 0; b < RESIDENT_BUCKETS; b++)
	{
		ResidentPlace place = root->buckets[b];

		while (place != 0)
		{
			ResidentColumn *column = directory_column(root, place);

			/* Before the column may be dropped. */
			place = column->next;
			if (column->key.database == database &&
				(all_tables || column->key.relid == relid) &&
				(attnum == InvalidAttrNumber || column->key.attnum == (uint32) attnum))
				directory_drop(root, column);
		}
	}
	resident_unlock(root);
}

void
resident_forget(Oid relid, AttrNumber attnum)
{
	forget(MyDatabaseId, false, relid, attnum);
}

/* Whether a table or its column is there, after all: its drop has been rolled back. */
static bool
is_there(const Dropped *drop)
{
	HeapTuple	tuple;

	if (drop->attnum == InvalidAttrNumber)
		return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(drop->relid));
	tuple = SearchSysCacheAttNum(drop->relid, drop->attnum);
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return HeapTupleIsValid(tuple);
}

/*
 * Forgets what the transaction has dropped, when it is about to commit, or to be prepared: it is
 * locked, so that nobody keeps its values anew.
 */
static void
transaction_ends(XactEvent event, void *arg)
{
	bool		goes = event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE;

	foreach_ptr(const Dropped, drop, goes ? dropped : NIL)
	{
		if (OidIsValid(drop->database))
			forget(drop->database, true, InvalidOid, InvalidAttrNumber);
		else if (!is_there(drop))
			resident_forget(drop->relid, drop->attnum);
	}
	dropped = NIL;
}

/* The object_access_hook: notes what is dropped. */
static void
object_accessed(ObjectAccessType access, Oid class, Oid object, int attnum, void *arg)
{
	bool		database = class == DatabaseRelationId;
	MemoryContext old;
	Dropped    *drop;

	if (previous_hook)
		previous_hook(access, class, object, attnum, arg);
	if (access != OAT_DROP || !(database || class == RelationRelationId) ||
		hpsort_resident_memory <= 0)
		return;
	old = MemoryContextSwitchTo(TopTransactionContext);
	drop = palloc_object(Dropped);
	*drop = (Dropped)
	{
		.database = database ? object : InvalidOid,.relid = object,.attnum = (AttrNumber) attnum
	};
	dropped = lappend(dropped, drop);
	MemoryContextSwitchTo(old);
}

void
resident_init(void)
{
	previous_hook = object_access_hook;
	object_access_hook = object_accessed;
	RegisterXactCallback(transaction_ends, NULL);
}

/* --- writing */

/* Returns how many extents a column's map has, up to the last one that is resident. */
static uint32
count_extents(ResidentRoot *root, const ResidentColumn *column)
{
	uint32		n = column->nextents > 0 ? column->capacity : 0;

	while (n > 0 && directory_extent(root, column, n - 1)->generation == 0)
		n--;
	return n;
}

/*
 * Copies values of which an extent has numbers, if there are any that have not been copied since
 * values of another column were.
 */
static bool
copy_values(const ResidentRoot *root, const ResidentColumn *column, const ResidentExtent *extent,
			ResidentCursor *cursor, ResidentCopy *copy, StringInfo bytes)
{
	if (cursor->values != extent->values)
		cursor->nvalues = 0;
	cursor->values = extent->values;
	if (resident_numbers(extent) <= cursor->nvalues)
		return false;
	copy->number = cursor->nvalues;
	copy->nvalues = value_parts_copy(root, &column->values, cursor->nvalues, bytes);
	copy->extent.values = extent->values;
	copy->extent.size = (uint32) bytes->len;
	cursor->nvalues += copy->nvalues;
	return true;
}

bool
resident_next_copy(ResidentCursor *cursor, ResidentCopy *copy, StringInfo bytes)
{
	ResidentRoot *root = resident_root();
	bool		found = false;

	memset(copy, 0, sizeof(*copy));
	if (root == NULL || !resident_lock(root, LW_SHARED))
		return false;
	while (!found && cursor->bucket < RESIDENT_BUCKETS)
	{
		const ResidentColumn *column = directory_column(root, root->buckets[cursor->bucket]);
		const ResidentExtent *extent;

		for (uint32 c = 0; column && c < cursor->column; c++)
			column = directory_column(root, column->next);
		extent = column ? directory_extent(root, column, cursor->number) : NULL;
		found = extent && extent->generation != 0;
		if (found)
		{
			copy->key = column->key;
			copy->nextents = count_extents(root, column);
			if (copy_values(root, column, extent, cursor, copy, bytes))
				break;
			copy->number = cursor->number;
			copy->extent = *extent;
			appendBinaryStringInfo(bytes, resident_pointer(root, extent->place),
								   (int) extent->size);
		}
		cursor->number = extent ? cursor->number + 1 : 0;
		if (extent == NULL)
			cursor->column = column ? cursor->column + 1 : 0;
		if (column == NULL)
			cursor->bucket++;
	}
	resident_unlock(root);
	return found;
}

/* --- looking at it */

const char *
resident_reason_text(ResidentReason reason)
{
	switch (reason)
	{
		case RESIDENT_OK:
			return NULL;
		case RESIDENT_READ_ONCE:
			return "not yet read twice";
		case RESIDENT_NOT_VISIBLE:
			return "not all-visible";
		case RESIDENT_CHANGES:
			return "updated too often";
		case RESIDENT_NO_ROOM:
			return "no room";
		case RESIDENT_NO_MEMORY:
			return "no shared memory";
		case RESIDENT_NO_WORKER:
			return "no background worker";
		case RESIDENT_NO_REPEATS:
			return "values do not repeat";
		case RESIDENT_LONG_VALUES:
			return "values too long";
	}
	pg_unreachable();
}

ResidentReason
resident_failure(void)
{
	ResidentRoot *root = hpsort_resident_memory > 0 ? resident_root() : NULL;
	ResidentReason failure;

	if (root == NULL)
		return RESIDENT_OK;
	LWLockAcquire(&root->lock, LW_SHARED);
	failure = root->failure;
	LWLockRelease(&root->lock);
	return failure;
}

/* Returns what hpsort_resident shows of a column, palloc'd. */
static ResidentStatus *
column_status(ResidentRoot *root, const ResidentColumn *column)
{
	ResidentStatus *status = palloc_object(ResidentStatus);

	*status = column->status;
	status->relid = column->key.relid;
	status->attnum = (AttrNumber) column->key.attnum;
	status->rows = column->summary.rows;
	status->bytes += (int64) column->values.bytes;
	for (uint32 i = 0; i < column->capacity; i++)
	{
		const ResidentExtent *extent = directory_extent(root, column, i);

		for (int w = 0; w < (int) lengthof(extent->blocks.words); w++)
			status->blocks_valid += pg_popcount64(extent->blocks.words[w]);
	}
	return status;
}

List *
resident_status(void)
{
	ResidentRoot *root = hpsort_resident_memory > 0 ? resident_root() : NULL;
	List	   *list = NIL;

	if (root == NULL || !resident_lock(root, LW_SHARED))
		return NIL;
	/* Whoever catches an error for lack of memory releases the lock. */
	for (int b = 0; b < RESIDENT_BUCKETS; b++)
		for (const ResidentColumn *column = directory_column(root, root->buckets[b]); column;
			 column = directory_column(root, column->next))
			if (column->key.database == MyDatabaseId)
				list = lappend(list, column_status(root, column));
	resident_unlock(root);
	return list;
}
